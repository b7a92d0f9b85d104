// The panel that stands for a long grouped <select>: a search field over a list, groups at the left.
import { coded, forget, keepFirst, keepLast, yours } from "./own-hardware.js";
import { candidates, reported, shortName } from "./own-gpu.js";
import { addChips, chosen, draw, drawRail } from "./picker-list.js";
import { entry } from "./picker-search.js";
import { known, load, stop } from "./picker-verdicts.js";
import { read, write } from "./storage.js";

const RECENT = 6;
const panel = document.getElementById("picker");
const input = document.getElementById("picker-input");
const list = document.getElementById("picker-list");
const rail = document.getElementById("picker-rail");
const foundStatus = document.getElementById("picker-found");
const asks = document.getElementById("picker-question");
const finder = document.getElementById("picker-find");
const state = { words: panel.dataset, star: document.getElementById("picker-star"), chips: document.getElementById("picker-chips") };
let entries = [];
let select = null;
let button = null;
let touched = false; // the visitor has moved in the list: nothing in it may change its place

const options = () => [...list.querySelectorAll("[role=option]")];
const active = () => list.querySelector(".is-active");
const ofHardware = () => select.id === "gpu";

function activate(option) {
  active()?.classList.remove("is-active");
  option?.classList.add("is-active");
  option?.scrollIntoView({ block: "nearest" });
  for (const owner of [input, list]) {
    if (option) owner.setAttribute("aria-activedescendant", option.id);
    else owner.removeAttribute("aria-activedescendant");
  }
}

function show() {
  const found = chosen(entries, { ...state, text: input.value });
  draw(list, found, state);
  foundStatus.textContent = panel.dataset.found.replace("{n}", found.total);
  activate((!input.value && list.querySelector("[aria-selected=true]")) || options()[0]);
}

// Hardware is kept with its count, as one's own machine; of models the names are kept.
function readYours() {
  if (!ofHardware()) {
    state.yours = read(`yours.${select.id}`, []);
    return;
  }
  const machines = yours();
  state.yours = machines.map(({ gpu }) => gpu);
  const listed = [...select.options].map((option) => entry(option, option.parentElement.label ?? ""));
  const mixed = machines.filter(({ gpu }) => !listed.some(({ value }) => value === gpu)).map(({ gpu, name }) => entry(new Option(name || gpu, gpu), ""));
  entries = [...mixed, ...listed].map((e) => ({ ...e, own: machines.find(({ gpu }) => gpu === e.value) }));
}

function open(field) {
  select = document.getElementById(field.dataset.picker);
  button = field.querySelector(".picker-button");
  const label = field.querySelector("label").textContent;
  for (const named of [panel, input, list]) named.setAttribute("aria-label", label);
  entries = [...select.options].map((option) => entry(option, option.parentElement.label ?? ""));
  Object.assign(state, { value: select.value, rail: "", reported: null, verdicts: known(select.id), recent: [...new Set([select.value, ...read(`recent.${select.id}`, [])])] });
  readYours();
  input.value = "";
  touched = false;
  finder.hidden = !ofHardware();
  asks.textContent = state.verdicts?.question ?? "";
  const room = window.innerWidth - button.getBoundingClientRect().right;
  const x = Math.min(button.getBoundingClientRect().right + 24, window.innerWidth - Math.min(864, window.innerWidth) - 16);
  panel.style.setProperty("--picker-x", `${Math.max(16, room > 200 ? x : 16)}px`);
  button.setAttribute("aria-expanded", "true");
  panel.showModal();
  drawRail(rail, entries, state);
  show();
  input.focus();
  if (!state.verdicts) judge();
}

async function judge() {
  const field = select.id;
  const found = await load(field).catch(() => null); // without it the list stays as it is
  if (!found || !panel.open || select.id !== field) return;
  state.verdicts = found;
  asks.textContent = found.question;
  drawRail(rail, entries, state);
  if (touched) addChips(list, state);
  else show();
}

