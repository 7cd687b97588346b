// ---- chart: every tensor as a point over the order of the execution, on a logarithmic axis

class Chart {
  constructor(data) {
    this.data = data;
    this.table = data.points;
    this.measures = (data.kind === "diff"
      ? [["error", "relative error"], ["metrics.max_abs", "max |a \u2212 b|"], ["metrics.max_rel", "max relative error"]]
      : [["max_abs", "max |x|"], ["l2norm", "norm"], ["nonfinite", "NaN and infinities"]])
      .filter(([key]) => this.table.has(key));
    this.measure = this.measures[0][0];
    this.holder = byId("chart");
    this.tip = make("div", { class: "tip", hidden: true });
    this.makeTools();
    this.collect();
    this.makeGraph();
    this.holder.append(this.tip);
    this.listen();
  }

  makeTools() {
    const places = ["rank", "step"].filter(key => this.table.values(key).length > 1).map(key =>
      chooser(key, [["", "all"], ...this.table.values(key).map(value => [value, value])], value => {
        state[key] = value === "" ? null : Number(value);
        state.tell("place");
      }));
    byId("chart-tools").append(
      chooser("Show", this.measures, value => {
        this.measure = value;
        this.refill();
      }),
      ...places,
      make("span", { class: "quiet" }, "logarithmic scale"),
      make("span", { class: "spring" }),
      button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
      button("Whole run", () => this.graph.resetZoom(), { id: "whole" }));
    const ring = (name, text) => make("span", { class: "key" },
      icon("ring " + name, "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z"), text);
    byId("legend").append(...state.classes.map((one, i) => this.legendButton(one, i)).reverse(),
      ...(this.data.evidence.size > 0 ? [ring("evidence", "evidence")] : []), ring("chosen", "chosen"),
      ...(this.table.values("expected_error").length > 0
        ? [make("span", { class: "key" }, icon("expected", "M-1-.2H1V.2H-1Z"), "expected error")] : []),
      make("span", { class: "quiet" }, "Drag to zoom, click a point for its row; with the keyboard: arrows, + and \u2212."));
  }

  legendButton(one, i) {
    const toggle = button("", () => {
      const shown = !state.hidden.delete(i);
      if (shown) state.hidden.add(i);
      toggle.setAttribute("aria-pressed", String(!shown));
      this.refill();
    }, { "aria-pressed": "true", class: "key" });
    toggle.append(icon(one.style, SHAPES[one.style]), `${one.count} ${one.text}`);
    return toggle;
  }

  // The points in place, each with its height: the logarithm of what is shown, or the edge for what has none.
  collect() {
    const shown = [], heights = [];
    let low = Infinity, high = -Infinity;
    this.zeros = false;
    this.edges = new Set(); // what has no place on the scale
    for (let row = 0; row < this.table.count; row++) {
      if (state.hidden.has(this.data.classOf[row]) || !state.inPlace(this.table, row)) continue;
      const value = this.table.number(row, this.measure);
      const height = value === null || !(value >= 0) || value === Infinity ? Infinity
        : value === 0 ? -Infinity : Math.log10(value);
      this.zeros = this.zeros || height === -Infinity;
      if (height === Infinity) this.edges.add(value === null ? "none" : Number.isNaN(value) ? "nan" : "\u221e");
      const expected = this.hasExpected() ? this.table.number(row, "expected_error") : null;
      if (expected > 0) low = Math.min(low, Math.log10(expected));
      if (Number.isFinite(height)) {
        low = Math.min(low, height);
        high = Math.max(high, height);
      }
      shown.push(row);
      heights.push(height);
    }
    if (low > high) [low, high] = [-1, 0];
    this.low = Math.floor(low);
    this.high = Math.max(Math.ceil(high), this.low + 1);
    const gap = Math.max((this.high - this.low) / 10, 0.6); // as much as the text of a tick takes
    this.floor = this.low - gap;
    this.ceiling = this.high + gap;
    this.shown = shown;
    const step = this.table.has("position") && state.rank === null && state.step === null;
    this.places = Float64Array.from(shown, (row, i) => step ? this.table.number(row, "position") : i);
    this.heights = Float64Array.from(heights, height =>
      height === Infinity ? this.ceiling : height === -Infinity ? this.floor : height);
    this.placeOf = new Map(shown.map((row, i) => [row, i]));
    this.bands = bandsOf(this.table, shown);
    this.rows = shown.length > 0 ? Array.from(shown, (row, i) => [this.places[i], this.heights[i]]) : [[0, this.low]];
  }

