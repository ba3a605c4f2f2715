// The keyboard: j and k go through the events, the plots in focus are zoomed and moved.

function goToEvent(distance) {
  const events = [...document.querySelectorAll("article.event")];
  if (events.length === 0) return;
  const focused = document.activeElement && document.activeElement.closest("article.event");
  let at = focused ? events.indexOf(focused) : -1;
  if (at < 0) {
    const below = events.findIndex((event) => event.getBoundingClientRect().top > 4);
    const next = below < 0 ? events.length : below;
    at = distance > 0 ? next - 1 : next;
  }
  const target = events[Math.min(events.length - 1, Math.max(0, at + distance))];
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
}

const PLOT_KEYS = {
  "+": (group) => move(group, 0.5, 0),
  "=": (group) => move(group, 0.5, 0),
  "-": (group) => move(group, 2, 0),
  "ArrowLeft": (group) => move(group, 1, -0.25),
  "ArrowRight": (group) => move(group, 1, 0.25),
  "0": showAll,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("select, input, textarea")) return;
  const plots = event.target.closest(".plots");
  if (plots && PLOT_KEYS[event.key]) {
    PLOT_KEYS[event.key](plots.dataset.group);
    event.preventDefault();
  } else if (event.key === "j" || event.key === "k") {
    goToEvent(event.key === "j" ? 1 : -1);
    event.preventDefault();
  }
}
