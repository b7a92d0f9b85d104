// The panel that stands for a long grouped <select>: a search field over a list, groups at the left.
import { chosen, draw, drawRail } from "./picker-list.js";
import { entry } from "./picker-search.js";
import { read, write } from "./storage.js";

const RECENT = 6;
const panel = document.getElementById("picker");
const input = document.getElementById("picker-input");
const list = document.getElementById("picker-list");
const rail = document.getElementById("picker-rail");
const foundStatus = document.getElementById("picker-found");
const star = document.getElementById("picker-star");
const state = { words: panel.dataset, star };
let entries = [];
let select = null;
let button = null;

const options = () => [...list.querySelectorAll("[role=option]")];
const active = () => list.querySelector(".is-active");

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

function open(field) {
  select = document.getElementById(field.dataset.picker);
  button = field.querySelector(".picker-button");
  const label = field.querySelector("label").textContent;
  for (const named of [panel, input, list]) named.setAttribute("aria-label", label);
  entries = [...select.options].map((option) => entry(option, option.parentElement.label ?? ""));
  Object.assign(state, { value: select.value, rail: "", yours: read(`yours.${select.id}`, []), recent: [...new Set([select.value, ...read(`recent.${select.id}`, [])])] });
  input.value = "";
  const room = window.innerWidth - button.getBoundingClientRect().right;
  const x = Math.min(button.getBoundingClientRect().right + 24, window.innerWidth - Math.min(864, window.innerWidth) - 16);
  panel.style.setProperty("--picker-x", `${Math.max(16, room > 200 ? x : 16)}px`);
  button.setAttribute("aria-expanded", "true");
  panel.showModal();
  drawRail(rail, entries, state);
  show();
  input.focus();
}

function choose(value) {
  const picked = entries.find((e) => e.value === value);
  panel.close();
  if (!picked) return;
  write(`recent.${select.id}`, [value, ...state.recent.filter((other) => other !== value)].slice(0, RECENT));
  document.getElementById(`${select.id}-name`).textContent = picked.name;
  document.getElementById(`${select.id}-facts`).textContent = picked.columns.join(" · "); // the answer brings the rest
  if (select.value === value) return;
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

function keep(value) {
  state.yours = state.yours.includes(value) ? state.yours.filter((other) => other !== value) : [...state.yours, value];
  write(`yours.${select.id}`, state.yours);
  drawRail(rail, entries, state);
  for (const option of options().filter((one) => one.dataset.value === value)) {
    option.querySelector(".star").classList.toggle("is-yours", state.yours.includes(value));
  }
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
  event.preventDefault();
}

input.addEventListener("input", show);
input.addEventListener("keydown", onKey);
list.addEventListener("keydown", onKey);
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
document.getElementById("picker-close").addEventListener("click", () => panel.close());
panel.addEventListener("close", () => {
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
