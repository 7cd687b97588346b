// ---- table: all rows, of which only those in sight are elements

const ROW_HEIGHT = 28, MOST_HEIGHT = 560; // as in the style
const TEXT_KEYS = ["op_name", "op_type", "tensor", "verdict", "explained", "line", "reason", "dtype", "kind", "severity",
  "message", "path"];

class RowTable {
  constructor(data) {
    this.data = data;
    this.table = data.rows;
    this.columns = data.rows.columns.filter(column => column.shown && this.hasContent(column));
    this.sortKey = null;
    this.descending = false;
    this.holder = byId("table");
    this.onlyWrong = this.countWrong() > 0;
    this.makeTools();
    this.makeGrid();
    this.apply();
    state.on("place", () => this.apply());
    state.on("select", () => this.follow());
    addEventListener("beforeprint", () => this.render(true));
    addEventListener("afterprint", () => this.render());
  }

  hasContent(column) {
    return column.words ? column.words.length > 1 : column.numbers.some(value => value !== null);
  }

  countWrong() {
    let count = 0;
    for (let row = 0; row < this.table.count; row++) count += isDifference(this.table, row) ? 1 : 0;
    return count;
  }

  makeTools() {
    const what = this.data.kind === "diff" ? "differences that count" : "errors and warnings";
    this.filter = make("input", {
      type: "search", id: "filter", spellcheck: "false",
      placeholder: this.data.kind === "diff" ? "text, verdict:differ, error>1e-3" : "text, kind:nan, severity:error",
      "aria-label": "Filter the rows", on: { input: () => this.soon() },
    });
    this.choice = chooser("Show", [["wrong", `${what} (${this.countWrong()})`], ["all", `all (${this.table.count})`]],
      value => {
        this.onlyWrong = value === "wrong";
        this.apply();
      });
    const select = this.choice.querySelector("select");
    select.id = "which";
    select.value = this.onlyWrong ? "wrong" : "all";
    this.said = make("span", { id: "row-count", class: "quiet", role: "status" });
    byId("row-tools").append(this.choice, this.filter, this.said);
  }

  makeGrid() {
    const heads = this.columns.map(column => {
      const number = Boolean(column.numbers);
      return make("th", { scope: "col", class: number ? "number" : null, "data-key": column.key },
        button(column.title, () => this.sortBy(column.key)));
    });
    this.body = make("tbody");
    this.heads = heads;
    this.grid = make("table", { class: "grid", "aria-rowcount": this.table.count },
      make("thead", {}, make("tr", {}, ...heads)), this.body);
    this.holder.replaceChildren(this.grid);
    this.holder.classList.add("live");
    this.holder.tabIndex = 0;
    this.holder.setAttribute("role", "region");
    this.holder.setAttribute("aria-label", "Rows; arrow keys choose one");
    this.holder.addEventListener("scroll", () => requestAnimationFrame(() => this.render()));
    this.holder.addEventListener("keydown", event => this.key(event));
    this.body.addEventListener("click", event => {
      const line = event.target.closest("tr[data-row]");
      if (line) this.choose(Number(line.dataset.row));
    });
    addEventListener("resize", () => this.render());
  }

  soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.apply(), 60);
  }

  apply() {
    const tests = testsOf(this.filter.value, this.table);
    const order = [];
    for (let row = 0; row < this.table.count; row++) {
      if (this.onlyWrong && !isDifference(this.table, row)) continue;
      if (!state.inPlace(this.table, row)) continue;
      if (tests.every(test => test(row))) order.push(row);
    }
    this.order = order;
    this.sort();
    this.said.textContent = `${order.length} of ${this.data.all} rows`;
    this.holder.scrollTop = 0;
    this.render();
  }

  sortBy(key) {
    this.descending = this.sortKey === key ? !this.descending : Boolean(this.table.byKey.get(key).numbers);
    this.sortKey = key;
    for (const head of this.heads) {
      const chosen = head.dataset.key === key;
      if (chosen) head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    this.apply();
  }

  // Rows without a value come last.
  sort() {
    if (this.sortKey === null) return;
    const column = this.table.byKey.get(this.sortKey), sign = this.descending ? -1 : 1;
    let rank;
    if (column.words) {
      const sorted = column.words.map((word, i) => i).slice(1).sort((a, b) => column.words[a] < column.words[b] ? -1 : 1);
      const places = new Float64Array(column.words.length).fill(NaN);
      sorted.forEach((word, place) => places[word] = place);
      rank = row => places[column.cells[row]];
    } else {
      const number = row => this.table.number(row, this.sortKey);
      rank = row => number(row) === null ? NaN : Number.isNaN(number(row)) ? Number.MAX_VALUE : number(row);
    }
    const keys = new Float64Array(this.table.count);
    for (const row of this.order) keys[row] = rank(row);
    this.order.sort((a, b) => {
      const [x, y] = [keys[a], keys[b]];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return sign * (x - y) || a - b;
    });
  }

  render(forPrint = false) {
    const first = forPrint ? 0 : Math.max(Math.floor(this.holder.scrollTop / ROW_HEIGHT) - 8, 0);
    const count = forPrint ? 200 : Math.ceil(Math.max(this.holder.clientHeight, MOST_HEIGHT) / ROW_HEIGHT) + 16;
    const end = Math.min(first + count, this.order.length);
    const space = rows => make("tr", { class: "space", "aria-hidden": "true" },
      make("td", { colspan: this.columns.length, style: `height:${rows * ROW_HEIGHT}px` }));
    const lines = [];
    for (let i = first; i < end; i++) lines.push(this.line(this.order[i], i));
    if (forPrint) this.body.replaceChildren(...lines);
    else this.body.replaceChildren(space(first), ...lines, space(this.order.length - end));
  }

  line(row, i) {
    const chosen = state.selected >= 0 && pointOfRow(row) === state.selected;
    return make("tr", { "data-row": row, "aria-rowindex": i + 2, "aria-selected": chosen ? "true" : null },
      ...this.columns.map(column => {
        const text = cut(this.table.text(row, column.key), 400);
        const kind = column.numbers ? "number" : column.key === "verdict" || column.key === "severity" ? "verdict" : null;
        const content = kind === "verdict" ? make("span", { class: "chip " + text }, text) : text;
        return make("td", { class: kind, title: text.length > 24 ? text : null }, content);
      }));
  }

  choose(row) {
    const point = pointOfRow(row);
    this.current = row;
    if (point >= 0) state.select(point);
    this.render();
  }

  key(event) {
    const at = this.order.indexOf(this.current);
    const moves = { ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0) };
    if (!(event.key in moves) || this.order.length === 0 || event.target !== this.holder) return;
    event.preventDefault();
    const next = Math.min(moves[event.key], this.order.length - 1);
    this.choose(this.order[next]);
    this.show(next);
  }

  show(place) {
    const top = place * ROW_HEIGHT, room = this.holder.clientHeight - 2 * ROW_HEIGHT;
    if (top < this.holder.scrollTop) this.holder.scrollTop = top;
    else if (top > this.holder.scrollTop + room) this.holder.scrollTop = top - room;
  }

  follow() {
    const at = this.order.findIndex(row => pointOfRow(row) === state.selected);
    if (at >= 0 && this.current !== this.order[at]) {
      this.current = this.order[at];
      this.holder.scrollTop = Math.max(at * ROW_HEIGHT - this.holder.clientHeight / 3, 0);
    }
    this.render();
  }
}

// Words that must all hold: `text`, `key:text`, `key>number`, `key<number`. A key is that of a column, or its end.
function testsOf(filter, table) {
  return filter.trim().toLowerCase().split(/\s+/).filter(Boolean).map(word => {
    const parts = /^([\w.]+)(:|>=?|<=?)(.+)$/.exec(word);
    const column = parts && table.columns.find(one => one.key === parts[1] || one.title === parts[1] || one.key.endsWith("." + parts[1]));
    if (!column) return textTest(word, table.columns.filter(one => one.words && TEXT_KEYS.includes(one.key)));
    if (column.words) return textTest(parts[3], [column]);
    const limit = Number(parts[3]), number = row => table.number(row, column.key);
    if (parts[2].startsWith(">")) return row => number(row) !== null && (number(row) > limit || Number.isNaN(number(row)));
    if (parts[2].startsWith("<")) return row => number(row) !== null && number(row) < limit;
    return row => String(number(row)) === parts[3];
  });
}

// Each word of a column is looked at once.
function textTest(text, columns) {
  const hits = columns.map(column => column.words.map(word => word.toLowerCase().includes(text)));
  return row => columns.some((column, i) => hits[i][column.cells[row]]);
}

