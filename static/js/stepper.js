// − and + stop at the counts that real machines and the engine accept; any other number may be typed.
function steps(field) {
  return document.getElementById(`${field.id}-note`).dataset.steps.split(" ").filter(Boolean).map(Number);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-step]");
  if (!button) return;
  const field = document.getElementById(button.getAttribute("aria-controls"));
  const now = Number(field.value.replace(/,/g, "")) || 1;
  const known = steps(field);
  const next =
    button.dataset.step > 0
      ? (known.find((step) => step > now) ?? now + 1)
      : (known.findLast((step) => step < now) ?? Math.max(1, now - 1));
  if (next === now) return;
  field.value = next;
  field.dispatchEvent(new Event("change", { bubbles: true }));
});
