// Sections that are closed boxes with a link until somebody comes near (calculator/web/later_sections.py).
// A link inside one that carries data-view asks for the section anew with that view of it (sorting, filters): its query.
import { follow } from "./near.js";

const answer = document.getElementById("answer");
const form = document.getElementById("question");
const sections = new Map();

const inside = (name) => document.getElementById(`${name}-body`);
const closed = (name) => inside(name)?.querySelector(".later-link");

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
