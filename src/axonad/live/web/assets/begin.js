// What happens when a page is opened.

document.documentElement.classList.add("scripted");
document.addEventListener("submit", sendForm);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
setInterval(growAges, 1000);

const numbers = document.getElementById("numbers");
if (numbers) drawInView(JSON.parse(numbers.textContent));

const STARTS = {
  fleet: startFleet,
  vehicle: startVehicle,
  events: startEvents,
  event: () => ({
    whole: renew,
    reset: renew,
    event: (data) => { if (data.id === document.body.dataset.event) renew(); },
    news: (data) => {
      if ((data.events || []).some((one) => one.id === document.body.dataset.event)) renew();
    },
  }),
};
const begins = STARTS[document.body.className];
document.addEventListener("keydown", (event) => {
  const plots = event.target.closest && event.target.closest(".plots");
  if (!plots || !PLOT_KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  PLOT_KEYS[event.key](plots.dataset.group);
  event.preventDefault();
});
if (begins) followStream(document.body.dataset.follow, begins());
