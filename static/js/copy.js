// Copy link: the permalink of the answer that is shown, even while a newer one is on its way.
import { say } from "./status.js";

function link() {
  const card = document.getElementById("verdict-card");
  return new URL(card?.dataset.permalink ?? location.href, location.href).href;
}

// Where the clipboard is forbidden, the link appears in a field, selected, ready for Ctrl-C.
function offer(button, text) {
  const field = document.createElement("input");
  field.className = "box copy-field";
  field.readOnly = true;
  field.value = text;
  field.setAttribute("aria-label", button.textContent.trim());
  button.replaceWith(field);
  field.select();
  field.focus();
  field.addEventListener("blur", () => field.replaceWith(button), { once: true });
}

async function copy(button) {
  const text = link();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    offer(button, text);
    return;
  }
  const words = button.querySelector("span");
  const before = button.dataset.words ?? words.textContent;
  button.dataset.words = before;
  words.textContent = button.dataset.done;
  say(button.dataset.done);
  setTimeout(() => (words.textContent = before), 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (button) copy(button);
});
