// What the form learns from an answer: lists that changed with model, hardware or engine, and problems at their fields.
const form = document.getElementById("question");
const problems = () => document.querySelectorAll("#question .problem, #targets .problem, .later .problem");

export function questionNow() {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  return query.toString();
}

form.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
  for (const [name, value] of [...ctx.request.body]) if (!value) ctx.request.body.delete(name);
  ctx.request.headers["Stowage-Choices"] = form.dataset.choices;
});

let fresh = false;

form.addEventListener("htmx:before:swap", ({ detail: { ctx, tasks } }) => {
  const asked = new URL(ctx.request.action, location.href).searchParams.toString();
  fresh = asked === questionNow();
  // The visitor has moved on: an older answer may not put a list or a value back. The newer answer brings them again.
  const marks = (task) => (task.type === "oob" ? task.fragment.firstElementChild.dataset : {});
  const key = tasks.map((task) => marks(task).choices).find(Boolean);
  if (fresh && key) form.dataset.choices = key;
  if (!fresh) for (let at = tasks.length - 1; at >= 0; at -= 1) if ("fresh" in marks(tasks[at])) tasks.splice(at, 1);
  const told = new Set(tasks.map((task) => task.target?.id));
  for (const problem of problems()) if (!told.has(problem.id)) problem.replaceChildren();
});

function mark() {
  for (const problem of problems()) {
    const field = document.getElementById(problem.id.replace("-problem", ""));
    if (problem.childElementCount) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  }
}

function settle() {
  mark();
  if (!fresh) return;
  // A list that was touched keeps its own mind about what is chosen; the answer says what it used.
  for (const list of form.querySelectorAll("select[data-value]")) list.value = list.dataset.value;
  for (const group of form.querySelectorAll(".segments[data-value]")) {
    for (const radio of group.querySelectorAll("input")) radio.checked = radio.value === group.dataset.value;
  }
}

mark();
form.addEventListener("htmx:after:swap", settle);

form.addEventListener("click", (event) => {
  const name = event.target.closest("[data-reset]")?.dataset.reset;
  if (!name) return;
  const field = document.getElementById(name);
  const radio = field.querySelector?.("input[type=radio]");
  if (radio) radio.checked = true;
  else if (field.type === "checkbox") field.checked = false;
  else field.value = "";
  (radio ?? field).dispatchEvent(new Event("change", { bubbles: true }));
  (radio ?? field).focus();
});
