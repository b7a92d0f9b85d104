// Blocks that the server leaves out of an answer because the page shows them already (calculator/web/blocks.py).
const form = document.getElementById("question");
const MOST = 64;
let whole = false; // the next answer must leave nothing out
let differs = false; // this answer left out what the page does not show

form.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  if (whole) return;
  const keys = [...document.querySelectorAll("[data-key]")].map(({ dataset }) => dataset.key);
  ctx.request.headers["Stowage-Shown"] = keys.slice(0, MOST).join(" ");
});

// False leaves the element that is shown as it is; what comes later (later.js) replaces it then.
function keep(shown, { newNode }) {
  if (newNode.dataset?.later !== undefined && shown.id === newNode.id) {
    shown.dataset.later = newNode.dataset.later;
    return false;
  }
  if (newNode.dataset?.same === undefined) return true;
  differs ||= shown.dataset.key !== newNode.dataset.key;
  return false;
}

window.htmx.registerExtension("stowage-blocks", { htmx_before_morph_node: keep });

form.addEventListener("htmx:after:swap", () => {
  whole = differs || document.querySelector("[data-same]") !== null;
  differs = false;
  if (whole) form.dispatchEvent(new CustomEvent("stowage:whole"));
});
