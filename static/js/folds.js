// What the visitor has opened in the answer stays open when the next answer arrives.
// Live updates leave out what is folded: unfolding it asks for the answer again.
const answer = document.getElementById("answer");
const form = document.getElementById("question");
const open = new Set();

form.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  ctx.request.headers["Stowage-Open"] = [...open].join(" ");
});

function fill(id) {
  if (open.has(id) && document.getElementById(id)?.dataset.folded !== undefined) {
    form.dispatchEvent(new CustomEvent("stowage:whole"));
  }
}

function show(id) {
  const opened = open.has(id);
  document.getElementById(id)?.classList.toggle("is-open", opened);
  answer.querySelector(`[aria-controls="${id}"]`)?.setAttribute("aria-expanded", opened);
}

answer.addEventListener("click", (event) => {
  const id = event.target.closest("[aria-expanded]")?.getAttribute("aria-controls");
  if (!id) return;
  if (!open.delete(id)) open.add(id);
  show(id);
  fill(id);
});

answer.addEventListener(
  "click",
  (event) => {
    const details = event.target.closest("summary")?.parentElement;
    if (!details) return;
    if (details.open) open.delete(details.id);
    else open.add(details.id);
    fill(details.id);
  },
  true,
);

function settle() {
  for (const id of open) {
    const found = document.getElementById(id);
    if (found?.tagName === "DETAILS") found.open = true;
    else show(id);
  }
}

document.addEventListener("htmx:after:swap", settle);
document.addEventListener("stowage:section", settle);
