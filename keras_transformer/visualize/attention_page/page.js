// Weights in thousandths: data.weights[kind][layer][head][row][column], from the row's token to the column's.
const data = JSON.parse(document.getElementById("data").textContent);
const MEAN = -1; // Stands for the mean of all heads.
const DENSE = 14; // Maximum number of columns of a matrix with numbers; the tokens always show them.

const state = {
  language: data.language ?? navigator.languages.map((tag) => tag.split("-")[0]).find((tag) => tag in WORDS) ?? "en",
  kind: "cross",
  layer: data.weights.cross.length - 1,
  head: MEAN,
  row: 0,
  pointed: null, // The row under the pointer, which temporarily replaces the selected one.
};
let matrix, most; // The weights of the selection, and the maximum over all heads, so that shades are comparable.

const root = document.documentElement;
const percents = (language) => [language, new Intl.NumberFormat(language, { style: "percent" })];
const formats = Object.fromEntries(Object.keys(WORDS).map(percents));
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const byId = (id) => document.getElementById(id);
const words = () => WORDS[state.language];
const heads = () => data.weights[state.kind][state.layer];
const weightsOf = (head) => (head === MEAN ? mean(heads()) : heads()[head]);
const nameOf = (head) => (head === MEAN ? words().mean : words().headName(head + 1));
const looking = () => (state.kind === "encoder" ? data.question : data.answer);
const lookedAt = () => (state.kind === "decoder" ? data.decoder_input : data.question);
const isDark = () => (root.style.colorScheme || (prefersDark.matches ? "dark" : "light")) === "dark";
const isToCome = (row, column) => state.kind === "decoder" && column > row;

function mean(matrices) {
  const cell = (i, j) => matrices.reduce((sum, one) => sum + one[i][j], 0) / matrices.length;
  return matrices[0].map((line, i) => line.map((_, j) => cell(i, j)));
}

function percent(weight) {
  return formats[state.language].format(weight / 1000);
}

// Elements.

function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

// Writes a text from the chatbot, and sets its language.
function write(element, text) {
  element.textContent = text;
  element.lang = /\p{Script=Hangul}/u.test(text) ? "ko" : "";
  return element;
}

function addChoice(name, value, ...children) {
  const input = make("input");
  Object.assign(input, { type: "radio", name, value, checked: state[name] === value });
  input.addEventListener("change", () => choose({ [name]: value }));
  // After a selection by pointer, the arrow keys step through tokens; after one by keyboard, they keep selecting.
  input.addEventListener("click", (event) => event.detail > 0 && input.blur());
  byId(`${name}s`).append(make("label", "choice", input, ...children));
}

function addChoices() {
  for (const kind of Object.keys(data.weights)) {
    const name = make("span");
    name.dataset.text = kind;
    addChoice("kind", kind, name);
  }
  data.weights.cross.forEach((_, layer) => addChoice("layer", layer, String(layer + 1)));
  for (let head = MEAN; head < heads().length; head++) {
    addChoice("head", head, make("canvas"), make("span"));
  }
}

// Rendering: everything after a selection, only the row after a step.

function choose(change) {
  Object.assign(state, { pointed: null }, change);
  state.row = Math.min(state.row, looking().length - 1);
  matrix = weightsOf(state.head);
  most = Math.max(1, ...heads().flat(2));
  showWords();
  showHeads();
  showTokens();
  showMatrix();
  showRow();
}

function showWords() {
  root.lang = state.language;
  document.title = `${words().title}: ${data.question_text}`;
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = words()[element.dataset.text];
  }
  byId("theme").textContent = isDark() ? words().light : words().dark;
  byId("looking-title").textContent = words()[`${state.kind}Looks`];
  byId("looked-at-title").textContent = words()[`${state.kind}At`];
  byId("matrix-title").textContent = words().matrix(state.layer + 1, nameOf(state.head));
  byId("most").textContent = percent(most);
  byId("so-far").hidden = state.kind === "encoder";
}

function showHeads() {
  for (const choice of byId("heads").querySelectorAll(".choice")) {
    const head = Number(choice.querySelector("input").value);
    choice.querySelector("span").textContent = nameOf(head);
    drawThumbnail(choice.querySelector("canvas"), weightsOf(head));
  }
}

function drawThumbnail(canvas, weights) {
  Object.assign(canvas, { width: weights[0].length, height: weights.length });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(canvas).color;
  weights.forEach((line, i) =>
    line.forEach((weight, j) => {
      context.globalAlpha = weight / most;
      context.fillRect(j, i, 1, 1);
    }),
  );
}

function showTokens() {
  const options = looking().map((token) => {
    const option = make("li", "", write(make("span", "token"), token));
    option.setAttribute("role", "option");
    return option;
  });
  byId("looking").replaceChildren(...options);
  const targets = lookedAt().map((token) =>
    make("li", "", write(make("span", "token shade"), token), make("span", "bar"), make("span", "share")),
  );
  byId("looked-at").replaceChildren(...targets);
}

