// ---- main: unpacks the data, then brings the page to life

function makeTheme() {
  const toggle = byId("theme"), names = ["system", "light", "dark"];
  let at = 0;
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    at = (at + 1) % names.length;
    document.documentElement.dataset.theme = names[at];
    toggle.textContent = `Theme: ${names[at]}`;
    state.tell("look");
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.tell("look"));
}

async function start() {
  makeTheme();
  try {
    state.data = await readData();
  } catch (error) {
    byId("problem").textContent = `The data of this page cannot be read: ${error.message}. The browser may be too old.`;
    byId("problem").hidden = false;
    return;
  }
  const data = state.data;
  classify(data);
  new RowTable(data);
  if (data.tokens) {
    const show = () => byId("tokens").replaceChildren(tokenMap(data.tokens));
    state.on("look", show);
    show();
  }
  if (data.points.count > 0) {
    byId("close").hidden = false;
    byId("around").hidden = !data.flow;
    byId("along").hidden = data.points.count < 2;
    if (data.points.count > 1) new Chart(data);
    new Detail(data);
    new Flow(data);
    const evidence = data.causes.flatMap(cause => cause.rows);
    state.select(evidence.length > 0 ? evidence[0] : worstPoint(data));
  }
  document.body.dataset.ready = "";
}

start();
