// The stream of changes that keeps a page up to date, and what happens when it is lost.

const SILENCE = 15000; // ms without a sign of life after which the connection counts as lost
const AGAIN = 2000; // ms until the next attempt

function showConnection(state, words) {
  const place = document.querySelector(".connection");
  if (!place || place.dataset.state === state) return;
  place.dataset.state = state;
  place.className = `connection ${state}`;
  place.querySelector(".words").textContent = words;
}

function showTrouble(text) {
  const place = document.querySelector(".trouble");
  if (text === undefined || place.textContent === text) return;
  place.textContent = text;
  place.hidden = !text;
}

function isTyping() {
  const focused = document.activeElement;
  return Boolean(focused && focused.matches("textarea, input:not([type=hidden])") && focused.value);
}

// After a restart of the server its forms have new tokens, and perhaps the page is another one.
function noticeRestart(started) {
  if (started && started !== document.documentElement.dataset.started && !isTyping()) {
    location.reload();
  }
}

// Follow a stream; `hear` has a function for each kind of message. It never gives up.
function followStream(address, hear) {
  let source, watchdog;
  const alive = () => {
    showConnection("live", "live");
    clearTimeout(watchdog);
    watchdog = setTimeout(again, SILENCE);
  };
  const again = () => {
    showConnection("lost", "connection lost, trying again");
    clearTimeout(watchdog);
    source.close();
    watchdog = setTimeout(open, AGAIN);
  };
  const open = () => {
    source = new EventSource(address);
    for (const kind of ["whole", "news", "event", "reset", "tick"]) {
      source.addEventListener(kind, (message) => {
        alive();
        const data = JSON.parse(message.data);
        showTrouble(data.trouble);
        if (kind === "whole") noticeRestart(data.started);
        if (hear[kind]) hear[kind](data);
      });
    }
    source.addEventListener("error", () => {
      again();
      askWhy();
    });
    watchdog = setTimeout(again, SILENCE);
  };
  open();
  addEventListener("pagehide", () => { clearTimeout(watchdog); source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

// A session that has ended looks like a lost connection; loading the page again asks for the key.
async function askWhy() {
  try {
    const answer = await fetch("/api/v1/vehicles?limit=1");
    if (answer.status === 401 && !isTyping()) location.reload();
  } catch { /* the server is away; the next attempt comes by itself */ }
}

const PAUSE = 2000; // ms between two renewals
let renewing = false, wanted = false, renewed = 0;

// Load the page again behind the scenes and put its live parts in place of the old ones.
function renew() {
  wanted = true;
  if (renewing || document.hidden) return;
  renewing = true;
  setTimeout(async () => {
    wanted = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.ok && !answer.redirected) replaceParts(await answer.text());
    } catch { /* the next change tries again */ }
    renewed = Date.now();
    renewing = false;
    if (wanted) renew();
  }, Math.max(0, renewed + PAUSE - Date.now()));
}

function replaceParts(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const place of document.querySelectorAll("[data-live]")) {
    const next = fresh.querySelector(`[data-live="${place.dataset.live}"]`);
    if (!next || place.querySelector("details[open]")) continue;
    const focused = place.contains(document.activeElement) ? document.activeElement : null;
    if (focused && focused.matches("input, textarea, select")) continue;
    const id = focused && focused.id;
    const link = focused && focused.getAttribute("href");
    place.replaceChildren(...next.childNodes);
    const again = id ? document.getElementById(id)
      : link && [...place.querySelectorAll("a")].find((a) => a.getAttribute("href") === link);
    if (again) again.focus({ preventScroll: true });
  }
  document.dispatchEvent(new Event("renewed"));
}

document.addEventListener("visibilitychange", () => { if (!document.hidden && wanted) renew(); });

function ageText(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
  if (s < 86400) {
    const minutes = Math.round(s / 60);
    return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
  }
  return `${Math.floor(s / 86400).toLocaleString("en")} d`;
}

// Ages of what is in view grow by themselves.
function growAges() {
  const now = Date.now() / 1000;
  for (const place of document.querySelectorAll("time[data-at]")) {
    const text = ageText(now - Number(place.dataset.at));
    if (place.textContent !== text) place.textContent = text;
  }
}
