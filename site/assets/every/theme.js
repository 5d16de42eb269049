/* Mends what the theme leaves without a name or out of the keyboard's reach. */
(function () {
  "use strict";

  /* A table that scrolls horizontally must be reachable, or nobody without a mouse sees its end. */
  function reach() {
    document.querySelectorAll(".md-typeset__scrollwrap").forEach(function (wrap) {
      if (wrap.scrollWidth > wrap.clientWidth) {
        wrap.setAttribute("tabindex", "0");
        wrap.setAttribute("role", "group");
        wrap.setAttribute("aria-label", "A table that scrolls horizontally");
      } else {
        wrap.removeAttribute("tabindex");
      }
    });
  }

  function mend() {
    document.querySelector(".md-search[role=dialog]").setAttribute("aria-label", "Search");
    document.querySelectorAll(".md-code__nav").forEach(function (copying, at) {
      copying.setAttribute("aria-label", "Copy example " + (at + 1));
    });
    reach();
  }

  /* Folded parts open for printing where the browser does not know the style that shows them. */
  var folded = [];

  function unfold() {
    folded = Array.from(document.querySelectorAll("article details:not([open])"));
    folded.forEach(function (part) { part.open = true; });
  }

  function fold() {
    folded.forEach(function (part) { part.open = false; });
  }

  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
  window.addEventListener("load", mend);
  window.addEventListener("resize", reach);
}());
