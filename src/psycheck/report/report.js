"use strict";
// Filters the cases. Without this script every group can still be opened by hand.
(function () {
  var form = document.querySelector(".filters");
  if (!form) return;
  var groups = Array.from(document.querySelectorAll("details.cases"));
  // A menu is called like the attribute that it filters: of groups a name, of rows one or more words.
  var menus = Array.from(form.querySelectorAll("select"));
  function filter() {
    var narrowed = menus.some(function (menu) { return menu.value !== ""; }), left = 0, shown = [];
    groups.forEach(function (group) {
      var fits = menus.every(function (menu) {
        var own = group.dataset[menu.name];
        return menu.value === "" || own === undefined || own === menu.value;
      });
      var rows = 0;
      if (fits) {
        group.querySelectorAll("tbody tr").forEach(function (row) {
          row.hidden = menus.some(function (menu) {
            var own = row.dataset[menu.name];
            return menu.value !== "" && own !== undefined && own.split(" ").indexOf(menu.value) < 0;
          });
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
