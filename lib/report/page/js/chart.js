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
      make("span", { class: "spring" }),
      button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
      button("Whole run", () => this.graph.resetZoom(), { id: "whole" }));
    byId("legend").append(...state.classes.map((one, i) => this.legendButton(one, i)).filter(Boolean));
    const hint = " Drag to zoom, click a point for its row; with the keyboard: arrows, + and \u2212.";
    byId("legend").append(make("span", { class: "quiet" }, hint));
  }

  legendButton(one, i) {
    const count = this.data.classOf.reduce((sum, of) => sum + (of === i ? 1 : 0), 0);
    if (count === 0) return null;
    const toggle = button("", () => {
      const shown = !state.hidden.delete(i);
      if (shown) state.hidden.add(i);
      toggle.setAttribute("aria-pressed", String(!shown));
      this.refill();
    }, { "aria-pressed": "true", class: "key " + one.name });
    toggle.append(make("i", {}), `${one.text} ${count}`);
    return toggle;
  }

  // The points in place, each with its height: the logarithm of what is shown, or the edge for what has none.
  collect() {
    const shown = [], heights = [];
    let low = Infinity, high = -Infinity;
    this.zeros = this.edges = false;
    for (let row = 0; row < this.table.count; row++) {
      if (state.hidden.has(this.data.classOf[row]) || !state.inPlace(this.table, row)) continue;
      const value = this.table.number(row, this.measure);
      const height = value === null || !(value >= 0) || value === Infinity ? Infinity
        : value === 0 ? -Infinity : Math.log10(value);
      this.zeros = this.zeros || height === -Infinity;
      this.edges = this.edges || height === Infinity;
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
    this.floor = this.low - 0.6;
    this.ceiling = this.high + 0.6;
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
    return [this.zeros ? this.floor - 0.4 : this.low - 0.3, (this.edges ? this.ceiling : this.high) + 0.8];
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
        y: { axisLabelWidth: 56, ticker: (from, to) => this.decades(from, to), axisLabelFormatter: v => v },
        x: { axisLabelFormatter: value => Number.isInteger(value) ? value.toLocaleString("en") : "" },
      },
    });
    this.describe();
  }

  decades(from, to) {
    const every = Math.max(1, Math.ceil((this.high - this.low) / 8));
    const ticks = [];
    if (this.zeros) ticks.push({ v: this.floor, label: "0" });
    if (this.edges) ticks.push({ v: this.ceiling, label: "none, \u221e" });
    for (let v = this.low; v <= this.high; v += every) ticks.push({ v, label: powerText(v) });
    return ticks.filter(tick => tick.v >= from && tick.v <= to);
  }

  plot({ drawingContext: canvas, points, dygraph: graph }) {
    const [from, to] = this.visible();
    const few = to - from < 2500;
    const size = few ? 5 : to - from < 20000 ? 3 : 2;
    if (this.hasExpected()) this.plotExpected(canvas, graph, from, to, few);
    for (let kind = 0; kind < state.classes.length; kind++) {
      canvas.fillStyle = color(state.classes[kind].name);
      const wide = kind === 0 ? size : size + 1;
      for (const point of points) {
        if (this.data.classOf[this.shown[point.idx]] !== kind) continue;
        if (kind === 0 || !few) canvas.fillRect(point.canvasx - wide / 2, point.canvasy - wide / 2, wide, wide);
        else mark(canvas, kind, point.canvasx, point.canvasy, wide);
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
          label(canvas, cut(shortName(this.table.word(row, "op_name")), 40), point);
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

// Classes differ by shape too, not only by color.
function mark(canvas, kind, x, y, size) {
  const half = size / 2 + 0.5;
  canvas.beginPath();
  if (kind === 1) canvas.arc(x, y, half, 0, 2 * Math.PI);
  else if (kind === 2) canvas.rect(x - half, y - half, 2 * half, 2 * half);
  else if (kind === 3) {
    canvas.moveTo(x, y - half - 1);
    canvas.lineTo(x + half + 1, y + half);
    canvas.lineTo(x - half - 1, y + half);
  } else {
    canvas.moveTo(x, y - half - 1);
    canvas.lineTo(x + half + 1, y);
    canvas.lineTo(x, y + half + 1);
    canvas.lineTo(x - half - 1, y);
  }
  canvas.fill();
}

// Above the point, or below it at the upper edge.
function label(canvas, text, point) {
  canvas.font = "600 12px system-ui, sans-serif";
  const wide = canvas.measureText(text).width;
  const x = Math.min(point.canvasx + 9, canvas.canvas.clientWidth - wide - 6);
  const y = point.canvasy < 50 ? point.canvasy + 24 : point.canvasy - 14;
  canvas.lineWidth = 4;
  canvas.strokeStyle = color("raised");
  canvas.strokeText(text, x, y);
  canvas.fillStyle = color("ink");
  canvas.fillText(text, x, y);
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

