// The Plotly figure of the errors: the frame that the page was sent once, filled with its numbers and our tokens.
import { chrome, log } from "./chart-figure.js";

function traces({ series }, data, colours) {
  return series.map(({ number, name, x, y, text, rows }) => {
    const trace = data[number - 1];
    const marker = { ...trace.marker, color: colours[trace.meta.token], line: { color: colours.surface, width: 0.75 } };
    return { ...trace, name, x, y, text, customdata: rows, marker };
  });
}

// The worst case keeps the words that the server has placed.
function words(chart, { x_range: [low, high], y_range: [bottom, top] }, colours) {
  const label = chart.querySelector(".point-label");
  if (!label || getComputedStyle(label).display === "none") return [];
  const share = (name) => parseFloat(label.getAttribute(name)) / 100;
  const atEnd = label.getAttribute("text-anchor") === "end";
  return [{
    showarrow: false, text: label.textContent, font: { color: colours.ink, weight: 550 },
    x: log(low * (high / low) ** share("x")), y: top - (top - bottom) * share("y"),
    xanchor: atEnd ? "right" : "left", xshift: atEnd ? -7 : 7,
  }];
}

export function composeScatter(chart, { data, layout }, numbers) {
  const { colours, axis, common } = chrome(chart);
  const { band, x_ticks: x, y_ticks: y } = numbers;
  return {
    data: traces(numbers, data, colours),
    layout: {
      ...layout,
      ...common,
      xaxis: { ...layout.xaxis, ...axis, showgrid: false, range: numbers.x_range.map(log), tickvals: x.values, ticktext: x.labels },
      yaxis: { ...layout.yaxis, ...axis, range: numbers.y_range, tickvals: y.values, ticktext: y.labels },
      shapes: [
        { type: "rect", layer: "below", xref: "paper", x0: 0, x1: 1, y0: -band, y1: band, fillcolor: colours["c-1"], opacity: 0.13, line: { width: 0 } },
        { type: "line", layer: "below", xref: "paper", x0: 0, x1: 1, y0: 0, y1: 0, line: { color: colours["line-strong"], width: 1 } },
      ],
      annotations: words(chart, numbers, colours),
    },
  };
}

// A click leads to the row of the case: here when it is listed, else in the whole list.
export function openRow(chart, point) {
  const anchor = point.customdata;
  if (document.getElementById(anchor)) location.hash = anchor;
  else location.assign(`${JSON.parse(chart.dataset.numbers).every}#${anchor}`);
}
