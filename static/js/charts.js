// Plotly over the server's drawing, in the same box: loaded when a chart comes near, then fed with numbers only.
import { compose, curvesOf, drawCurves } from "./chart-figure.js";
import { write } from "./numbers.js";
import { composeScatter, openRow } from "./scatter-figure.js";
import { askHere, composeSpeed } from "./speed-figure.js";

const CONFIG = {
  displaylogo: false,
  showSendToCloud: false, // a visitor's figures stay on this page
  plotlyServerURL: "",
  displayModeBar: "hover",
  modeBarButtons: [["zoom2d", "resetScale2d", "toImage"]],
  responsive: true,
};
const SLOW_MS = 24; // a redraw that costs more waits for the thumb to rest; the server's drawing shows meanwhile
const REST_MS = 150;
const frames = new Map(); // chart id → the figure's frame, read once
let library = null;

function load(url) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}

function frame(id) {
  if (!frames.has(id)) {
    const text = document.getElementById(`${id}-figure`)?.textContent;
    frames.set(id, text ? JSON.parse(text) : null);
  }
  return frames.get(id);
}

// A click on the chart is a question: the same as typing the value under the pointer.
function ask(_chart, point) {
  const field = document.getElementById("ctx");
  field.value = write(Math.round(point.x));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function numbersOf(chart) {
  if (chart.dataset.numbers) return JSON.parse(chart.dataset.numbers);
  // The curves' numbers stay with the drawing while only the present point moves.
  return { ...curvesOf(chart.querySelector("[data-numbers]")), present: JSON.parse(chart.dataset.present) };
}

// How each kind of chart is filled, and what a click on it does.
const KINDS = { context: [compose, ask], errors: [composeScatter, openRow], speed: [composeSpeed, askHere] };

let cost = 0;
let resting = 0;

async function redraw(chart, Plotly) {
  const base = frame(chart.dataset.chart);
  const plot = chart.querySelector(".chart-plot");
  if (!base || !plot) return;
  const begun = performance.now();
  const [fill, clicked] = KINDS[chart.dataset.chart];
  const { data, layout } = fill(chart, base, numbersOf(chart));
  await Plotly.react(plot, data, layout, CONFIG);
  cost = performance.now() - begun;
  if (!plot.dataset.listens) {
    plot.dataset.listens = "true";
    plot.on("plotly_click", ({ points: [point] }) => clicked(chart, point));
  }
  for (const drawing of plot.querySelectorAll(".main-svg")) drawing.setAttribute("aria-hidden", "true");
  plot.classList.add("is-shown");
}

async function upgrade(chart) {
  const Plotly = await load(chart.dataset.plotly);
  await redraw(chart, Plotly);
  cost = 0; // the first drawing says nothing about the next
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      requestAnimationFrame(() => upgrade(target).catch(() => {})); // without it the drawing stays
    }
  },
  { rootMargin: "200px" },
);

const all = () => [...document.querySelectorAll("[data-chart]")];

function update() {
  clearTimeout(resting);
  for (const chart of all()) {
    drawCurves(chart);
    const drawn = chart.querySelector(".chart-plot")?.dataset.listens;
    if (!drawn) near.observe(chart);
    else if (cost < SLOW_MS) redraw(chart, window.Plotly);
    else {
      chart.querySelector(".chart-plot").classList.remove("is-shown");
      resting = setTimeout(() => redraw(chart, window.Plotly), REST_MS);
    }
  }
}

update();
document.addEventListener("htmx:after:swap", update);
document.addEventListener("stowage:section", update);
document.addEventListener("stowage:theme", update);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