function showMatrix() {
  const names = lookedAt().map((token) => heading("col", token));
  const line = (token, i) => make("tr", "", heading("row", token), ...matrix[i].map((_, j) => cell(i, j)));
  const head = make("thead", "", make("tr", "", make("td"), ...names));
  const table = byId("matrix").querySelector("table");
  table.className = names.length > DENSE ? "dense" : "";
  table.replaceChildren(head, make("tbody", "", ...looking().map(line)));
}

function heading(scope, token) {
  const element = make("th", "", write(make("span"), token));
  element.scope = scope;
  return element;
}

function cell(i, j) {
  if (isToCome(i, j)) return make("td");
  const element = make("td", "shade", make("span", "", percent(matrix[i][j])));
  element.title = `${looking()[i]} → ${lookedAt()[j]}: ${percent(matrix[i][j])}`;
  element.style.setProperty("--share", matrix[i][j] / most);
  return element;
}

function showRow() {
  const row = state.pointed ?? state.row;
  const weights = matrix[row];
  showLooking(row);
  showLookedAt(row, weights);
  showWritten(row);
  const first = weights.indexOf(Math.max(...weights));
  byId("in-words").textContent = words().inWords(looking()[row], lookedAt()[first], percent(weights[first]));
  byId("place").textContent = words().place(row + 1, looking().length);
  byId("matrix").querySelectorAll("tbody tr").forEach((line, i) => line.classList.toggle("here", i === row));
}

function showLooking(row) {
  [...byId("looking").children].forEach((option, i) => {
    option.tabIndex = i === state.row ? 0 : -1;
    option.setAttribute("aria-selected", i === row);
    option.classList.toggle("here", i === row);
    option.classList.toggle("to-come", state.kind !== "encoder" && i > row);
  });
}

function showLookedAt(row, weights) {
  [...byId("looked-at").children].forEach((target, j) => {
    const [token, bar, share] = target.children;
    const toCome = isToCome(row, j);
    target.classList.toggle("to-come", toCome);
    share.textContent = toCome ? "–" : percent(weights[j]);
    token.style.setProperty("--share", weights[j] / most);
    bar.style.setProperty("--share", weights[j] / 1000);
  });
}

// The answer before a token, and the text that the token added or, as Hangul letters do, changed.
function showWritten(row) {
  if (state.kind === "encoder") return;
  const [before, after] = [data.partial_answers[row - 1] ?? "", data.partial_answers[row]].map((text) => [...text]);
  const differs = before.findIndex((sign, i) => sign !== after[i]);
  const kept = differs < 0 ? before.length : differs;
  write(byId("kept"), after.slice(0, kept).join(""));
  write(byId("added"), after.slice(kept).join(""));
}

// Navigation.

function go(row) {
  state.row = Math.max(0, Math.min(row, looking().length - 1));
  state.pointed = null;
  showRow();
  if (byId("looking").contains(document.activeElement)) byId("looking").children[state.row].focus();
}

function point(row) {
  if (state.pointed === row) return;
  state.pointed = row;
  showRow();
}

// Adds pointer and click handlers: `rowOf` returns the row of an event's element, or undefined.
function follow(container, rowOf) {
  container.addEventListener("click", (event) => rowOf(event.target) >= 0 && go(rowOf(event.target)));
  container.addEventListener("pointerleave", () => point(null));
  container.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && rowOf(event.target) >= 0) point(rowOf(event.target));
  });
}

// Arrow keys step unless they have another use; Home and End jump among the tokens.
function stepByKey(event) {
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  const jumps = { Home: -Infinity, End: Infinity };
  const move = steps[event.key] ?? (event.target.closest("#looking") && jumps[event.key]);
  const isTaken = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!move || isTaken || event.target.closest("input, .scroll")) return;
  event.preventDefault();
  go(state.row + move);
}

function changeTheme() {
  root.style.colorScheme = isDark() ? "light" : "dark";
  choose({});
}

function begin() {
  write(byId("asked"), data.question_text);
  write(byId("answered"), data.partial_answers.at(-1) ?? "");
  addChoices();
  byId("language").addEventListener("click", () => choose({ language: state.language === "ko" ? "en" : "ko" }));
  byId("theme").addEventListener("click", changeTheme);
  prefersDark.addEventListener("change", () => choose({}));
  byId("back").addEventListener("click", () => go(state.row - 1));
  byId("on").addEventListener("click", () => go(state.row + 1));
  document.addEventListener("keydown", stepByKey);
  byId("looking").addEventListener("focusin", (event) => go(indexIn(byId("looking"), event.target)));
  follow(byId("looking"), (element) => indexIn(byId("looking"), element));
  follow(byId("matrix").querySelector("table"), (element) => element.closest("tbody tr")?.sectionRowIndex);
  document.querySelector("main").hidden = false;
  choose({});
}

function indexIn(list, element) {
  return [...list.children].indexOf(element.closest("li"));
}

begin();
