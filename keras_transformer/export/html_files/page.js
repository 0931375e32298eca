// The page: the conversation, its settings, and what the file says of itself.

const PAUSE = 30; // Milliseconds between two pauses of a stream, in which the browser draws.
const TYPING = 200; // Milliseconds without a key before attention is drawn.
const SLOW = 1000; // Milliseconds: if tracing attention takes longer, it waits until the question is sent.
const BEAMS = { greedy: 1, beam: 4 };

const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const about = JSON.parse(document.getElementById("about").textContent);
const choices = { way: GENERATE, decoding: "greedy" };
let language = navigator.languages.map((tag) => tag.split("-")[0]).find((tag) => tag in WORDS) ?? "en";
let bot = null;
let conversation = []; // Questions and answers, alternating.
let asked = ""; // The last question.
let typed = 0; // The timer that waits for the end of typing.
let tracing = 0; // Milliseconds that tracing the last question took.

const byId = (id) => document.getElementById(id);
const words = () => WORDS[language];
const isDark = () => (root.style.colorScheme || (prefersDark.matches ? "dark" : "light")) === "dark";
const percent = (share) => new Intl.NumberFormat(language, { style: "percent" }).format(share);
const decimal = (number) => number.toFixed(2);
const pause = () => new Promise((resume) => setTimeout(resume));
const inOneLine = (text) => text.split(BETWEEN).join(" / ");

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

// Makes an element with a text of the page, which follows its language.
function named(name) {
  const element = make("span");
  element.dataset.text = name;
  return element;
}

function addChoice(name, target, value, chosen, ...children) {
  const input = make("input");
  Object.assign(input, { type: "radio", name, value, checked: target[name] === value });
  input.addEventListener("change", () => {
    target[name] = value;
    chosen();
  });
  byId(`${name}s`).append(make("label", "choice", input, ...children));
}

function showWords() {
  root.lang = language;
  document.title = byId("title").textContent = about?.options.title ?? words().title;
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = words()[element.dataset.text];
  }
  byId("theme").textContent = isDark() ? words().light : words().dark;
  if (bot) showFacts();
  showAttention();
}

// The conversation.

function addMessage(who, text = "") {
  const body = write(make("p", "text"), text);
  const message = make("li", who, make("span", "who", named(who)), body);
  message.querySelector(".who span").textContent = words()[who];
  byId("log").append(message);
  message.scrollIntoView({ block: "nearest" });
  return { message, body };
}

// Answers a question in the conversation.
async function ask(question) {
  const { turns } = bot.settings.config;
  const query = [...(turns > 1 ? conversation.slice(1 - turns) : []), question].join(BETWEEN);
  addMessage("you", question);
  asked = question;
  const { message, body } = addMessage("bot");
  const guide = bot.guidance(query, question, choices.way);
  const unknown = guide ? [] : bot.unknownOnly(query, question, choices.way);
  let reply = "";
  if (guide) {
    reply = guide.reply;
    write(body, reply || (guide.near ? words().suggestions : words().examples));
    const suggested = guide.questions.map((one) => make("li", "", suggestion(one)));
    if (suggested.length) message.append(make("ul", "suggestions", ...suggested));
  } else if (unknown.length) {
    write(body, words().unknown(unknown.join(" ")));
  } else {
    reply = await streamAnswer(query, message, body);
  }
  conversation.push(question, reply);
  message.scrollIntoView({ block: "nearest" });
}

function suggestion(question) {
  const button = write(make("button"), inOneLine(question));
  button.type = "button";
  button.addEventListener("click", () => send(question));
  return button;
}

async function streamAnswer(query, message, body) {
  let drawn = performance.now();
  let answer;
  for (answer of bot.answer(query, choices.way, BEAMS[choices.decoding])) {
    write(body, answer.text);
    if (performance.now() - drawn > PAUSE) {
      await pause();
      drawn = performance.now();
    }
  }
  if (!answer.text) body.textContent = words().nothing;
  if (answer.unsure && answer.sources.length) {
    const nearest = inOneLine(answer.sources[0].exchange.question);
    message.append(write(make("p", "unsure"), words().unsure(nearest)));
  }
  message.append(sourcesOf(answer));
  return answer.text;
}

