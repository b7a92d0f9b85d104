// "On yours" in the top bar of every page: one tap to the calculator on the hardware that the visitor keeps.
import { coded, forget, inWords, isAsked, questionOn, yours } from "./own-hardware.js";
import { say } from "./status.js";

const bar = document.getElementById("yours");
const link = document.getElementById("yours-link");
const list = document.getElementById("yours-items");

const question = () => document.getElementById("verdict-card")?.dataset.permalink.replace(/^[^?]*\??/, "") ?? "";

function item(machine) {
  const row = document.createElement("li");
  const to = document.createElement("a");
  to.href = questionOn(question(), machine);
  to.textContent = inWords(machine);
  if (isAsked(machine)) to.setAttribute("aria-current", "true");
  const drop = document.createElement("button");
  drop.type = "button";
  drop.className = "as-link aside";
  drop.textContent = bar.dataset.forget;
  drop.setAttribute("aria-label", `${bar.dataset.forget}: ${inWords(machine)}`);
  drop.addEventListener("click", () => {
    forget(machine.gpu);
    (list.querySelector("a") ?? document.querySelector(".brand")).focus();
  });
  row.append(to, drop);
  return row;
}

function show() {
  const machines = yours();
  bar.hidden = !machines.length;
  if (!machines.length) return;
  link.href = questionOn(question(), machines[0]);
  link.title = inWords(machines[0]);
  if (isAsked(machines[0])) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  list.replaceChildren(...machines.map(item));
}

async function carry(button) {
  const machines = yours();
  const address = new URL(questionOn("", machines[0]), location.href);
  address.hash = `keep=${coded(machines)}`;
  const field = document.getElementById("yours-carry");
  field.value = address.href;
  try {
    await navigator.clipboard.writeText(address.href);
    say(button.dataset.done);
    button.textContent = button.dataset.done;
  } catch {
    field.hidden = false; // where the clipboard is forbidden, the link is ready to be copied by hand
    field.select();
  }
}

if (bar) {
  document.getElementById("yours-copy").addEventListener("click", (event) => carry(event.currentTarget));
  document.addEventListener("stowage:yours", show);
  document.addEventListener("htmx:after:swap", show);
  window.addEventListener("storage", show); // kept in another tab
  show();
}
