"use strict";
// Without this script everything can be read; it adds zoom and filter.
for (const controls of document.querySelectorAll("[data-controls]")) controls.hidden = false;
for (const input of document.querySelectorAll("input[data-filter]")) {
  const rows = [...document.querySelectorAll("#" + input.dataset.filter + " tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const shown = document.getElementById(input.dataset.filter + "-shown");
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => texts[at].includes(word));
      if (!row.hidden) count += 1;
    });
    shown.textContent = words.length ? count + " of " + rows.length + " rows match" : "";
  });
}
for (const button of document.querySelectorAll("button[data-zoom]")) {
  button.addEventListener("click", () => {
    const picture = document.getElementById(button.dataset.of);
    const box = picture.parentElement;
    const before = Number(picture.dataset.zoom || 1);
    const after = button.dataset.zoom === "0" ? 1 : Math.min(64, Math.max(1, before * Number(button.dataset.zoom)));
    const middle = (box.scrollLeft + box.clientWidth / 2) / before;
    picture.dataset.zoom = String(after);
    picture.setAttribute("width", after * 100 + "%");
    box.scrollLeft = middle * after - box.clientWidth / 2;
  });
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
