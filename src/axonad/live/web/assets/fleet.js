// The overview: numbers in its rows change in place; another order is asked of the server.

function scoreText(value) {
  return value === null ? "–" : String(Number(value.toPrecision(3)));
}

let rowsByName;

function findRows() {
  rowsByName = new Map();
  for (const row of document.querySelectorAll("tr[data-vehicle]")) {
    rowsByName.set(row.dataset.vehicle, row);
  }
}

function showRow(row, score, last) {
  const place = row.querySelector(".score");
  const text = scoreText(score);
  if (place.textContent !== text) place.textContent = text;
  row.querySelector("time").dataset.at = String(last);
  const threshold = Number(document.getElementById("threshold").dataset.value);
  const share = threshold > 0 ? Math.min(1, Math.max(0, (score || 0) / (2 * threshold))) : 0;
  const bar = row.querySelector(".share");
  bar.setAttribute("width", `${(100 * share).toFixed(1)}%`);
  bar.classList.toggle("over", share > 0.5);
}

function showCounts(counts) {
  if (!counts) return;
  let every = 0;
  for (const [state, count] of Object.entries(counts)) {
    every += count;
    const place = document.querySelector(`[data-count="${state}"]`);
    if (place) place.textContent = count.toLocaleString("en");
  }
  document.querySelector('[data-count=""]').textContent = every.toLocaleString("en");
}

function startFleet() {
  findRows();
  document.addEventListener("renewed", findRows);
  return {
    whole: (data) => { showCounts(data.counts); renew(); },
    news: (data) => {
      showCounts(data.counts);
      for (const [name, , score, last] of data.rows || []) {
        const row = rowsByName.get(name);
        if (row) showRow(row, score, last);
      }
      if (data.moved) renew();
      growAges();
    },
    reset: renew,
  };
}

// The list of events: j and k go from one to the next, a and s do what their buttons do.
function startEvents() {
  const at = () => {
    const focused = document.activeElement && document.activeElement.closest("ul.events li");
    return { all: [...document.querySelectorAll("ul.events li[id]")], focused };
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("select, input, textarea")) return;
    const { all, focused } = at();
    if (event.key === "j" || event.key === "k") {
      const step = event.key === "j" ? 1 : -1;
      const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(focused) + step))];
      if (next) next.querySelector(".title").focus();
      event.preventDefault();
    } else if ((event.key === "a" || event.key === "s") && focused) {
      const name = event.key === "a" ? "care" : "shelf";
      const button = focused.querySelector(`.actions [id$="-${name}"]`);
      if (button) button.click();
    }
  });
  return { whole: renew, event: renew, reset: renew, news: (data) => {
    if ((data.events || []).length) renew();
  } };
}

// An action without leaving the page; without JavaScript the same form loads it again.
async function sendForm(event) {
  const form = event.target.closest("form.actions, form.commenting");
  if (!form) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields });
    if (!answer.ok) {
      showTrouble((await answer.json()).error);
      return;
    }
    if (form.matches(".commenting")) {
      form.reset();
      const details = form.closest("details");
      if (details) details.open = false;
    }
    renewed = 0;
    renew();
  } catch {
    showTrouble("The server did not answer; try again when the connection is back.");
  }
}
