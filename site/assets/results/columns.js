/* Opens the columns of the table that the address names. */
(function () {
  "use strict";

  function open() {
    var heading = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    var next = heading && heading.nextElementSibling;
    while (next && next.tagName === "P") {
      next = next.nextElementSibling;
    }
    if (next && next.className === "cb-columns") {
      next.open = true;
    }
  }

  window.addEventListener("hashchange", open);
  open();
})();
