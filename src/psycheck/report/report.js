"use strict";
// Unfolds, filters, searches and sorts. Without this script every fold can still be opened by hand.
(function () {
  function all(selector, within) { return Array.from((within || document).querySelectorAll(selector)); }

  // Not every browser opens the fold that a link points into.
  function reveal() {
    var place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    for (var fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    place.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();

  var unfold = document.querySelector("button.unfold");
  if (unfold) {
    unfold.hidden = false;
    unfold.addEventListener("click", function () {
      var open = unfold.textContent === "Unfold all";
      all("details.fold").forEach(function (fold) { fold.open = open; });
      unfold.textContent = open ? "Fold all" : "Unfold all";
    });
  }

  // "0.42 → 0.71" is sorted by its change, all else by its first number or by its letters.
  function sortKey(cell) {
    var numbers = (cell.textContent.match(/\d+(\.\d+)?/g) || []).map(Number);
    if (cell.textContent.indexOf("→") >= 0) return numbers.length === 2 ? numbers[1] - numbers[0] : -Infinity;
    return cell.textContent.trim();
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }
  function sortBy(table, head, column) {
    var down = head.getAttribute("aria-sort") === "ascending", body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (row) { return { key: sortKey(row.cells[column]), row: row }; });
    rows.sort(function (a, b) { return (down ? -1 : 1) * compare(a.key, b.key); });
    rows.forEach(function (entry) { body.appendChild(entry.row); });
    all("th", table.tHead).forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  all("table.sortable").forEach(function (table) {
    all("thead th", table).forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", function () { sortBy(table, head, column); });
      head.replaceChildren(button);
    });
  });

  var form = document.querySelector(".filters");
  if (!form) return;
  var groups = all("details.cases");
  // A menu is called like the attribute that it filters: of groups a name, of rows one or more words.
  var menus = all("select", form), search = form.querySelector("input[type=search]");
  function rowFits(row, words) {
    if (words && row.textContent.toLowerCase().indexOf(words) < 0) return false;
    return menus.every(function (menu) {
      var own = row.dataset[menu.name];
      return menu.value === "" || own === undefined || own.split(" ").indexOf(menu.value) >= 0;
    });
  }
  function groupFits(group) {
    return menus.every(function (menu) {
      var own = group.dataset[menu.name];
      return menu.value === "" || own === undefined || own === menu.value;
    });
  }
  function filter() {
    var words = search ? search.value.trim().toLowerCase() : "";
    var narrowed = words !== "" || menus.some(function (menu) { return menu.value !== ""; }), left = 0, shown = [];
    groups.forEach(function (group) {
      var rows = 0;
      if (groupFits(group)) {
        all("tbody tr", group).forEach(function (row) {
          row.hidden = !rowFits(row, words);
          if (!row.hidden) rows += 1;
        });
      }
      group.hidden = rows === 0;
      left += rows;
      if (rows) shown.push(group);
    });
    if (narrowed) groups.forEach(function (group) { group.open = shown.length <= 3 && !group.hidden; });
    form.querySelector("output").textContent = left.toLocaleString("en") + (left === 1 ? " case" : " cases");
  }
  form.hidden = false;
  form.addEventListener("change", filter);
  form.addEventListener("input", filter);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  filter();
})();
