// Single keys. They rest while something is typed, with a modifier held, or when switched off in their own list (?).
import { nextTheme } from "./theme-switch.js";
import { read, write } from "./storage.js";

const dialog = document.getElementById("keys");
const on = document.getElementById("keys-on");
const press = (selector) => () => [...document.querySelectorAll(selector)].find((found) => found.checkVisibility())?.click();
const focus = (id) => () => {
  const field = document.getElementById(id);
  field?.focus();
  field?.select();
};

const KEYS = {
  m: press("#model-button"),
  h: press("#gpu-button"),
  c: focus("ctx"),
  u: focus("users"),
  1: press("#section-bar a[href='#memory']"),
  2: press("#section-bar a[href='#speed']"),
  y: press("[data-copy]"),
  t: nextTheme,
  g: press(".units a:not([aria-current])"),
};

if (on) {
  on.checked = read("keys", true);
  on.addEventListener("change", () => write("keys", on.checked));
  // Closing by a click beside it, as people expect.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest?.("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, dialog, [role=listbox]")) return;
  if (event.key === "?" && dialog) {
    dialog.showModal();
    return;
  }
  const action = KEYS[event.key];
  if (!action || on?.checked === false) return;
  event.preventDefault();
  action();
});
