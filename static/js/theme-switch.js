// The switch at the top right: as the system, light, dark. theme.js applies the choice before the next page paints.
const button = document.getElementById("theme-switch");
const words = document.getElementById("theme-words");
const ORDER = ["system", "light", "dark"];
const html = document.documentElement;

function show() {
  words.textContent = button.dataset[html.dataset.theme ?? "system"];
  button.title = words.textContent;
}

export function nextTheme() {
  const now = html.dataset.theme ?? "system";
  const next = ORDER[(ORDER.indexOf(now) + 1) % ORDER.length];
  try {
    if (next === "system") localStorage.removeItem("stowage.theme");
    else localStorage.setItem("stowage.theme", next);
  } catch {
    // storage may be forbidden; the choice holds for this page
  }
  if (next === "system") delete html.dataset.theme;
  else html.dataset.theme = next;
  show();
  document.dispatchEvent(new Event("stowage:theme"));
}

if (button) {
  button.addEventListener("click", nextTheme);
  show();
}
