(function () {
  "use strict";
  // The timeline that has the focus, or else the first one of the page.
  function timelineOf(element) {
    return (element && element.closest && element.closest(".timeline")) || document.querySelector(".timeline");
  }
  function show(row) {
    var box = row.closest(".scroll");
    box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - (box.clientHeight - row.clientHeight) / 2;
  }
  function focus(row) {
    if (!row) return;
    show(row);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }
  document.querySelectorAll(".timeline [data-breach]").forEach(show);
  document.addEventListener("toggle", function (event) {
    if (event.target.open) event.target.querySelectorAll(".timeline [data-breach]").forEach(show);
  }, true);
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    var timeline = timelineOf(document.activeElement);
    if (!timeline) return;
    var rows = Array.prototype.slice.call(timeline.querySelectorAll("tr.row"));
    var at = rows.indexOf(document.activeElement);
    switch (event.key) {
      case "j": focus(rows[Math.min(at + 1, rows.length - 1)]); break;
      case "k": focus(rows[Math.max(at - 1, 0)]); break;
      case "b": focus(timeline.querySelector("[data-breach]")); break;
      case "Enter":
        if (at < 0) return;
        var details = rows[at].querySelector("details");
        if (details) details.open = !details.open;
        break;
      default: return;
    }
    event.preventDefault();
  });
})();
