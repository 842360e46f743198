"use strict";
// Filters the cases. Without this script every group can still be opened by hand.
(function () {
  var form = document.querySelector(".filters");
  if (!form) return;
  var groups = Array.from(document.querySelectorAll("details.cases"));
  var keys = ["check", "model", "corpus"];
  function wanted(key) {
    return form.elements[key] ? form.elements[key].value : "";
  }
  function filter() {
    var outcome = wanted("outcome"), narrowed = outcome !== "", left = 0, shown = [];
    keys.forEach(function (key) { narrowed = narrowed || wanted(key) !== ""; });
    groups.forEach(function (group) {
      var fits = keys.every(function (key) { return !wanted(key) || group.dataset[key] === wanted(key); });
      var rows = 0;
      if (fits) {
        group.querySelectorAll("tbody tr").forEach(function (row) {
          row.hidden = outcome !== "" && row.dataset.o !== outcome;
          if (!row.hidden) rows += 1;
        });
      }
      group.hidden = rows === 0;
      left += rows;
      if (rows) shown.push(group);
    });
    groups.forEach(function (group) { group.open = narrowed && shown.length <= 3 && !group.hidden; });
    form.querySelector("output").textContent = left.toLocaleString("en") + (left === 1 ? " case" : " cases");
  }
  form.hidden = false;
  form.addEventListener("change", filter);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  filter();
})();
