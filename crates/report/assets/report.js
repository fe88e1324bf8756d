// Sorts and filters the tables, zooms the flame graphs, switches the colours. Without it everything is still there to read.
"use strict";
(function () {
  const PAGE = 30;

  function table(box) {
    const body = box.querySelector("tbody");
    const heads = Array.from(box.querySelectorAll("th"));
    const filter = box.querySelector("input");
    const count = box.querySelector("output");
    const more = box.querySelector(".more");
    const rows = Array.from(body.rows).map(function (row) {
      return { row: row, text: row.textContent.toLowerCase() };
    });
    let shown = PAGE;

    function apply() {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let hits = 0;
      for (const entry of rows) {
        const hit = words.every(function (word) { return entry.text.includes(word); });
        if (hit) hits += 1;
        entry.row.hidden = !hit || hits > shown;
      }
      const visible = Math.min(hits, shown);
      count.textContent = visible === rows.length ? rows.length + (rows.length === 1 ? " row" : " rows") : visible + " of " + hits + " rows" +
        (hits === rows.length ? "" : " with a match, " + rows.length + " in all");
      more.hidden = hits <= shown;
      more.textContent = "Show all " + hits;
    }

    function key(row, column) {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent.toLowerCase() : Number(cell.dataset.v);
    }

    function sort(column) {
      const head = heads[column];
      const number = rows.length > 0 && typeof key(rows[0].row, column) === "number";
      const before = head.getAttribute("aria-sort");
      // Numbers start with the greatest: that is what one looks for.
      const first = number ? "descending" : "ascending";
      const order = before === "none" ? first : before === "ascending" ? "descending" : "ascending";
      heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      rows.forEach(function (entry) { entry.key = key(entry.row, column); });
      rows.sort(function (a, b) { return a.key < b.key ? -sign : a.key > b.key ? sign : 0; });
      const all = document.createDocumentFragment();
      rows.forEach(function (entry) { all.appendChild(entry.row); });
      body.appendChild(all);
      apply();
    }

    heads.forEach(function (head, column) {
      head.querySelector("button").addEventListener("click", function () { sort(column); });
    });
    filter.addEventListener("input", apply);
    more.addEventListener("click", function () { shown = Infinity; apply(); });
    window.addEventListener("beforeprint", function () { rows.forEach(function (e) { e.row.hidden = false; }); });
    window.addEventListener("afterprint", apply);
    apply();
  }

  function flame(figure) {
    const frames = Array.from(figure.querySelectorAll(".frames button"));
    const reset = figure.querySelector(".reset");
    const find = figure.querySelector("input");

    function place(left, width) {
      for (const frame of frames) {
        const l = Number(frame.dataset.l);
        const w = Number(frame.dataset.w);
        const from = Math.max(0, (l - left) / width);
        const to = Math.min(1, (l + w - left) / width);
        frame.hidden = to - from <= 0;
        frame.style.setProperty("--l", from);
        frame.style.setProperty("--w", Math.max(0, to - from));
      }
      reset.hidden = width >= 1;
    }

    frames.forEach(function (frame) {
      frame.addEventListener("click", function () { place(Number(frame.dataset.l), Number(frame.dataset.w)); });
    });
    reset.addEventListener("click", function () { place(0, 1); });
    figure.addEventListener("keydown", function (event) { if (event.key === "Escape") place(0, 1); });
    find.addEventListener("input", function () {
      const word = find.value.toLowerCase();
      frames.forEach(function (frame) {
        frame.classList.toggle("off", word !== "" && !frame.textContent.toLowerCase().includes(word));
      });
    });
  }

  function theme(button) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    button.hidden = false;
    button.addEventListener("click", function () {
      const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
      document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    });
  }

  document.querySelectorAll(".data").forEach(table);
  document.querySelectorAll(".flame").forEach(flame);
  theme(document.getElementById("theme"));
})();