  hasExpected() {
    return this.data.kind === "diff" && this.measure === "error";
  }

  refill() {
    this.collect();
    this.graph.updateOptions({ file: this.rows, valueRange: this.range(), dateWindow: null });
    this.describe();
  }

  range() {
    return [this.zeros ? this.floor - 0.4 : this.low - 0.3, (this.edges.size > 0 ? this.ceiling : this.high) + 0.8];
  }

  makeGraph() {
    this.graph = new Dygraph(this.holder, this.rows, {
      labels: ["position", "height"],
      legend: "never",
      valueRange: this.range(),
      xRangePad: 14,
      highlightCircleSize: 0,
      gridLineColor: color("line"),
      axisLineColor: color("line"),
      plotter: event => this.plot(event),
      underlayCallback: (canvas, area, graph) => drawBands(canvas, area, graph, this.bands, this.places),
      clickCallback: event => this.pick(event),
      axes: {
        y: { axisLabelWidth: 66, ticker: (from, to) => this.decades(from, to), axisLabelFormatter: v => v },
        x: { axisLabelFormatter: value => Number.isInteger(value) ? value.toLocaleString("en") : "" },
      },
    });
    this.describe();
  }

  decades(from, to) {
    const every = Math.max(1, Math.ceil((this.high - this.low) / 8));
    const ticks = [];
    if (this.zeros) ticks.push({ v: this.floor, label: "0" });
    if (this.edges.size > 0) ticks.push({ v: this.ceiling, label: [...this.edges].sort().join(" ") });
    for (let v = this.low; v <= this.high; v += every) ticks.push({ v, label: powerText(v) });
    return ticks.filter(tick => tick.v >= from && tick.v <= to);
  }

  plot({ drawingContext: canvas, points, dygraph: graph }) {
    const [from, to] = this.visible();
    const few = to - from < 2500;
    const size = few ? 5 : to - from < 20000 ? 3 : 2;
    if (this.hasExpected()) this.plotExpected(canvas, graph, from, to, few);
    for (let kind = 0; kind < state.classes.length; kind++) {
      const style = state.classes[kind].style, plain = style === "agrees" || (to - from > 20000 && style !== "culprit");
      const wide = style === "agrees" ? size : size + 1;
      canvas.fillStyle = color(style);
      for (const point of points) {
        if (this.data.classOf[this.shown[point.idx]] !== kind) continue;
        if (plain) canvas.fillRect(point.canvasx - wide / 2, point.canvasy - wide / 2, wide, wide);
        else mark(canvas, style, point.canvasx, point.canvasy, wide / 2 + 0.5);
      }
    }
    this.pixels = points;
    this.plotEvidence(canvas, points);
  }

  // Where siblings lead one to expect the error: a tick, joined with the point where there is room.
  plotExpected(canvas, graph, from, to, few) {
    canvas.fillStyle = canvas.strokeStyle = color("expected");
    for (let i = from; i < to; i++) {
      const expected = this.table.number(this.shown[i], "expected_error");
      if (!(expected > 0)) continue;
      const [x, y] = graph.toDomCoords(this.places[i], Math.max(Math.log10(expected), this.floor));
      canvas.fillRect(x - (few ? 4 : 1), y, few ? 8 : 2, 1);
      if (few) canvas.fillRect(x - 0.25, y, 0.5, graph.toDomYCoord(this.heights[i]) - y);
    }
  }

  plotEvidence(canvas, points) {
    canvas.lineWidth = 2;
    const ring = (point, radius, name) => {
      canvas.strokeStyle = color(name);
      canvas.beginPath();
      canvas.arc(point.canvasx, point.canvasy, radius, 0, 2 * Math.PI);
      canvas.stroke();
    };
    let labelled = false;
    for (const point of points) {
      const row = this.shown[point.idx];
      if (this.data.evidence.has(row)) {
        ring(point, 7, "ink");
        if (row === this.data.causes[0].rows[0] && !labelled) {
          labelled = true;
          label(canvas, cut(shortName(this.table.word(row, "op_name")), 40), point, points);
        }
      }
      if (row === state.selected) ring(point, 10, "accent");
    }
  }

  // The points in the window.
  visible() {
    const [from, to] = this.graph ? this.graph.xAxisRange() : [-Infinity, Infinity];
    return [lowerBound(this.places, from), lowerBound(this.places, to + 1e-9)];
  }

