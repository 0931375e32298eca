// The table of pairs to type: grows by itself, takes a pasted table, and hands its rows to the page.

const ROWS = 10; // Empty rows at the beginning.
const body = element.querySelector("tbody");
const names = [...element.querySelectorAll("th[scope=col]")].map((cell) => cell.textContent);
const fields = () => [...body.querySelectorAll("input")];

function addRow() {
  const row = body.insertRow();
  for (const name of names) {
    const field = row.insertCell().appendChild(document.createElement("input"));
    field.setAttribute("aria-label", `${name} ${body.rows.length}`);
    field.maxLength = Number(body.dataset.longest);
  }
}

function handOver() {
  const texts = fields().map((field) => field.value);
  if (texts.slice(-2).some(Boolean)) addRow();
  props.value = texts.flatMap((text, i) => (i % 2 ? [] : [[text, texts[i + 1]]]));
  trigger("input");
}

function paste(event) {
  const text = event.clipboardData.getData("text").replace(/\r?\n$/, "");
  if (!/[\t\n]/.test(text)) return;
  event.preventDefault();
  let place = fields().indexOf(event.target);
  for (const line of text.split(/\r?\n/)) {
    for (const [i, cell] of line.split("\t").slice(0, 2 - (place % 2)).entries()) {
      while (!fields()[place + i]) addRow();
      fields()[place + i].value = cell;
    }
    place += 2;
  }
  handOver();
}

function goOn(event) {
  if (event.key !== "Enter" || event.isComposing) return; // Enter also ends a Korean syllable.
  event.preventDefault();
  fields()[fields().indexOf(event.target) + 1]?.focus();
}

for (let i = 0; i < ROWS; i++) addRow();
body.addEventListener("change", handOver);
body.addEventListener("input", () => fields().slice(-2).some((field) => field.value) && addRow());
body.addEventListener("paste", paste);
body.addEventListener("keydown", goOn);
