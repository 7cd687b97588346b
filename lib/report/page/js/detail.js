// ---- detail: everything that is known of the chosen tensor

const HIDDEN_KEYS = new Set(["run", "position", "io", "slot", "point", "line", "error_note", "class", "at", "a_at", "b_at"]);

class Detail {
  constructor(data) {
    this.data = data;
    this.table = data.points;
    this.holder = byId("row");
    this.pictures = new Map(data.pictures.map(picture => [picture.row, picture]));
    state.on("select", () => this.render());
    state.on("look", () => this.render());
  }

  render() {
    const row = state.selected;
    if (row < 0) return;
    const name = this.table.word(row, "op_name") || this.table.word(row, "path");
    const type = this.table.word(row, "op_type"), tensor = this.table.word(row, "tensor");
    const only = type === "Parameter" && tensor === "parameter:0"; // of a checkpoint
    byId("row-title").textContent = [type, only ? "" : tensor].filter(Boolean).join(" ") || "Row";
    const facts = this.table.columns.filter(column => !HIDDEN_KEYS.has(column.key) && column.key !== "op_name")
      .map(column => [column.title, this.table.text(row, column.key)]).filter(([, text]) => text !== "");
    const list = make("dl", { class: "facts" }, ...facts.flatMap(([title, text]) =>
      [make("dt", {}, titleText(title)), make("dd", {}, text)]));
    const picture = this.pictures.get(row);
    const right = [...this.overSteps(row), ...(picture ? picturesOf(picture) : [])];
    this.holder.replaceChildren(make("p", { class: "name" }, name), ...this.findings(row), this.command(row),
      ...this.valueCommands(row),
      right.length > 0 ? make("div", { class: "pair" }, list, make("div", {}, ...right)) : list);
  }

  // What check found about it.
  findings(point) {
    const rows = this.data.rows;
    if (rows === this.table) return [];
    const about = rows.byKey.get("point").numbers;
    return about.map((other, row) => other === point ? row : -1).filter(row => row >= 0).map(row =>
      make("p", {}, make("span", { class: "chip " + rows.word(row, "severity") }, rows.word(row, "kind")), " " + rows.word(row, "message")));
  }

  // What to type for more about this tensor.
  command(row) {
    const words = [...this.data.command];
    const add = (option, text) => {
      if (text !== "") words.push(option, text);
    };
    add("--op", this.table.word(row, "op_name"));
    add("--io", this.table.word(row, "io") === "argument" ? "" : this.table.word(row, "io"));
    add("--slot", this.table.word(row, "slot"));
    for (const key of ["rank", "step"]) if (this.table.values(key).length > 1) add("--" + key, this.table.text(row, key));
    if (this.data.kind === "diff") words.push("--worst", "20", "--by-axis");
    return this.line(this.data.kind === "diff" ? "its differences" : "its findings", words);
  }

  // What to type for its elements in each dump.
  valueCommands(row) {
    return this.data.dumps.map(dump => {
      const at = this.table.word(row, dump.at), cell = key => this.table.text(row, key);
      const own = ["rank", "step"].map(key => this.table.number(row, key)).concat(["io", "slot", "op_name"].map(cell));
      let place = own;
      try {
        if (at !== "=") place = JSON.parse(at);
      } catch {
        return null; // there are none, or the name is too long
      }
      const words = ["msdump", "info", ...dump.paths.flatMap(path => ["-d", path]), "--op", place[4], "--io", place[2]];
      if (place[3] !== "") words.push("--slot", String(place[3]));
      ["rank", "step"].forEach((key, i) => {
        const several = dump.several.includes(key) || this.table.values(key).length > 1 || place[i] !== own[i];
        if (place[i] !== null && several) words.push("--" + key, String(place[i]));
      });
      return this.line(dump.role ? `${dump.role}'s values` : "its values", [...words, "--values"]);
    }).filter(Boolean);
  }

  line(what, words) {
    const line = words.map(shellQuoted).join(" ");
    const copy = button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(line);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(copy.previousSibling);
      }
      setTimeout(() => copy.textContent = "Copy", 1500);
    }, { "aria-label": "Copy the command" });
    return make("p", { class: "command" }, make("span", { class: "quiet" }, what), make("code", {}, line), copy);
  }

  // The same tensor in other steps of its rank.
  overSteps(row) {
    const key = this.data.kind === "diff" ? "error" : "max_abs", same = [];
    const cell = name => this.table.byKey.get(name).cells;
    const rank = this.table.number(row, "rank"), graph = this.table.number(row, "graph");
    for (let other = 0; other < this.table.count; other++) {
      if (cell("op_name")[other] !== cell("op_name")[row] || cell("tensor")[other] !== cell("tensor")[row]) continue;
      if (this.table.number(other, "rank") !== rank || this.table.number(other, "graph") !== graph) continue;
      same.push(other);
    }
    const steps = new Set(same.map(other => this.table.number(other, "step")));
    if (steps.size < 2) return [];
    const title = key === "error" ? "relative error over the steps, logarithmic" : "max |x| over the steps, logarithmic";
    return [make("h3", {}, titleText(title)), stepsLine(this.table, same, key)];
  }
}

function titleText(title) {
  return title.replaceAll("_", " ");
}

// A line over the steps; a value that is not finite is at the upper edge.
function stepsLine(table, rows, key) {
  const wide = 460, high = 90, values = rows.map(row => table.number(row, key));
  const heights = values.map(value => value > 0 && Number.isFinite(value) ? Math.log10(value) : null);
  const known = heights.filter(height => height !== null);
  const low = Math.min(...known, 0), top = Math.max(...known, low + 1);
  const x = i => 20 + (wide - 40) * (rows.length < 2 ? 0 : i / (rows.length - 1));
  const y = i => heights[i] !== null ? high - 24 - (high - 40) * (heights[i] - low) / (top - low)
    : values[i] === 0 ? high - 20 : 10;
  const picture = draw("svg", { viewBox: `0 0 ${wide} ${high}`, class: "steps", role: "img",
    "aria-label": rows.map((row, i) => `step ${table.text(row, "step")}: ${numberText(values[i])}`).slice(0, 100).join(", ") });
  picture.append(draw("polyline", { points: rows.map((row, i) => `${x(i)},${y(i)}`).join(" ") }));
  rows.forEach((row, i) => {
    const dot = draw("circle", { cx: x(i), cy: y(i), r: row === state.selected ? 5 : 3,
      class: state.classes[state.data.classOf[row]].style });
    dot.append(draw("title", {}, `step ${table.text(row, "step")}: ${numberText(values[i])}`));
    dot.addEventListener("click", () => state.select(row));
    picture.append(dot);
    if (rows.length <= 12) picture.append(draw("text", { x: x(i), y: high - 4 }, table.text(row, "step")));
  });
  return picture;
}