// One's own machine is chosen whole: its count, its RAM, its system.
function put(machine) {
  const form = select.form;
  for (const name of ["n", "ram", "os"]) {
    const field = form.querySelector(`[name="${name}"]`);
    const value = machine[name] ?? "";
    if (field) field.value = value;
    else if (value) document.getElementById("carried").append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  if (![...select.options].some(({ value }) => value === machine.gpu)) select.add(new Option(machine.name, machine.gpu));
}

function choose(value) {
  const picked = entries.find((e) => e.value === value);
  panel.close();
  if (!picked) return;
  write(`recent.${select.id}`, [value, ...state.recent.filter((other) => other !== value)].slice(0, RECENT));
  document.getElementById(`${select.id}-name`).textContent = picked.name;
  document.getElementById(`${select.id}-facts`).textContent = picked.columns.join(" · "); // the answer brings the rest
  if (select.value === value && !picked.own) return;
  if (picked.own) put(picked.own);
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

function keep(value) {
  const had = state.yours.includes(value);
  if (ofHardware()) {
    const { name } = entries.find((e) => e.value === value);
    const machine = { gpu: value, n: "1", name };
    if (had) forget(value);
    else (coded() ? keepLast : keepFirst)(machine);
    readYours();
  } else {
    state.yours = had ? state.yours.filter((other) => other !== value) : [...state.yours, value];
    write(`yours.${select.id}`, state.yours);
  }
  drawRail(rail, entries, state);
  for (const option of options().filter((one) => one.dataset.value === value)) {
    option.querySelector(".star").classList.toggle("is-yours", state.yours.includes(value));
  }
}

// The browser's own word for its GPU, as a list to choose from: it is a proposal, and may be several devices.
async function find() {
  const renderer = await reported();
  const found = renderer ? candidates(renderer, entries) : [];
  const words = renderer ? (found.length ? panel.dataset.reports : panel.dataset.unlisted) : panel.dataset.silent;
  state.reported = found.length ? { values: found.map(({ value }) => value) } : null;
  state.rail = state.reported ? "reported" : "";
  input.value = "";
  drawRail(rail, entries, state);
  show();
  foundStatus.textContent = words.replace("{name}", shortName(renderer));
}

function onKey(event) {
  const all = options();
  const at = all.indexOf(active());
  const inField = event.target === input && input.value;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: inField ? undefined : 0, End: inField ? undefined : all.length - 1 }[event.key];
  if (to !== undefined) activate(all[Math.min(Math.max(to, 0), all.length - 1)]);
  else if (event.key === "Enter") choose(active()?.dataset.value);
  else if (event.key === "s" && event.target === list && active()) keep(active().dataset.value);
  else return;
  touched = true;
  event.preventDefault();
}

input.addEventListener("input", show);
input.addEventListener("keydown", onKey);
list.addEventListener("keydown", onKey);
list.addEventListener("pointermove", () => (touched = true));
list.addEventListener("pointerdown", () => (touched = true));
list.addEventListener("click", ({ target }) => {
  const value = target.closest("[role=option]")?.dataset.value;
  if (value) (target.closest(".star") ? keep : choose)(value);
});
rail.addEventListener("click", ({ target }) => {
  const pressed = target.closest("[data-rail]");
  if (!pressed) return;
  state.rail = pressed.dataset.rail;
  for (const other of rail.children) other.setAttribute("aria-pressed", other === pressed);
  show();
});
panel.addEventListener("click", (event) => event.target === panel && panel.close());
finder.addEventListener("click", find);
document.getElementById("picker-close").addEventListener("click", () => panel.close());
panel.addEventListener("close", () => {
  stop();
  button.setAttribute("aria-expanded", "false");
  button.focus();
});
for (const field of document.querySelectorAll("[data-picker]")) {
  field.querySelector(".picker-button").addEventListener("click", () => open(field));
  field.querySelector("label").addEventListener("click", (event) => {
    event.preventDefault();
    field.querySelector(".picker-button").focus();
  });
}