  zoom(factor) {
    const [from, to] = this.graph.xAxisRange(), [least, most] = this.graph.xAxisExtremes();
    const at = this.placeOf.get(state.selected);
    const chosen = at === undefined ? NaN : this.places[at];
    const middle = chosen >= from && chosen <= to ? chosen : (from + to) / 2;
    const half = Math.max((to - from) * factor / 2, 2);
    this.graph.updateOptions({ dateWindow: [Math.max(middle - half, least), Math.min(middle + half, most)] });
  }

  // The nearest point to a place of the mouse, in pixels.
  nearest(event) {
    const [x, y] = [this.graph.eventToDomCoords(event)[0], this.graph.eventToDomCoords(event)[1]];
    let best = -1, least = 20 * 20;
    for (const point of this.pixels || []) {
      const across = point.canvasx - x;
      if (across > 20) break;
      if (across < -20) continue;
      const far = across * across + (point.canvasy - y) ** 2;
      if (far < least) [best, least] = [point.idx, far];
    }
    return best < 0 ? -1 : this.shown[best];
  }

  pick(event) {
    state.select(this.nearest(event));
  }

  listen() {
    this.holder.addEventListener("mousemove", event => this.hover(event));
    this.holder.addEventListener("mouseleave", () => this.tip.hidden = true);
    this.holder.addEventListener("keydown", event => this.key(event));
    state.on("select", () => this.graph.updateOptions({}));
    state.on("place", () => this.refill());
    state.on("look", () => this.graph.updateOptions({ gridLineColor: color("line"), axisLineColor: color("line") }));
  }

  hover(event) {
    const row = this.nearest(event);
    this.tip.hidden = row < 0;
    if (row < 0) return;
    const measure = this.measures.find(([key]) => key === this.measure);
    this.tip.replaceChildren(
      make("b", {}, cut(shortName(this.table.word(row, "op_name")), 60)), ` ${this.table.word(row, "tensor")}`, make("br"),
      `${state.classes[this.data.classOf[row]].text}; ${measure[1]} ${this.table.text(row, this.measure) || "\u2013"}`);
    const box = this.holder.getBoundingClientRect();
    this.tip.style.left = Math.min(event.clientX - box.left + 14, box.width - 300) + "px";
    this.tip.style.top = event.clientY - box.top + 14 + "px";
  }

  key(event) {
    const at = this.placeOf.has(state.selected) ? this.placeOf.get(state.selected) : -1;
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.shown.length - 1 };
    if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 0.5 : 2);
    else if (event.key in moves) {
      const next = Math.min(Math.max(moves[event.key], 0), this.shown.length - 1);
      state.select(this.shown[next]);
      const [from, to] = this.graph.xAxisRange(), x = this.places[next], half = (to - from) / 2;
      if (x < from || x > to) this.graph.updateOptions({ dateWindow: [x - half, x + half] });
    } else return;
    event.preventDefault();
  }

  describe() {
    const measure = this.measures.find(([key]) => key === this.measure);
    this.holder.setAttribute("aria-label",
      `Chart: ${this.shown.length} tensors over the order of the execution, by ${measure[1]}, logarithmic`);
  }
}

function powerText(exponent) {
  const digits = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  const power = String(Math.abs(exponent)).replace(/\d/g, digit => digits[digit]);
  return exponent === 0 ? "1" : "10" + (exponent < 0 ? "\u207b" : "") + power;
}

function lowerBound(sorted, value) {
  let first = 0, end = sorted.length;
  while (first < end) {
    const middle = (first + end) >> 1;
    if (sorted[middle] < value) first = middle + 1;
    else end = middle;
  }
  return first;
}

// Classes differ by shape too, not only by color. In units of half their size.
const SHAPES = {
  agrees: "M-1-1H1V1H-1Z",
  skipped: "M-1-.4H1V.4H-1Z",
  rounding: "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
  downstream: "M-1-1H1V1H-1Z",
  culprit: "M0-1.3L1.3 1H-1.3Z",
  unexplained: "M0 1.3L1.3-1H-1.3Z",
  other: "M0-1.3L1.3 0L0 1.3L-1.3 0Z",
};
const PATHS = Object.fromEntries(Object.entries(SHAPES).map(([style, shape]) => [style, new Path2D(shape)]));

function mark(canvas, style, x, y, half) {
  canvas.save();
  canvas.translate(x, y);
  canvas.scale(half, half);
  canvas.fill(PATHS[style]);
  canvas.restore();
}

function icon(style, shape) {
  return draw("svg", { class: "icon " + style, viewBox: "-1.5 -1.5 3 3", "aria-hidden": "true" }, draw("path", { d: shape }));
}

