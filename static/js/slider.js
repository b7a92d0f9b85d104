// A slider beside its number field. The field is the truth and what the form sends; the range only writes into it.
// The limits (how far it fits, is tight, the model's maximum) arrive as data- attributes of the words below.
import { parse, rounded, scale, write } from "./numbers.js";

const SNAP_PX = 6;

function slider(box) {
  const id = box.dataset.slider;
  const field = document.getElementById(id);
  const range = document.getElementById(`${id}-range`);
  const low = Number(box.dataset.low);
  const axis = scale(low, Number(box.dataset.high));
  const ticks = [...document.querySelectorAll(`#${id}-field [data-tick]`)].map((tick) => Number(tick.dataset.tick));
  const words = () => document.getElementById(`${id}-words`).dataset;
  const longest = document.getElementById(`${id}-longest`);

  const percent = (value) => (value > 0 && value >= low ? `${axis.at(value) / 10}%` : "0%");

  function spoken(value) {
    const { fit, tight, max } = words();
    const { unit, fits, isTight, fails, beyond } = box.dataset;
    if (Number(max) && value > Number(max)) return `${write(value)} ${unit}, ${beyond}`;
    if (!fit) return `${write(value)} ${unit}`; // no limit is known
    return `${write(value)} ${unit}, ${value <= Number(fit) ? fits : value <= Number(tight) ? isTight : fails}`;
  }

  function draw() {
    const value = parse(field.value);
    const { fit, tight, max } = words();
    if (value > 0) {
      range.value = axis.at(value);
      range.setAttribute("aria-valuetext", spoken(value));
    }
    const known = fit !== "";
    const inside = known && Number(max) > 0 && Number(max) < Number(box.dataset.high);
    box.classList.toggle("has-max", inside);
    box.style.setProperty("--v", `${range.value / 10}%`);
    box.style.setProperty("--fit", percent(Number(fit)));
    box.style.setProperty("--tight-to", percent(Number(tight)));
    box.style.setProperty("--max", inside ? percent(Number(max)) : known ? "100%" : "0%");
    if (longest) longest.hidden = !words().longest;
  }

  // `event` is input while a thumb moves, change when it rests: the form hears both from the field.
  function set(value, ...events) {
    field.value = write(value);
    draw();
    for (const event of events) field.dispatchEvent(new Event(event, { bubbles: true }));
  }

  function snapped(at) {
    const reach = (SNAP_PX * 1000) / box.clientWidth;
    return ticks.find((tick) => Math.abs(axis.at(tick) - at) <= reach) ?? rounded(axis.value(at));
  }

  range.addEventListener("input", (event) => {
    event.stopPropagation();
    set(snapped(Number(range.value)), "input");
  });
  range.addEventListener("change", (event) => {
    event.stopPropagation();
    set(snapped(Number(range.value)), "change");
  });
  range.addEventListener("keydown", (event) => {
    const value = parse(field.value) || low;
    const octaves = { ArrowRight: 1 / 8, ArrowUp: 1 / 8, ArrowLeft: -1 / 8, ArrowDown: -1 / 8, PageUp: 1, PageDown: -1 }[event.key];
    const end = { Home: 0, End: 1000 }[event.key];
    if (octaves === undefined && end === undefined) return;
    event.preventDefault();
    let next = end === undefined ? rounded(value * 2 ** octaves) : axis.value(end);
    if (next === value && octaves) next = value + Math.sign(octaves); // 1 → 2, where an eighth of an octave is nothing
    set(Math.round(Math.min(Math.max(next, low), Number(box.dataset.high))), "input", "change");
  });
  field.addEventListener("input", draw);
  field.addEventListener("change", () => {
    const { longest: most, max } = words();
    const value = field.value.trim().toLowerCase() === "max" ? Number(most || max) : Math.round(parse(field.value));
    if (value > 0) field.value = write(value);
    draw();
  });
  longest?.addEventListener("click", (event) => {
    event.preventDefault();
    set(Number(words().longest), "change");
  });
  return draw;
}

const draws = [...document.querySelectorAll("[data-slider]")].map(slider);
const drawAll = () => draws.forEach((draw) => draw());
drawAll();
document.addEventListener("htmx:after:swap", drawAll);
