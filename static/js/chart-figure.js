// The Plotly figure of one answer: the frame that the page was sent once, filled with the answer's numbers and our tokens.
const TOKENS = ["c-1", "c-2", "c-3", "c-4", "here", "ink", "ink-2", "grid", "surface", "line-strong"];

export function curvesOf(drawing) {
  const numbers = JSON.parse(drawing.dataset.numbers);
  for (const one of numbers.series) one.y = one.thousandths.map((value) => value / 1000);
  return numbers;
}

// A live update brings a curve's numbers and leaves its line to the page; what lies above the top is outside the box.
export function drawCurves(chart) {
  const lines = [...chart.querySelectorAll("[data-numbers] polyline:not([points])")];
  if (!lines.length) return;
  const { x, series, x_range: [low, high], y_range: [, top] } = curvesOf(lines[0].closest("[data-numbers]"));
  const places = x.map((value) => Math.round((1000 * Math.log(value / low)) / Math.log(high / low)));
  lines.forEach((line, at) => {
    const points = series[at].y.map((value, index) => `${places[index]},${Math.round(1000 * (1 - value / top))}`);
    line.setAttribute("points", points.join(" "));
  });
}

// light-dark() stays unresolved in a custom property; a probe's computed colour is the one that is seen.
function palette(chart) {
  const probe = document.createElement("span");
  probe.className = "probe";
  chart.append(probe);
  const style = getComputedStyle(probe);
  const colours = TOKENS.map((token) => {
    probe.style.color = `var(--${token})`;
    return [token, style.color];
  });
  probe.remove();
  return Object.fromEntries(colours);
}

function margins(box) {
  const style = getComputedStyle(box);
  const px = (side) => parseFloat(style[`padding${side}`]);
  return { l: px("Left"), r: px("Right"), t: px("Top"), b: px("Bottom"), pad: 0 };
}

// Words that the server has placed so that none covers another; Plotly takes them over.
function drawn(chart, { x_range: [low, high], y_range: [, top] }) {
  const y = (percent) => top * (1 - parseFloat(percent) / 100);
  const ends = [...chart.querySelectorAll(".end-label")].map((label) => ({ text: label.textContent, y: y(label.getAttribute("y")) }));
  const ring = chart.querySelector(".ring");
  if (!ring) return { ends };
  const at = low * (high / low) ** (parseFloat(ring.getAttribute("cx")) / 100);
  return { ends, fits: { x: at, y: y(ring.getAttribute("cy")), label: chart.querySelector(".ring + .point-label").textContent } };
}

function traces({ series, x, present }, fits, data, colours) {
  const curves = series.map((one, at) => {
    const trace = data[at];
    return { ...trace, name: one.name, y: one.y, x, line: { ...trace.line, color: colours[trace.meta.token] } };
  });
  const dot = data.at(-1);
  const point = ({ x: at, y }, marker) => ({ ...dot, x: [at], y: [y], marker: { ...dot.marker, ...marker } });
  if (fits) curves.push(point(fits, { color: colours.surface, size: 8, line: { color: colours.ink, width: 2 } }));
  if (present) curves.push(point(present, { color: colours.here, size: 10 }));
  return curves;
}

function shapes({ limits, present }, colours) {
  const lines = limits.map(({ kind, value }) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, y0: value, y1: value,
    line: kind === "usable" ? { color: colours.ink, width: 2 } : { color: colours["ink-2"], width: 1, dash: "3px,3px" },
  }));
  if (present) {
    const drop = { color: colours.here, width: 1.5 };
    lines.push({ type: "line", layer: "between", x0: present.x, x1: present.x, y0: 0, y1: present.y, line: drop });
  }
  return lines;
}

// On a logarithmic axis Plotly places words by the logarithm.
export const log = (value) => Math.log10(value);

function words({ limits, present, x_range: range }, { ends, fits }, colours) {
  const left = { showarrow: false, xanchor: "left" };
  const middle = (log(range[0]) + log(range[1])) / 2;
  const out = limits.map(({ kind, label, value }, at) => ({
    ...left, text: label, xref: "paper", x: 0, y: value,
    yanchor: kind === "usable" && limits[at + 1] ? "top" : "bottom",
    font: kind === "usable" ? { color: colours.ink, weight: 550 } : { color: colours["ink-2"] },
  }));
  for (const { text, y } of ends) {
    out.push({ ...left, text, xref: "paper", x: 1, xshift: 4, y, font: { color: colours["ink-2"] } });
  }
  for (const [point, colour] of [[present, "here"], [fits, "ink"]]) {
    if (!point) continue;
    const x = log(point.x);
    const anchor = x > middle ? { xanchor: "right", xshift: -7 } : { xanchor: "left", xshift: 7 };
    out.push({ showarrow: false, ...anchor, text: point.label, x, y: point.y, yshift: colour === "here" ? -13 : 16, font: { color: colours[colour], weight: 550 } });
  }
  return out;
}

// The numbers of tokens that the server's drawing shows at this width.
function ticks(chart, { values, labels }) {
  const drawn = [...chart.querySelectorAll(".x-tick")].map((tick) => getComputedStyle(tick).display !== "none");
  const shown = (list) => list.filter((_, at) => drawn[at] ?? true);
  return { tickvals: shown(values), ticktext: shown(labels) };
}

// What every chart shares: our colours, margins, type, the look of its axes.
export function chrome(chart) {
  const colours = palette(chart);
  const box = chart.querySelector(".chart-box");
  return {
    colours,
    axis: { gridcolor: colours.grid, linecolor: colours.grid, zeroline: false, ticks: "" },
    common: {
      margin: margins(box),
      font: { family: getComputedStyle(box).fontFamily, size: 12, color: colours["ink-2"] },
      hoverlabel: { bgcolor: colours.surface, bordercolor: colours["line-strong"], font: { color: colours.ink } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours["ink-2"], activecolor: colours.ink },
    },
  };
}

export function compose(chart, { data, layout }, numbers) {
  const { colours, axis, common } = chrome(chart);
  const placed = drawn(chart, numbers);
  return {
    data: traces(numbers, placed.fits, data, colours),
    layout: {
      ...layout,
      ...common,
      xaxis: {
        ...layout.xaxis, ...axis, showgrid: false, hoverformat: ",d", range: numbers.x_range.map(log),
        ...ticks(chart, numbers.x_ticks),
      },
      yaxis: { ...layout.yaxis, ...axis, range: numbers.y_range },
      shapes: shapes(numbers, colours),
      annotations: words(numbers, placed, colours),
    },
  };
}
