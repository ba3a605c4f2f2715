// Tables that are sorted by a click on a heading.

function sortKey(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.value;
  return value === undefined ? cell.textContent.trim().toLowerCase() : Number(value);
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

function sortBy(table, column) {
  const headings = [...table.tHead.rows[0].cells];
  const heading = headings[column];
  const isNumeric = table.tBodies[0].rows[0]?.cells[column].dataset.value !== undefined;
  const before = heading.getAttribute("aria-sort");
  const first = isNumeric && column > 0 ? "descending" : "ascending";
  const second = first === "ascending" ? "descending" : "ascending";
  const direction = before === first ? second : first;
  for (const other of headings) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => sign * compare(sortKey(a, column), sortKey(b, column)));
  table.tBodies[0].append(...rows);
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortBy(table, column));
  });
}
