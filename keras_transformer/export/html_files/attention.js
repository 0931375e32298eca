// The panel that draws the attention weights of a question and of the model's own answer.

const MEAN = -1; // Stands for the mean of all heads.
const DENSE = 14; // Maximum number of columns of a matrix with numbers.
const KINDS = ["cross", "encoder", "decoder"];

const view = { kind: "cross", layer: 0, head: MEAN };
let traced = null; // What `Chatbot.trace` returned.
let tracedQuestion = "";

const attentionHeads = () => bot.model.attentions(view.kind)[view.layer];
const rowTokens = () => (view.kind === "encoder" ? traced.question : traced.answer);
const columnTokens = () => (view.kind === "decoder" ? ["<start>", ...traced.answer.slice(0, -1)] : traced.question);
const nameOfHead = (head) => (head === MEAN ? words().mean : words().headName(head + 1));

// Returns the weights of a head of the chosen layer, a list of rows.
function weightsOf(head) {
  const rows = traced.weights[view.kind][view.layer];
  if (head !== MEAN) return rows.map((heads) => heads[head]);
  return rows.map((heads) => heads[0].map((_, j) => heads.reduce((sum, one) => sum + one[j], 0) / heads.length));
}

// Traces a question and draws its weights.
function traceAttention(question) {
  tracedQuestion = question;
  traced = bot.trace(question);
  byId("traced").hidden = false;
  showAttention();
}

function showAttention() {
  if (!traced) return;
  const most = Math.max(...traced.weights[view.kind][view.layer].flatMap((heads) => heads.flatMap((one) => [...one])));
  write(byId("traced-question"), tracedQuestion);
  write(byId("traced-answer"), traced.text || words().nothing);
  showThumbnails(most);
  showSwitches();
  showMatrix(weightsOf(view.head), most);
  byId("matrix-title").textContent = words().matrix(view.layer + 1, nameOfHead(view.head));
  byId("most").textContent = percent(most);
}

function showThumbnails(most) {
  for (const choice of byId("heads").querySelectorAll(".choice")) {
    const head = Number(choice.querySelector("input").value);
    choice.querySelector("span").textContent = nameOfHead(head);
    choice.classList.toggle("is-off", attentionHeads().off.has(head));
    drawThumbnail(choice.querySelector("canvas"), weightsOf(head), most);
  }
}

function drawThumbnail(canvas, weights, most) {
  Object.assign(canvas, { width: columnTokens().length, height: weights.length });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(canvas).color;
  weights.forEach((line, i) =>
    line.forEach((weight, j) => {
      context.globalAlpha = weight / most;
      context.fillRect(j, i, 1, 1);
    }),
  );
}

function showSwitches() {
  byId("switch").hidden = view.head === MEAN;
  byId("choose-head").hidden = view.head !== MEAN;
  byId("off").checked = attentionHeads().off.has(view.head);
  byId("off-name").textContent = words().switchOff(nameOfHead(view.head), view.layer + 1);
  const off = KINDS.flatMap((kind) =>
    bot.model.attentions(kind).flatMap((attention, layer) =>
      [...attention.off].sort().map((head) => words().offName(words()[kind], layer + 1, head + 1)),
    ),
  );
  byId("is-off").textContent = off.length ? words().isOff(off.join("; ")) : "";
  byId("all-on").hidden = !off.length;
}

function showMatrix(weights, most) {
  const names = columnTokens().map((token) => heading("col", token));
  const line = (token, i) => make("tr", "", heading("row", token), ...names.map((_, j) => cell(weights[i][j], most)));
  const head = make("thead", "", make("tr", "", make("td"), ...names));
  const table = byId("attention").querySelector("table");
  table.className = names.length > DENSE ? "dense" : "";
  table.replaceChildren(head, make("tbody", "", ...rowTokens().map(line)));
}

function heading(scope, token) {
  const element = make("th", "", write(make("span"), token));
  element.scope = scope;
  return element;
}

// A cell of the matrix, empty for later tokens.
function cell(weight, most) {
  if (weight === undefined) return make("td");
  const element = make("td", "shade", make("span", "", percent(weight)));
  element.style.setProperty("--share", weight / most);
  return element;
}

function switchHead(isOff) {
  attentionHeads().off[isOff ? "add" : "delete"](view.head);
  traceAttention(tracedQuestion);
}

function switchAllOn() {
  for (const kind of KINDS) for (const attention of bot.model.attentions(kind)) attention.off.clear();
  if (traced) traceAttention(tracedQuestion);
}

function addViews() {
  const { num_layers: numLayers, num_heads: numHeads } = bot.settings.config;
  view.layer = numLayers - 1;
  for (const kind of KINDS) addChoice("kind", view, kind, showAttention, named(kind));
  for (let layer = 0; layer < numLayers; layer++) addChoice("layer", view, layer, showAttention, String(layer + 1));
  for (let head = MEAN; head < numHeads; head++) {
    addChoice("head", view, head, showAttention, make("canvas"), make("span"));
  }
  byId("off").addEventListener("change", (event) => switchHead(event.target.checked));
  byId("all-on").addEventListener("click", switchAllOn);
}
