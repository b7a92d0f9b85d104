// What the visitor has opened in the answer stays open when the next answer arrives.
const answer = document.getElementById("answer");
const open = new Set();

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
});

answer.addEventListener(
  "click",
  (event) => {
    const details = event.target.closest("summary")?.parentElement;
    if (!details) return;
    if (details.open) open.delete(details.id);
    else open.add(details.id);
  },
  true,
);

document.addEventListener("htmx:after:swap", () => {
  for (const id of open) {
    const found = document.getElementById(id);
    if (found?.tagName === "DETAILS") found.open = true;
    else show(id);
  }
});
