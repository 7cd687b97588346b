// ---- data: what msdump packed into the page, as tables with columns (report/page/page_data.h)

const NUMBERS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

class Table {
  constructor(json) {
    this.count = json.count;
    this.columns = json.columns;
    this.byKey = new Map(json.columns.map(column => [column.key, column]));
  }

  has(key) {
    return this.byKey.has(key);
  }

  // null where the cell is empty
  number(row, key) {
    const column = this.byKey.get(key);
    const value = column && column.numbers ? column.numbers[row] : null;
    return typeof value === "string" ? NUMBERS[value] : value;
  }

  word(row, key) {
    const column = this.byKey.get(key);
    return column && column.words ? column.words[column.cells[row]] : "";
  }

  // As people read it.
  text(row, key) {
    const column = this.byKey.get(key);
    if (!column) return "";
    if (column.words) return column.words[column.cells[row]];
    const note = this.word(row, key + "_note");
    return numberText(this.number(row, key)) + (note ? " " + note : "");
  }

  // Do the rows have several values in a column?
  values(key) {
    const column = this.byKey.get(key);
    if (!column || !column.numbers) return [];
    return [...new Set(column.numbers)].filter(value => value !== null).sort((a, b) => a - b);
  }
}

function numberText(value) {
  if (value === null || value === undefined) return "";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

async function readData() {
  const text = atob(document.getElementById("data").textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const json = JSON.parse(await new Response(stream).text());
  json.rows = new Table(json.rows);
  json.points = json.points ? new Table(json.points) : json.rows;
  return json;
}

function shellQuoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

