// The section bar marks the section that is being read.
const LINE = 0.35; // of the window's height: a section is read once its top is above
let marked = "";

function mark() {
  for (const link of document.querySelectorAll("#section-bar a")) {
    if (link.hash === marked) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
}

function look() {
  const links = [...document.querySelectorAll("#section-bar a")];
  const read = links.filter(({ hash }) => document.querySelector(hash)?.getBoundingClientRect().top < innerHeight * LINE);
  const now = read.at(-1)?.hash ?? links[0]?.hash ?? "";
  if (now === marked) return;
  marked = now;
  mark();
}

look();
addEventListener("scroll", look, { passive: true });
document.addEventListener("htmx:after:swap", () => {
  look();
  mark();
});
