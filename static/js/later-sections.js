// Sections that are closed boxes with a link until somebody comes near (calculator/web/later_sections.py).
// A link inside one that carries data-view asks for the section anew with that view of it (sorting, filters): its query.
import { follow } from "./near.js";

const answer = document.getElementById("answer");
const form = document.getElementById("question");
const sections = new Map();

const inside = (name) => document.getElementById(`${name}-body`);
const closed = (name) => inside(name)?.querySelector(".later-link");

// Fields of the question are the visitor's and are never swapped. What an empty one stands for, and what a list offers, is
// of the machine in question: a price of another must not stay there.
function hints(body, text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const field of body.querySelectorAll("[hx-morph-skip] :is(input, select)")) {
    const theirs = fresh.getElementById(field.id);
    if (!theirs) continue;
    if (field.tagName === "INPUT") field.placeholder = theirs.placeholder;
    else if (field !== document.activeElement && field.innerHTML !== theirs.innerHTML) {
      const chosen = field.value;
      field.replaceChildren(...theirs.childNodes);
      field.value = chosen;
    }
  }
}

function made(name) {
  const section = { view: "" };
  section.address = () => {
    const box = document.getElementById(name);
    return box && box.dataset.section + (section.view && `&${section.view}`);
  };
  section.follow = follow({
    place: () => document.getElementById(name),
    address: section.address,
    take(text) {
      const focused = inside(name).contains(document.activeElement) ? document.activeElement.id : "";
      const body = inside(name);
      window.htmx.swap({ text, target: body, sourceElement: body, swap: "innerMorph" });
      hints(body, text);
      if (focused) (document.getElementById(focused) ?? document.getElementById(`${name}-head`)).focus();
    },
  });
  if (!closed(name)) {
    section.view = inside(name).querySelector("[data-view-now]")?.dataset.viewNow ?? "";
    section.follow.shows(section.address());
  }
  return section;
}

function watch() {
  for (const { id } of document.querySelectorAll(".later")) {
    if (!sections.has(id)) sections.set(id, made(id));
    sections.get(id).follow.watch();
    const link = closed(id)?.querySelector("a");
    if (link) link.href = `/${document.getElementById(id).dataset.section.replace(/^[^?]*/, "")}&show=${id}#${id}`;
  }
}

answer.addEventListener("click", (event) => {
  const link = event.target.closest(".later-link a, .later [data-view]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const name = link.closest(".later").id;
  const section = sections.get(name);
  event.preventDefault();
  const opened = closed(name);
  section.view = link.dataset.view ?? section.view;
  section.follow
    .load()
    .then(() => opened && document.getElementById(`${name}-head`).focus())
    .catch(() => {
      location.href = link.href;
    });
});

// The answer then says the problems of the fields that stand in an open section.
form.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const open = [...sections.keys()].filter((name) => inside(name) && !closed(name));
  ctx.request.headers["Stowage-Open"] = [ctx.request.headers["Stowage-Open"] ?? "", ...open].join(" ").trim();
});

watch();
document.addEventListener("htmx:after:swap", watch);
