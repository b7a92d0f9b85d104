// Around an answer: the address bar, the live region, and what to say when no answer comes.
import { say } from "./status.js";

const REST_MS = 400;
const SPEAK_MS = 600;
const form = document.getElementById("question");
const failure = document.getElementById("failure");
const offline = document.getElementById("offline");
const card = () => document.getElementById("verdict-card");
const NEW_PAGE = new Set(["model", "gpu"]); // what Back undoes; everything else replaces the address

let asked = null; // the last question sent, so that `change` after `input` does not ask it twice
let timers = [];
let push = false;
let shown = location.pathname + location.search; // what the address bar names

form.addEventListener("htmx:config:request", (event) => {
  const question = new URLSearchParams(event.detail.ctx.request.body).toString();
  if (question === asked) event.preventDefault();
  asked = question;
});
form.addEventListener("input", (event) => NEW_PAGE.has(event.target.name) && (push = true));
form.addEventListener("change", (event) => NEW_PAGE.has(event.target.name) && (push = true));
form.addEventListener("submit", (event) => event.preventDefault()); // Enter in a field: its `change` has already asked

function address() {
  const permalink = card().dataset.permalink;
  if (permalink === shown) return;
  try {
    // Browsers refuse more than about a hundred of these in half a minute.
    if (push) history.pushState(null, "", permalink);
    else history.replaceState(null, "", permalink);
    push = false;
    shown = permalink;
  } catch {
    // the next rest writes it
  }
}

function units() {
  for (const link of document.querySelectorAll("[data-units]")) {
    const url = new URL(card().dataset.permalink, location.href);
    if (link.dataset.units === "gb") url.searchParams.set("units", "gb");
    else url.searchParams.delete("units");
    link.href = url.pathname + url.search;
  }
}

form.addEventListener("htmx:after:swap", () => {
  failure.hidden = true;
  timers.forEach(clearTimeout);
  timers = [setTimeout(address, REST_MS), setTimeout(() => say(card().dataset.spoken), SPEAK_MS)];
  units();
});

function failed() {
  asked = null;
  for (const place of document.querySelectorAll(".still-shown")) place.textContent = document.getElementById("asked").textContent;
  offline.hidden = navigator.onLine;
  failure.hidden = !navigator.onLine;
}

form.addEventListener("htmx:error", failed);
form.addEventListener("htmx:response:error", failed);
const again = () => form.dispatchEvent(new Event("change", { bubbles: true }));
document.getElementById("again").addEventListener("click", again);
form.addEventListener("stowage:whole", () => {
  asked = null;
  again();
});
window.addEventListener("offline", failed);
window.addEventListener("online", () => {
  offline.hidden = true;
  again();
});

// Back and forward between questions load the page of that address; moving between sections does not.
window.addEventListener("popstate", () => location.pathname + location.search !== shown && location.reload());
