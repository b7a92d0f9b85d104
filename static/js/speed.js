// The section Speed: what follows a live update when somebody looks at it (the open curve, measured results).
import { follow } from "./near.js";

const answer = document.getElementById("answer");
const form = document.getElementById("question");
const section = () => document.getElementById("speed");
const side = () => document.getElementById("speed-side");
let open = side()?.querySelector(".curve-tabs [aria-current]")?.dataset.tab ?? "context";

// --- what follows ---------------------------------------------------------------------------------------------------

function address() {
  if (!side()) return "";
  const url = new URL(section().dataset.section, location.href);
  url.searchParams.set("show", `speed-${open}`);
  return url.href;
}

function take(text) {
  const found = new DOMParser().parseFromString(text, "text/html");
  const focused = side().contains(document.activeElement) ? document.activeElement.id : "";
  for (const id of ["speed-side", "measured"]) {
    const fresh = found.getElementById(id);
    document.getElementById(id)?.replaceChildren(...(fresh ? fresh.childNodes : []));
  }
  // Targets are the visitor's: only what was never filled is taken over.
  const targets = document.getElementById("targets");
  const theirs = found.getElementById("targets");
  if (targets && theirs && !targets.querySelector("input")) targets.replaceChildren(...theirs.childNodes);
  dress();
  if (focused) document.getElementById(focused)?.focus();
}

const later = follow({ place: side, address, take });
if (side()?.firstElementChild) later.shows(address());

// --- tabs: links without a script -------------------------------------------------------------------------------------

const tabs = () => [...(side()?.querySelectorAll("[data-tab]") ?? [])];

function dress() {
  const list = document.getElementById("curve-tabs");
  if (!list) return;
  list.setAttribute("role", "tablist");
  for (const tab of tabs()) {
    const chosen = tab.dataset.tab === open;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", chosen);
    tab.setAttribute("aria-controls", "curve-panel");
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
  const panel = document.getElementById("curve-panel");
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", `tab-${open}`);
}

function choose(tab) {
  open = tab.dataset.tab;
  dress();
  tab.focus();
  later.load().catch(() => {
    location.href = tab.href;
  });
}

answer.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-tab]");
  if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(tab);
});

const MOVES = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

answer.addEventListener("keydown", (event) => {
  const tab = event.target.closest("[data-tab]");
  if (!tab) return;
  if (event.key === " ") {
    event.preventDefault();
    choose(tab);
  }
  if (!(event.key in MOVES)) return;
  event.preventDefault();
  const all = tabs();
  const move = MOVES[event.key];
  const at = Number.isFinite(move) ? (all.indexOf(tab) + move + all.length) % all.length : move > 0 ? all.length - 1 : 0;
  choose(all[at]);
});

// --- fields of the question that stand in this section ----------------------------------------------------------------

for (const type of ["input", "change"]) {
  document.addEventListener(type, ({ target }) => {
    if (target.form === form && !form.contains(target)) form.dispatchEvent(new Event(type, { bubbles: true }));
  });
}

function watch() {
  dress();
  later.watch();
}

watch();
document.addEventListener("htmx:after:swap", watch);
