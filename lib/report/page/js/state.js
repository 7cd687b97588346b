// ---- state: what the reader chose, and what a row is to them

const state = {
  data: null,
  classes: [], // of the legend, the worst last
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

// The class of each point, and the rows that are evidence of what went wrong first.
function classify(data) {
  state.classes = data.classes;
  const column = data.points.byKey.get("class"), places = new Map(data.classes.map((one, i) => [one.key, i]));
  const of = column.words.map(key => places.get(key) || 0);
  data.classOf = Uint8Array.from(column.cells, cell => of[cell]);
  data.evidence = new Set(data.causes.flatMap(cause => cause.rows));
}

// The point that a page without evidence shows first: of the worst class the largest error.
function worstPoint(data) {
  let worst = 0;
  const error = row => data.points.number(row, "error") || 0;
  for (let row = 1; row < data.points.count; row++) {
    const by = data.classOf[row] - data.classOf[worst];
    if (by > 0 || (by === 0 && error(row) > error(worst))) worst = row;
  }
  return worst;
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

