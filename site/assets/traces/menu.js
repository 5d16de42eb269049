/* A menu that folds what a reader needs seldom: a button, and a panel that it opens.
 *
 * The panel holds ordinary fields and buttons, so it is a disclosure and no list of commands.
 * Escape, a press elsewhere, or leaving it by the tab key closes it.
 */
(function () {
  "use strict";

  var el = calbench.element;

  /* Make a menu; `id` is that of its panel. */
  function make(id, words) {
    var panel = el("div", { "class": "cb-menu-panel", id: id, role: "group", "aria-label": words, hidden: true });
    var button = el("button", {
      type: "button", "class": "md-button cb-menu-button", "aria-expanded": "false", "aria-controls": id
    }, words, el("span", { "aria-hidden": "true" }, " ▾"));
    var node = el("div", { "class": "cb-menu" }, button, panel);

    function show(isOpen) {
      panel.hidden = !isOpen;
      button.setAttribute("aria-expanded", String(isOpen));
    }

    button.addEventListener("click", function () { show(panel.hidden); });
    node.addEventListener("keydown", function (key) {
      if (key.key === "Escape" && !panel.hidden) {
        key.stopPropagation();
        show(false);
        button.focus();
      }
    });
    node.addEventListener("focusout", function (left) {
      if (left.relatedTarget && !node.contains(left.relatedTarget)) { show(false); }
    });
    document.addEventListener("pointerdown", function (press) {
      if (!node.contains(press.target)) { show(false); }
    });
    return { node: node, panel: panel, show: show };
  }

  calbench.menu = { make: make };
}());
