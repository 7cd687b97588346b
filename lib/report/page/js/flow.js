// ---- flow: the operators within two steps of the chosen one, in columns by distance

const BOX = { wide: 150, high: 34, across: 196, down: 48 };
const MOST_IN_COLUMN = 9;

class Flow {
  constructor(data) {
    this.data = data;
    this.table = data.points;
    this.holder = byId("flow");
    this.readEdges();
    state.on("select", () => this.render());
    state.on("look", () => this.render());
  }

  readEdges() {
    this.into = new Map();
    this.outOf = new Map();
    const add = (map, run, edge) => map.has(run) ? map.get(run).push(edge) : map.set(run, [edge]);
    for (let i = 0; i < this.data.edges.length; i += 4) {
      const [from, to, row, gap] = this.data.edges.slice(i, i + 4);
      const edge = { from, to, row, gap };
      add(this.outOf, from, edge);
      add(this.into, to, edge);
    }
    this.rowsOf = new Map();
    for (let row = 0; row < this.table.count; row++) {
      const run = this.table.number(row, "run");
      if (run !== null) add(this.rowsOf, run, row);
    }
  }

  // Runs by column, -2 to 2; a run is in the first column that reaches it.
  columns(center) {
    const columns = new Map([[0, [center]]]), seen = new Set([center]);
    this.left = new Map();
    for (const [sign, edges, end] of [[-1, this.into, "from"], [1, this.outOf, "to"]]) {
      let last = [center];
      for (let hop = 1; hop <= 2; hop++) {
        const found = [];
        for (const run of last) {
          for (const edge of edges.get(run) || []) {
            if (seen.has(edge[end])) continue;
            seen.add(edge[end]);
            found.push(edge[end]);
          }
        }
        found.sort((a, b) => this.severity(b) - this.severity(a) || a - b);
        this.left.set(sign * hop, Math.max(found.length - MOST_IN_COLUMN, 0));
        last = found.slice(0, MOST_IN_COLUMN);
        columns.set(sign * hop, last);
      }
    }
    return columns;
  }

  // How bad the worst row of a run is.
  severity(run) {
    const weight = row => this.data.classOf[row] + (this.data.evidence.has(row) ? state.classes.length : 0);
    return Math.max(...(this.rowsOf.get(run) || []).map(weight), 0);
  }

  render() {
    const run = state.selected < 0 ? null : this.table.number(state.selected, "run");
    if (run === null || (!this.into.has(run) && !this.outOf.has(run))) {
      this.holder.replaceChildren(make("p", { class: "quiet" }, this.data.edges.length === 0
        ? "The data flow is not known: no IR was found." : "Nothing that was dumped is connected with it."));
      return;
    }
    const columns = this.columns(run), places = this.place(columns);
    const used = [...columns.entries()].filter(([, runs]) => runs.length > 0).map(([hop]) => hop);
    const least = Math.min(...used), most = Math.max(...used);
    const rows = Math.max(...[...columns.entries()].map(([hop, runs]) => runs.length + ((this.left.get(hop) || 0) > 0 ? 1 : 0)));
    const wide = (most - least) * BOX.across + BOX.wide + 12, high = Math.max(rows, 2) * BOX.down + 24;
    const picture = draw("svg", { viewBox: `${least * BOX.across - BOX.wide / 2 - 6} ${-high / 2} ${wide} ${high}`, width: wide,
      height: high, class: "flow", role: "group", "aria-label": "Operators around the chosen one, left to right" });
    const shown = new Set(places.keys());
    const edges = [...shown].flatMap(one => this.into.get(one) || []).filter(edge => shown.has(edge.from));
    for (const edge of edges) picture.append(this.edgeOf(edge, places));
    for (const [one, at] of places) picture.append(this.boxOf(one, at, one === run));
    for (const [hop, count] of this.left) {
      if (count > 0) picture.append(draw("text", { x: hop * BOX.across, y: high / 2 - 8, class: "more" }, `and ${count} more`));
    }
    const focused = this.holder.contains(document.activeElement);
    this.holder.replaceChildren(make("div", { class: "scroll" }, picture));
    const center = picture.querySelector(".center");
    if (focused) center.focus();
    const box = this.holder.firstChild;
    box.scrollLeft = (box.scrollWidth - box.clientWidth) * (least === most ? 0 : -least / (most - least));
  }

  place(columns) {
    const places = new Map();
    for (const [hop, runs] of columns) {
      runs.forEach((run, i) => places.set(run, { x: hop * BOX.across, y: (i - (runs.length - 1) / 2) * BOX.down, hop, i }));
    }
    return places;
  }

  edgeOf(edge, places) {
    const from = places.get(edge.from), to = places.get(edge.to);
    const back = to.x <= from.x;
    const x1 = from.x + (back ? 0 : BOX.wide / 2), x2 = to.x - (back ? 0 : BOX.wide / 2);
    const bend = back ? 0 : (x2 - x1) / 2, bow = back ? BOX.down / 2 : 0;
    const name = edge.row === null ? "agrees" : state.classes[this.data.classOf[edge.row]].style;
    const group = draw("g", { class: `edge ${name}${edge.gap ? " gap" : ""}` },
      draw("path", { d: `M${x1},${from.y} C${x1 + bend},${from.y + bow} ${x2 - bend},${to.y + bow} ${x2},${to.y}` }));
    const key = this.data.kind === "diff" ? "error" : "max_abs";
    const text = edge.row === null ? "" : numberText(this.table.number(edge.row, key));
    if (text && !back) group.append(draw("text", { x: (x1 + x2) / 2, y: (from.y + to.y) / 2 - 3 }, text));
    group.append(draw("title", {}, edge.gap ? "through operators that were not dumped" : text && this.table.text(edge.row, key)));
    return group;
  }

  boxOf(run, at, isCenter) {
    const rows = this.rowsOf.get(run) || [];
    const outputs = rows.filter(row => this.table.word(row, "io") === "output");
    const worst = state.classes[Math.max(...(outputs.length > 0 ? outputs : rows).map(row => this.data.classOf[row]), 0)];
    const head = rows[0], name = head === undefined ? "" : this.table.word(head, "op_name");
    const type = head === undefined ? "" : this.table.word(head, "op_type");
    const node = draw("g", { class: `node ${worst.style}${isCenter ? " center" : ""}`, tabindex: "0", role: "button",
      transform: `translate(${at.x},${at.y})`, "data-hop": at.hop, "data-place": at.i,
      "aria-label": `${type} ${name}: ${worst.text}`, "aria-pressed": String(isCenter) });
    node.append(draw("title", {}, name),
      draw("rect", { x: -BOX.wide / 2, y: -BOX.high / 2, width: BOX.wide, height: BOX.high, rx: 5 }),
      draw("text", { y: -3, class: "type" }, cut(type || shortName(name), 22)),
      draw("text", { y: 11 }, cut(shortName(name), 24)));
    const go = () => state.select((outputs.length > 0 ? outputs : rows)[0]);
    node.addEventListener("click", go);
    node.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") go();
      else if (!this.walk(event.key, at)) return;
      event.preventDefault();
    });
    return node;
  }

  walk(key, at) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (!by) return false;
    const find = (hop, i) => this.holder.querySelector(`[data-hop="${hop}"][data-place="${i}"]`);
    const next = find(at.hop + by[0], at.i + by[1]) || (by[0] !== 0 && find(at.hop + by[0], 0));
    if (next) next.focus();
    return Boolean(next);
  }
}