// The sources of an answer: of a retrieved one, the exchanges with this answer; of a generated one, the nearest ones.
function sourcesOf({ text, score, sources }) {
  const isRetrieved = score === null;
  const similarity = isRetrieved ? decimal(sources[0]?.similarity ?? 0) : "";
  const title = isRetrieved ? words().retrievedFrom(similarity) : words().generatedBy(decimal(score));
  const cited = isRetrieved ? sources.filter(({ exchange }) => exchange.answer === text) : sources;
  const none = bot.index ? words().noSimilar : words().noDatastore;
  const hint = isRetrieved ? [] : [make("p", "", cited.length ? words().nearest : none)];
  const list = make("ul", "", ...cited.map(sourceLine));
  return make("details", "sources", make("summary", "", title), ...hint, list);
}

function sourceLine({ exchange, similarity }) {
  const question = write(make("span", "known"), inOneLine(exchange.question));
  return make("li", "", `[${decimal(similarity)}] ${words().place(exchange.file, exchange.row)}: `, question);
}

async function send(question) {
  if (isBlank(question) || byId("ask").inert) return;
  byId("ask").inert = true;
  await ask(question);
  byId("ask").inert = false;
  byId("question").focus();
  clearTimeout(typed);
  draw(question);
}

function forget() {
  conversation = [];
  asked = "";
  byId("log").replaceChildren();
  byId("question").focus();
}

// Draws the attention of a question, if the panel is open.
function draw(question) {
  if (isBlank(question) || !byId("inside").open) return;
  const begun = performance.now();
  traceAttention(question);
  tracing = performance.now() - begun;
}

function drawAfterTyping() {
  clearTimeout(typed);
  if (tracing < SLOW) typed = setTimeout(() => draw(byId("question").value), TYPING);
}

// What the file says of itself.

function showFacts() {
  const { corpus, run, options, made } = about ?? {};
  const facts = about && {
    corpus: `${corpus.name}, ${words().pairs(corpus.pairs.toLocaleString(language))}`,
    licence: corpus.licence || words().notKnown,
    run: run.id,
    quantization: options.quantization ?? "float32",
    made: new Date(made).toLocaleString(language),
  };
  const exchanges = bot.index ? { exchanges: bot.index.exchanges.length.toLocaleString(language) } : {};
  const lines = Object.entries({ ...facts, ...exchanges });
  byId("facts").replaceChildren(...lines.flatMap(([name, text]) => [make("dt", "", words()[name]), make("dd", "", text)]));
}

// Compares the answers of the whole model with those of the run, which were stored when it was exported.
async function compare() {
  switchAllOn();
  const { questions, answers } = bot.settings.check;
  let equal = 0;
  for (const [i, question] of questions.entries()) {
    equal += bot.reply(question).text === answers[i];
    byId("checked").textContent = `${i + 1} / ${questions.length}`;
    await pause();
  }
  byId("checked").textContent = words().checked(equal, questions.length);
}

function addWays() {
  const { way } = bot.settings.answering;
  choices.way = way;
  for (const one of new Set([way, GENERATE])) addChoice("way", choices, one, () => {}, named(one));
  byId("ways").hidden = way === GENERATE;
  for (const one of Object.keys(BEAMS)) addChoice("decoding", choices, one, () => {}, named(one));
}

function changeTheme() {
  root.style.colorScheme = isDark() ? "light" : "dark";
  showWords();
}

function changeLanguage() {
  language = language === "ko" ? "en" : "ko";
  showWords();
}

function listen() {
  byId("language").addEventListener("click", changeLanguage);
  byId("theme").addEventListener("click", changeTheme);
  prefersDark.addEventListener("change", showWords);
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = byId("question").value;
    byId("question").value = "";
    send(question);
  });
  byId("question").addEventListener("input", drawAfterTyping);
  byId("forget").addEventListener("click", forget);
  byId("inside").addEventListener("toggle", () => draw(byId("question").value || asked));
  byId("check").addEventListener("click", compare);
}

async function begin() {
  showWords();
  listen();
  await pause(); // Draws before the work begins.
  try {
    bot = new Chatbot(await readData(byId("data").textContent));
  } catch (error) {
    byId("loading").textContent = words().failed(error.message);
    return;
  }
  byId("data").remove();
  addWays();
  addViews();
  byId("inside").open = !bot.settings.memorized; // Who asks a FAQ does not study its model.
  byId("loading").hidden = true;
  document.querySelector("main").hidden = false;
  showWords();
  byId("question").focus();
}

begin();
