// One plot, and groups of plots that share zoom and cursor.

const HEIGHT = 150;
const groups = new Map(); // name of a group -> its plots

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function twoDigits(number) {
  return String(number).padStart(2, "0");
}

// A position on the axis as people write it: times of a date in UTC, as the recording has them.
function timeText(axis, x, distance) {
  if (axis !== "date") return String(Number(x.toFixed(3)));
  const date = new Date(x * 1000);
  const day = date.toISOString().slice(0, 10);
  if (distance >= 86400) return day;
  const clock = `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}`;
  if (distance >= 60) return clock;
  const seconds = date.getUTCSeconds() + date.getUTCMilliseconds() / 1000;
  const digits = distance >= 1 ? 0 : 3;
  const text = seconds.toFixed(digits).padStart(digits ? 6 : 2, "0");
  return `${clock}:${text}`;
}

function valueText(value) {
  return value === null || value === undefined ? "–" : String(Number(value.toPrecision(4)));
}

// Shade the events behind the curves.
function shade(spans) {
  return (plot) => {
    const context = plot.ctx;
    context.save();
    context.beginPath();
    context.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    context.clip();
    context.fillStyle = colour("during");
    for (const [first, last] of spans) {
      const left = plot.valToPos(first, "x", true);
      const width = Math.max(2, plot.valToPos(last, "x", true) - left);
      context.fillRect(left, plot.bbox.top, width, plot.bbox.height);
    }
    context.restore();
  };
}

function axes(kind) {
  const common = {
    stroke: () => colour("soft"),
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { stroke: () => colour("grid"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  const across = {
    ...common,
    size: 26,
    space: kind === "date" ? 76 : 60,
    values: (plot, splits, _axis, _space, distance) =>
      splits.map((x) => timeText(kind, x, distance)),
  };
  return [across, { ...common, size: 58, values: (plot, splits) => splits.map(valueText) }];
}

// Write the stretch of time that a plot shows into its figure, for tools that read the page.
function publish(plot) {
  const figure = plot.root.closest("figure");
  if (!figure) return;
  figure.dataset.from = plot.scales.x.min;
  figure.dataset.to = plot.scales.x.max;
}

// All plots of a group show the same stretch of time.
function follow(group) {
  return (plot, scale) => {
    const plots = groups.get(group);
    if (scale !== "x" || !plots || plots.isMoving) return;
    const { min, max } = plot.scales.x;
    publish(plot);
    plots.isMoving = true;
    for (const other of plots) {
      const own = other.scales.x;
      if (other !== plot && (own.min !== min || own.max !== max)) other.setScale("x", { min, max });
      publish(other);
    }
    plots.isMoving = false;
  };
}

// Draw one plot into an element; `spans` are the events, `say` writes the values at the cursor.
function draw(place, { group, axis, series, bands, data, spans, say, marks }) {
  const plots = groups.get(group) || [];
  groups.set(group, plots);
  const options = {
    width: Math.max(200, place.clientWidth),
    height: HEIGHT,
    tzDate: (x) => uPlot.tzDate(new Date(x * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { sync: { key: group }, points: { size: 6 }, y: false },
    scales: { x: { time: axis === "date" } },
    axes: axes(axis),
    series: [{}, ...series],
    bands,
    hooks: {
      drawClear: [shade(spans)],
      draw: marks ? [marks] : [],
      setScale: [follow(group)],
      setCursor: [(plot) => say(plot.cursor.idx)],
    },
  };
  const plot = new uPlot(options, data, place);
  const shown = plots.find((other) => other.scales.x.min !== undefined);
  plots.push(plot);
  if (shown) plot.setScale("x", { min: shown.scales.x.min, max: shown.scales.x.max });
  place.classList.add("live");
  new ResizeObserver(() => {
    const width = Math.max(200, place.clientWidth);
    if (width !== plot.width) plot.setSize({ width, height: HEIGHT });
  }).observe(place);
  return plot;
}

// Zoom the plots of a group by a factor and move them by a share of what they show.
function move(group, factor, share) {
  const [plot] = groups.get(group) || [];
  if (!plot) return;
  const all = plot.data[0];
  const { min, max } = plot.scales.x;
  const half = ((max - min) / 2) * factor;
  const middle = (min + max) / 2 + share * (max - min);
  const first = Math.max(all[0], middle - half);
  const last = Math.min(all[all.length - 1], middle + half);
  if (last > first) plot.setScale("x", { min: first, max: last });
}

function showAll(group) {
  const [plot] = groups.get(group) || [];
  if (!plot) return;
  const all = plot.data[0];
  plot.setScale("x", { min: all[0], max: all[all.length - 1] });
}

function redrawAll() {
  for (const plots of groups.values()) for (const plot of plots) plot.redraw(false, true);
}
