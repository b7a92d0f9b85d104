// "Keep as mine" at the hardware field, and the offer of a link that carries hardware from another browser.
import { decoded, forget, inWords, isAsked, keepFirst, keepLast, yours } from "./own-hardware.js";

const form = document.getElementById("question");
const button = document.getElementById("keep-mine");
const offer = document.getElementById("keep-offer");
const fieldNamed = (name) => form.querySelector(`[name="${name}"]`);
const valueOf = (name) => new FormData(form).get(name)?.trim() ?? "";
const digits = (text) => text.replace(/\D/g, "");

function nameOf(gpu, n) {
  const option = [...document.getElementById("gpu").options].find(({ value }) => value === gpu);
  const name = option?.textContent.trim() ?? "";
  return name && Number(n) > 1 ? `${n} × ${name}` : name;
}

function facts(ram, os) {
  const system = [...(fieldNamed("os")?.options ?? [])].find(({ value }) => value === os)?.textContent.trim();
  return [ram && button.dataset.ram.replace("{n}", ram), os && (system ?? os)].filter(Boolean).join(", ");
}

const complete = ({ gpu, n, ram, os }) => ({ gpu, n, ram, os, name: nameOf(gpu, n), facts: facts(ram, os) });

const present = () => complete({ gpu: valueOf("gpu"), n: digits(valueOf("n")) || "1", ram: valueOf("ram"), os: valueOf("os") });

const isKept = () => yours().some(isAsked);

function show() {
  const kept = isKept();
  button.setAttribute("aria-pressed", kept);
  button.querySelector("span").textContent = kept ? button.dataset.kept : button.dataset.keep;
}

button.addEventListener("click", () => (isKept() ? forget(valueOf("gpu")) : keepFirst(present())));
document.addEventListener("stowage:yours", show);
form.addEventListener("htmx:after:swap", show);
form.addEventListener("change", show);
show();

// What such a link names is kept only when the visitor says so.
function offered() {
  const code = /^#keep=(.+)$/.exec(location.hash)?.[1];
  if (!code) return;
  let machines = [];
  try {
    machines = decoded(decodeURIComponent(code)).map(complete).filter(({ name }) => name);
  } catch {
    return; // no text that an address may hold
  }
  if (!machines.length) return;
  offer.querySelector(".offered").textContent = machines.map(inWords).join("; ");
  offer.hidden = false;
  offer.addEventListener("click", ({ target }) => {
    const answer = target.closest("button")?.dataset.keep;
    if (!answer) return;
    if (answer === "yes") machines.forEach((machine, at) => (at ? keepLast : keepFirst)(machine));
    offer.hidden = true;
    history.replaceState(null, "", location.pathname + location.search);
    document.getElementById("verdict").focus();
  });
}
offered();
