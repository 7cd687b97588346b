// ---- state: what the reader chose, and what a row is to them

const DIFF_CLASSES = [
  { name: "agrees", text: "agrees" },
  { name: "rounding", text: "differs by rounding" },
  { name: "downstream", text: "differs, explained" },
  { name: "culprit", text: "differs, unexplained" },
  { name: "nan", text: "NaN or infinite on one side" },
  { name: "other", text: "not comparable, or on one side only" },
];
const CHECK_CLASSES = [
  { name: "agrees", text: "finite" },
  { name: "downstream", text: "a warning" },
  { name: "culprit", text: "an error" },
  { name: "nan", text: "NaN" },
  { name: "other", text: "infinite" },
  { name: "rounding", text: "values not known" },
];

const state = {
  data: null,
  classes: DIFF_CLASSES,
  hidden: new Set(), // of classes
  rank: null,
  step: null,
  selected: -1, // a row of the points
  listeners: { select: [], place: [], look: [] },
  on(event, listener) {
    this.listeners[event].push(listener);
  },
  tell(event) {
    for (const listener of this.listeners[event]) listener();
  },
  select(point) {
    if (point === this.selected || !(point >= 0)) return;
    this.selected = point;
    this.tell("select");
  },
  inPlace(table, row) {
    return (this.rank === null || table.number(row, "rank") === this.rank) &&
      (this.step === null || table.number(row, "step") === this.step);
  },
};

function diffClass(rows, row) {
  const verdict = rows.word(row, "verdict"), why = rows.word(row, "explained");
  if (verdict === "same" || verdict === "close" || verdict === "empty") return 0;
  if (verdict === "nan") return 4;
  if (verdict !== "differ") return 5;
  return why === "noise" ? 1 : why ? 2 : 3;
}

function checkClass(points, row) {
  const found = points.word(row, "severity");
  switch (points.word(row, "state")) {
    case "nan": return 3;
    case "infinite": return 4;
    case "": return 5;
    default: return found === "error" ? 2 : found === "warning" ? 1 : 0;
  }
}

// The class of each point, and the rows that are evidence of what went wrong first.
function classify(data) {
  const of = data.kind === "diff" ? diffClass : checkClass;
  state.classes = data.kind === "diff" ? DIFF_CLASSES : CHECK_CLASSES;
  data.classOf = new Uint8Array(data.points.count);
  for (let row = 0; row < data.points.count; row++) data.classOf[row] = of(data.points, row);
  data.evidence = new Set(data.causes.flatMap(cause => cause.rows));
}

// Does a row of the table say that something is wrong?
function isDifference(rows, row) {
  return state.data.kind === "diff" ? rows.word(row, "difference") === "yes" : rows.word(row, "severity") !== "note";
}

// The point that a row of the table is about, and the row about a point; -1 for none.
function pointOfRow(row) {
  const data = state.data;
  if (data.points === data.rows) return row;
  const point = data.rows.number(row, "point");
  return point === null ? -1 : point;
}