// Where it covers the fewest points; a line leads to a label that is not beside its point.
function label(canvas, text, point, points) {
  canvas.font = "600 12px system-ui, sans-serif";
  const wide = canvas.measureText(text).width, { clientWidth: across, clientHeight: down } = canvas.canvas;
  const near = points.filter(other => Math.abs(other.canvasx - point.canvasx) < 2 * wide + 40);
  let best = null;
  for (let i = 0; i < 24; i++) {
    const shift = i % 2 === 0 ? -14 - 9 * i : 13 + 9 * i; // above and below, ever farther
    for (const aside of [12, -wide - 12, 12 + wide / 2, -wide - 12 - wide / 2]) {
      const x = point.canvasx + aside;
      const y = point.canvasy + shift;
      if (x < 70 || x + wide > across - 4 || y < 26 || y > down - 24) continue;
      const within = room => near.filter(other => other.canvasx > x - room && other.canvasx < x + wide + room &&
        other.canvasy > y - 10 - room && other.canvasy < y + 3 + room).length;
      const covered = 10 * within(1) + within(5);
      if (best === null || covered < best.covered) best = { x, y, shift, covered };
    }
  }
  if (best === null) return;
  if (Math.abs(best.shift) > 30) {
    canvas.strokeStyle = color("quiet");
    canvas.lineWidth = 1;
    canvas.beginPath();
    canvas.moveTo(point.canvasx, point.canvasy + (best.shift < 0 ? -8 : 8));
    canvas.lineTo(best.x > point.canvasx ? best.x : best.x + wide, best.y + (best.shift < 0 ? 4 : -10));
    canvas.stroke();
  }
  canvas.lineWidth = 4;
  canvas.strokeStyle = color("raised");
  canvas.strokeText(text, best.x, best.y);
  canvas.fillStyle = color("ink");
  canvas.fillText(text, best.x, best.y);
  canvas.lineWidth = 2;
}

// Neighbouring points that belong together: those of a rank and step; within one, those of a scope.
function bandsOf(table, shown) {
  const places = row => `${table.text(row, "rank")}|${table.text(row, "step")}`;
  const cutBy = name => {
    const bands = [];
    for (let i = 0; i < shown.length; i++) {
      const key = name(shown[i]);
      if (bands.length === 0 || bands[bands.length - 1].key !== key) bands.push({ key, from: i, to: i });
      else bands[bands.length - 1].to = i;
    }
    return bands;
  };
  const byPlace = cutBy(places);
  const several = key => table.values(key).length > 1 && state[key] === null;
  if (byPlace.length > 1) {
    for (const band of byPlace) {
      const [rank, step] = band.key.split("|");
      band.text = [several("rank") ? `rank ${rank}` : "", several("step") ? `step ${step}` : ""].filter(Boolean).join(", ");
    }
    return byPlace.length <= 200 ? byPlace : [];
  }
  return bandsByScope(table, cutBy);
}

function bandsByScope(table, cutBy) {
  const column = table.byKey.get("op_name");
  if (!column) return [];
  let best = [];
  for (let depth = 1; depth <= 6; depth++) {
    const scopes = column.words.map(word => word.split("/").slice(0, -1).slice(0, depth).join("/"));
    const bands = cutBy(row => scopes[column.cells[row]]);
    if (bands.length > 32) break;
    best = bands;
  }
  const parts = best.map(band => band.key.split("/"));
  const kinds = [0, 1, 2, 3, 4, 5].map(depth => new Set(parts.map(one => one[depth])).size);
  const telling = kinds.indexOf(Math.max(...kinds));
  best.forEach((band, i) => band.text = parts[i][telling] || shortName(band.key));
  return best.length > 1 ? best : [];
}

function drawBands(canvas, area, graph, bands, places) {
  canvas.font = "11px system-ui, sans-serif";
  bands.forEach((band, i) => {
    const from = Math.max(graph.toDomXCoord(places[band.from] - 0.5), area.x);
    const to = Math.min(graph.toDomXCoord(places[band.to] + 0.5), area.x + area.w);
    if (to <= from) return;
    if (i % 2 === 0) {
      canvas.fillStyle = color("band");
      canvas.fillRect(from, area.y, to - from, area.h);
    }
    if (to - from < 40 || !band.text) return;
    canvas.fillStyle = color("quiet");
    const most = Math.floor((to - from - 8) / 6.2);
    const text = band.text.length > most ? band.text.slice(0, most - 1) + "\u2026" : band.text;
    if (most >= 4) canvas.fillText(text, from + 4, area.y + 12);
  });
}

