// The plots of events and of whole recordings, drawn when they come into view.

function line(name, width, dash) {
  return { stroke: () => colour(name), width, dash, points: { show: false } };
}

function eventPlot(figure, event) {
  const curve = event.curves[Number(figure.dataset.curve)];
  const x = positionsOf(curve.x || event.curves[0].x);
  const actual = valuesOf(curve.actual);
  const reading = figure.querySelector(".reading");
  const whole = reading.textContent;
  const series = [line("actual", 1.5)];
  const data = [x, actual];
  let bands;
  let expected, low, high;
  if (curve.expected) {
    expected = valuesOf(curve.expected);
    low = edgeOf(expected, valuesOf(curve.below), -1);
    high = edgeOf(expected, valuesOf(curve.above), 1);
    series.unshift(line("none", 0), line("none", 0), line("expected", 1.5, [5, 4]));
    data.splice(1, 0, low, high, expected);
    bands = [{ series: [2, 1], fill: () => colour("band") }];
  }
  const say = (at) => {
    if (at === null || at === undefined) {
      reading.textContent = whole;
      return;
    }
    const hope = expected
      ? `, expected ${valueText(expected[at])} (${valueText(low[at])} to ${valueText(high[at])})`
      : "";
    reading.textContent = `${timeText(event.axis, x[at], 0)}: ${valueText(actual[at])}${hope}`;
  };
  draw(figure.querySelector(".canvas"), {
    group: event.key, axis: event.axis, series, bands, data, spans: [event.during], say,
  });
}

// A dashed line at the threshold of the score.
function thresholdLine(threshold) {
  return (plot) => {
    const y = plot.valToPos(threshold, "y", true);
    if (y < plot.bbox.top || y > plot.bbox.top + plot.bbox.height) return;
    const context = plot.ctx;
    context.save();
    context.strokeStyle = colour("alarm");
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(plot.bbox.left, y);
    context.lineTo(plot.bbox.left + plot.bbox.width, y);
    context.stroke();
    context.restore();
  };
}

function recordingPlot(figure, recording) {
  const place = figure.querySelector(".canvas");
  const reading = figure.querySelector(".reading");
  const x = positionsOf(recording.x);
  const isScore = figure.dataset.curve === "score";
  let values = valuesOf(isScore ? recording.score : recording.channels[0].v);
  const say = (at) => {
    const known = at !== null && at !== undefined;
    const limit = isScore ? `threshold ${valueText(recording.threshold)}` : "";
    reading.textContent = known
      ? `${timeText(recording.axis, x[at], 0)}: ${valueText(values[at])}` : limit;
  };
  const plot = draw(place, {
    group: recording.key, axis: recording.axis, data: [x, values], spans: recording.events, say,
    series: [line(isScore ? "score" : "actual", 1.2)],
    marks: isScore ? thresholdLine(recording.threshold) : null,
  });
  say(null);
  if (isScore) return;
  figure.querySelector(".chooser").append(chooser(recording, (chosen) => {
    values = valuesOf(recording.channels[chosen].v);
    const { min, max } = plot.scales.x;
    plot.setData([x, values], true);
    plot.setScale("x", { min, max });
  }));
}

function chooser(recording, choose) {
  const list = document.createElement("select");
  list.setAttribute("aria-label", "channel");
  recording.channels.forEach((channel, i) => list.append(new Option(channel.name, String(i))));
  list.addEventListener("change", () => choose(Number(list.value)));
  return list;
}

const UNITS = { date: "time in UTC", seconds: "time in s", step: "row" };

// Buttons for those who have no keyboard and no mouse.
function controls(group, axis) {
  const bar = document.createElement("div");
  bar.className = "controls";
  const hint = document.createElement("small");
  hint.textContent = `${UNITS[axis]}; drag to zoom, double-click for the whole`;
  bar.append(hint);
  const add = (text, title, action) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = title;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", action);
    bar.append(button);
  };
  add("+", "zoom in", () => move(group, 0.5, 0));
  add("−", "zoom out", () => move(group, 2, 0));
  add("←", "earlier", () => move(group, 1, -0.25));
  add("→", "later", () => move(group, 1, 0.25));
  add("whole", "show the whole plot", () => showAll(group));
  return bar;
}

function drawGroup(place, numbers) {
  const key = place.dataset.group;
  const event = numbers.events.find((one) => one.key === key);
  const recording = numbers.recordings.find((one) => one.key === key);
  for (const figure of place.querySelectorAll("figure.plot")) {
    if (event) eventPlot(figure, event);
    else if (recording) recordingPlot(figure, recording);
  }
  if (event || recording) place.prepend(controls(key, (event || recording).axis));
}

function drawInView(numbers) {
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      drawGroup(entry.target, numbers);
    }
  }, { rootMargin: "400px" });
  for (const place of document.querySelectorAll(".plots")) watcher.observe(place);
}
