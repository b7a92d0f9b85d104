// A curve of speed for Plotly: the band, the curve, measured results, limits as upright lines, where the visitor stands.
import { chrome, log } from "./chart-figure.js";

const BAND = 0.16; // the strength of a series colour in its band
const FIRST_LABEL = 8;
const LABEL_STEP = 16;

const faint = (colour) => colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${BAND})`);

function traces({ x, y, low, high, marks, present }, [bottom, top, line, square, here], colours) {
  const colour = colours[line.meta.token];
  const points = (trace, found, marker) => ({ ...trace, x: found.map((p) => p.x), y: found.map((p) => p.y), marker: { ...trace.marker, color: marker } });
  return [
    { ...bottom, x, y: low },
    { ...top, x, y: high, fillcolor: faint(colour) },
    { ...line, x, y, customdata: low.map((value, at) => [value, high[at]]), line: { ...line.line, color: colour } },
    points(square, marks, colour),
    points(here, [present], colours.here),
  ];
}

// A limit begins at its words, so that it crosses none of another's.
function shapes({ lines, present, y_range: [, top] }, colours, height) {
  const limits = lines.map(({ kind, x }, at) => ({
    type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1 - (LABEL_STEP * at) / height,
    line: kind === "memory" ? { color: colours.ink, width: 2 } : { color: colours["ink-2"], width: 1, dash: "3px,3px" },
  }));
  const drop = { type: "line", layer: "between", x0: present.x, x1: present.x, y0: 0, y1: Math.min(present.y, top), line: { color: colours.here, width: 1.5 } };
  return [...limits, drop];
}

function words({ lines, marks, present, x_range: range }, colours) {
  const middle = (log(range[0]) + log(range[1])) / 2;
  const beside = (x, away) => (log(x) > middle ? { xanchor: "right", xshift: -away } : { xanchor: "left", xshift: away });
  const limits = lines.map(({ x, label, anchor }, at) => ({
    showarrow: false, text: label, x: log(x), yref: "paper", y: 1, yshift: -FIRST_LABEL - LABEL_STEP * at + 2, yanchor: "middle",
    xanchor: anchor === "end" ? "right" : "left", xshift: anchor === "end" ? -5 : 5, font: { color: colours.ink, weight: 550 },
  }));
  const named = [...marks.filter(({ label }) => label).map((mark) => [mark, "ink"]), [present, "here"]];
  const points = named.map(([{ x, y, label, below }, token]) => ({
    showarrow: false, ...beside(x, 8), text: label, x: log(x), y, yshift: below ? -14 : 14, font: { color: colours[token], weight: 550 },
  }));
  return [...limits, ...points];
}

export function composeSpeed(chart, { data, layout }, numbers) {
  const { colours, axis, common } = chrome(chart);
  const shown = [...chart.querySelectorAll(".x-tick")].map((tick) => getComputedStyle(tick).display !== "none");
  const kept = (list) => list.filter((_, at) => shown[at] ?? true);
  const [bottom, top, line, ...rest] = data;
  const told = { ...line, hovertemplate: `%{y:,.3s} ${numbers.unit} (%{customdata[0]:,.3s}–%{customdata[1]:,.3s})<extra></extra>` };
  return {
    data: traces(numbers, [bottom, top, told, ...rest], colours),
    layout: {
      ...layout,
      ...common,
      xaxis: {
        ...layout.xaxis, ...axis, showgrid: false, hoverformat: ",d", range: numbers.x_range.map(log),
        tickvals: kept(numbers.x_ticks.values), ticktext: kept(numbers.x_ticks.labels),
      },
      yaxis: {
        ...layout.yaxis, ...axis, range: numbers.y_range,
        tickmode: "array", tickvals: numbers.y_ticks.values, ticktext: numbers.y_ticks.labels,
      },
      shapes: shapes(numbers, colours, chart.querySelector(".chart-svg").clientHeight),
      annotations: words(numbers, colours),
    },
  };
}

// A click asks the value under the pointer, in the field that this curve goes over.
export function askHere(chart, point) {
  const field = document.getElementById(chart.dataset.sets);
  if (!field) return;
  field.value = Math.round(point.x).toLocaleString("en-US");
  field.dispatchEvent(new Event("change", { bubbles: true }));
}
