// What happens when the page is opened.

document.documentElement.classList.add("scripted");
for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
document.addEventListener("keydown", onKey);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
drawInView(JSON.parse(document.getElementById("numbers").textContent));
