// ---- pictures: how large the error of a tensor is, where it lies, and its worst elements

function picturesOf(picture) {
  const parts = [];
  if (picture.map) parts.push(make("h3", {}, "Where the error lies: the last two axes; shades are logarithmic"), damageMap(picture.map));
  for (const axis of picture.axes || []) parts.push(make("p", { class: "quiet" }, axisText(axis)));
  if (picture.histogram) parts.push(make("h3", {}, "How large it is: elements by |a \u2212 b|; both axes are logarithmic"), histogram(picture.histogram));
  if (picture.worst && picture.worst.length > 0) parts.push(make("h3", {}, "Worst elements"), worstTable(picture.worst));
  return parts;
}

function axisText(axis) {
  const ranges = axis.ranges.map(range => range.first === range.last ? `${range.first}` : `${range.first}\u2013${range.last}`);
  const where = ranges.length === 0 ? "everywhere" : `${Math.round(100 * axis.carried)} % of the error at ${ranges.join(", ")}`;
  return `axis ${axis.axis} of ${axis.extent}: ${where}`;
}

// Darker (on dark paper: lighter) is worse; an infinity, where one side only is NaN or infinite, has a color of its own.
function damageMap(map) {
  const side = Math.max(3, Math.min(24, Math.floor(420 / map.across), Math.floor(260 / map.down)));
  return heatMap(map.cells, map.down, map.across, side, side, `${map.rows} \u00d7 ${map.columns}; none`, (row, column) =>
    `[${spanText(row, map.cell_height, map.rows)}, ${spanText(column, map.cell_width, map.columns)}]`, null);
}

// The errors of tokens, a column each, in the outputs of layers, a row each; several share one if there are many.
function tokenMap(map) {
  const down = map.rows.length, across = map.columns.length;
  const wide = Math.max(2, Math.min(24, Math.floor(1200 / across))), high = Math.max(4, Math.min(18, Math.floor(560 / down)));
  return heatMap(map.cells, down, across, wide, high, "none", (row, column) => {
    const [first, last, outputs] = map.rows[row], token = map.columns[column];
    const output = outputs > 1 ? `${first} to ${last}` : first;
    if (!token) return output;
    const [sequence, position, id, tokens, text] = token;
    return `${output}; sequence ${sequence}, position ${position}, token ${id}` + (text === null ? "" : ` "${text}"`) +
      (tokens > 1 ? ` and ${tokens - 1} more` : "");
  }, map.first);
}

// `cells`: errors, row by row; a text where one side is not finite, null for none. `textOf` names a cell, `mark` outlines one.
function heatMap(cells, down, across, wide, high, none, textOf, mark) {
  const finite = cells.filter(cell => typeof cell === "number" && cell > 0).map(Math.log10);
  const most = finite.reduce((x, y) => Math.max(x, y), -300), least = Math.max(finite.reduce((x, y) => Math.min(x, y), most), most - 6);
  const canvas = make("canvas", { width: across * wide, height: down * high, class: "map", role: "img",
    "aria-label": `largest error in ${down} by ${across} cells` });
  const paint = canvas.getContext("2d"), shades = [0, 1, 2, 3, 4, 5].map(i => color("heat-" + i)), nan = color("nan");
  cells.forEach((cell, i) => {
    if (cell === null) return;
    const share = cell > 0 ? (Math.log10(cell) - least) / (most - least || 1) : 0;
    paint.fillStyle = typeof cell !== "number" ? nan : cell > 0 ? shades[Math.min(5, Math.max(1, Math.ceil(share * 5)))] : shades[0];
    paint.fillRect(i % across * wide, Math.floor(i / across) * high, wide, high);
  });
  if (mark) {
    paint.strokeStyle = color("accent");
    paint.lineWidth = 2;
    paint.strokeRect(mark[1] * wide - 1, mark[0] * high - 1, wide + 2, high + 2);
  }
  canvas.addEventListener("mousemove", event => {
    const column = Math.min(across - 1, Math.floor(event.offsetX / canvas.clientWidth * across));
    const row = Math.min(down - 1, Math.floor(event.offsetY / canvas.clientHeight * down));
    const cell = cells[row * across + column];
    canvas.title = `${textOf(row, column)}: ` +
      (cell === null ? "not compared" : typeof cell === "number" ? numberText(cell) : "NaN or infinite on one side");
  });
  const scale = [0, 1, 2, 3, 4, 5].map(i => make("i", { class: "heat heat-" + i }));
  return make("figure", {}, canvas, make("figcaption", {}, make("span", { class: "quiet" }, none), ...scale,
    make("span", { class: "quiet" }, finite.length > 0 ? `up to ${numberText(10 ** most)}` : "")));
}

function spanText(cell, size, extent) {
  const first = cell * size, last = Math.min(first + size, extent) - 1;
  return first === last ? `${first}` : `${first}\u2013${last}`;
}

function histogram(of) {
  const bins = new Map(of.bins), places = [...bins.keys()];
  const first = Math.min(...places, 0 === places.length ? 0 : Infinity), last = Math.max(...places, first);
  const bars = [["0", of.equal, "agrees"]];
  const every = of.per_decade * Math.max(1, Math.ceil((last - first) / of.per_decade / 8));
  for (let bin = first; bin <= last && places.length > 0; bin++)
    bars.push([bin % every === 0 ? powerText(bin / of.per_decade) : "", bins.get(bin) || 0, "culprit"]);
  if (of.mismatches > 0) bars.push(["NaN", of.mismatches, "nan"]);
  const most = Math.max(...bars.map(bar => bar[1]), 1), wide = 460, high = 120, step = (wide - 10) / bars.length;
  const picture = draw("svg", { viewBox: `0 0 ${wide} ${high}`, class: "histogram", role: "img",
    "aria-label": `${of.equal} elements are equal; ${of.mismatches} are NaN or infinite on one side` });
  bars.forEach(([text, count, name], i) => {
    const tall = count === 0 ? 0 : Math.max(2, (high - 22) * Math.log1p(count) / Math.log1p(most));
    const bar = draw("rect", { x: 5 + i * step, y: high - 18 - tall, width: Math.max(step - 1, 0.5), height: tall, class: name });
    bar.append(draw("title", {}, `${count} elements`));
    picture.append(bar);
    if (text) picture.append(draw("text", { x: 5 + i * step + (i === 0 ? step / 2 : 0), y: high - 4 }, text));
  });
  return picture;
}

function worstTable(worst) {
  return make("table", { class: "worst" },
    make("thead", {}, make("tr", {}, ...["index", "candidate", "reference"].map(text =>
      make("th", { scope: "col", class: "number" }, text)))),
    make("tbody", {}, ...worst.slice(0, 10).map(one => make("tr", {},
      make("td", { class: "number" }, `[${one.index.join(", ")}]`),
      make("td", { class: "number" }, valueText(one.a)), make("td", { class: "number" }, valueText(one.b))))));
}

function valueText(value) {
  return Array.isArray(value) ? `(${value.join(", ")})` : String(value);
}

