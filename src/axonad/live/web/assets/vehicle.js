// The page of a vehicle: plots that move on as rows come.

function startVehicle() {
  const most = Number(document.body.dataset.rows);
  const threshold = Number(document.body.dataset.threshold);
  const group = "live";
  const place = document.getElementById("live");
  const figures = [...place.querySelectorAll("figure.plot")];
  const spans = []; // stretches of time in which an event was firing
  let x = [], alarms = [];
  const columns = new Map(); // figure -> its arrays
  const plots = new Map(); // figure -> its plot
  let follows = true; // until somebody zooms

  const dataOf = (figure) => [x, ...columns.get(figure)];
  const take = (rows, isWhole) => {
    if (!rows || !rows.n) return;
    let fresh = positionsOf(rows.x);
    if (isWhole) { x = []; alarms = []; columns.clear(); }
    const last = x.length ? x[x.length - 1] : -Infinity;
    const skip = fresh.findIndex((time) => time > last + 1e-6);
    if (skip < 0) return;
    const add = (old, packed) => [...old, ...valuesOf(packed).slice(skip)].slice(-most);
    figures.forEach((figure) => {
      const key = figure.dataset.curve;
      const parts = key === "score" ? [rows.score]
        : [rows.curves[key].low, rows.curves[key].high, rows.curves[key].v];
      const old = columns.get(figure) || parts.map(() => []);
      columns.set(figure, parts.map((packed, i) => add(old[i], packed)));
    });
    x = [...x, ...fresh.slice(skip)].slice(-most);
    alarms = [...alarms, ...rows.alarms.slice(skip)].slice(-most);
    findSpans();
    for (const [figure, plot] of plots) show(figure, plot);
  };
  const findSpans = () => {
    spans.length = 0;
    alarms.forEach((on, i) => {
      if (!on) return;
      const next = i + 1 < x.length ? x[i + 1] : x[i];
      if (spans.length && spans[spans.length - 1][1] === x[i]) spans[spans.length - 1][1] = next;
      else spans.push([x[i], next]);
    });
  };
  const inView = new Set();
  const show = (figure, plot) => {
    if (!inView.has(figure) || document.hidden) return;
    const { min, max } = plot.scales.x;
    plot.setData(dataOf(figure), follows);
    if (!follows) plot.setScale("x", { min, max });
    say(figure, plot.cursor.idx);
  };
  const say = (figure, at) => {
    const data = dataOf(figure);
    const isKnown = at !== null && at !== undefined;
    const i = isKnown ? at : x.length - 1;
    const actual = data[data.length - 1][i];
    let text = valueText(actual);
    if (figure.dataset.curve !== "score" && data[1][i] !== null && data[1][i] !== undefined) {
      text += `, expected ${valueText(data[1][i])} to ${valueText(data[2][i])}`;
    }
    const reading = figure.querySelector(".reading");
    reading.textContent = isKnown ? `${timeText("date", x[i], 1)}: ${text}` : text;
  };
  const begin = (figure) => {
    if (plots.has(figure) || !columns.has(figure) || !x.length) return;
    const isScore = figure.dataset.curve === "score";
    plots.set(figure, draw(figure.querySelector(".canvas"), {
      group, axis: "date", data: dataOf(figure), spans, say: (at) => say(figure, at),
      series: isScore ? [line("score", 1.2)]
        : [line("none", 0), line("none", 0), line("actual", 1.5)],
      bands: isScore ? undefined : [{ series: [2, 1], fill: () => colour("band") }],
      marks: isScore ? thresholdLine(threshold) : null,
    }));
    say(figure, null);
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) { inView.delete(target); continue; }
      inView.add(target);
      begin(target);
      if (plots.has(target)) show(target, plots.get(target));
    }
  }, { rootMargin: "200px" });
  figures.forEach((figure) => watcher.observe(figure));

  place.prepend(controls(group, "date"));
  const stopFollowing = () => { follows = false; };
  place.addEventListener("mousedown", (event) => { if (event.target.closest(".u-over")) stopFollowing(); });
  place.addEventListener("dblclick", () => { follows = true; });
  place.addEventListener("click", (event) => {
    const button = event.target.closest(".controls button");
    if (button) follows = button.title === "show the whole plot";
  });
  place.addEventListener("keydown", (event) => {
    if (PLOT_KEYS[event.key]) follows = event.key === "0";
  });

  const head = (data) => {
    if (!data.state) return;
    const state = document.querySelector("#state .state");
    if (state.textContent !== data.state) {
      state.textContent = data.state;
      state.className = `state ${data.state.replace(" ", "-")}`;
      renew();
    }
    document.getElementById("score").textContent = scoreText(data.score);
    document.getElementById("last").dataset.at = String(data.last);
    document.getElementById("clock").textContent =
      new Date(data.last * 1000).toISOString().slice(0, 19).replace("T", " ");
    place.dataset.newest = x.length ? String(x[x.length - 1]) : "";
    growAges();
  };
  const hear = (isWhole) => (data) => {
    take(data.rows, isWhole);
    head(data);
    for (const figure of inView) begin(figure);
  };
  const mine = (data) => { if (data.vehicle === document.body.dataset.vehicle) renew(); };
  return { whole: hear(true), news: hear(false), event: mine, reset: () => location.reload() };
}
