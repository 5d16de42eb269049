/* A second game next to the first: the same scenario, another team. */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var frames = calbench.frames;

  /* Make the second column; `changed()` is called when a reader moves it by itself. */
  function make(changed) {
    var view = null;
    var first = null;
    var stage = calbench.gameView.make("game beside", null, null);
    var title = el("h3", {});
    var linked = el("input", { type: "checkbox", checked: true });
    var controls = el("div", { "class": "cb-second-steps", role: "group",
                               "aria-label": "Step through the second game" });
    var node = el("div", { "class": "cb-second", hidden: true },
      el("div", { "class": "cb-second-head" }, title, controls,
        el("label", {}, linked, " step both games by round")));

    function button(face, label, to) {
      var each = el("button", { type: "button", "class": "md-button", "aria-label": label,
                                title: label }, face);
      each.addEventListener("click", function () {
        if (view) {
          linked.checked = false;
          go(to());
        }
      });
      controls.appendChild(each);
    }

    function go(at) {
      view.at = frames.within(view, at);
      calbench.gameView.draw(stage, view);
      changed();
    }

    /* Draw it as the first game's moment asks. */
    function draw(of) {
      first = of;
      if (!view) { return; }
      ["who", "scope", "channel", "showBest"].forEach(function (name) { view[name] = of[name]; });
      view.showOptimum = false;
      if (linked.checked) { view.at = frames.endOfRound(view, frames.roundOf(of, of.at)); }
      calbench.gameView.draw(stage, view);
    }

    function close() {
      view = null;
      node.hidden = true;
      fill(title);
      stage.node.remove();
      stage.place.remove();
    }

    /* Open another team's game of the same scenario; `at` is its own event, if it has one. */
    function open(of, team, at, isWanted, failed) {
      var game = of.game;
      calbench.games.load(game.experiment, team, game.scenario_id, function (found, scenario) {
        if (!isWanted()) { return; }
        view = frames.viewOf(found, scenario, at === null ? 0 : at);
        view.go = function (event) { linked.checked = false; go(event); };
        view.jump = function (event, words) { return jumpNode(view, event, words); };
        linked.checked = at === null;
        title.textContent = found.team + " (" + found.kind + ")";
        title.after(stage.place);
        node.appendChild(stage.node);
        node.hidden = false;
        draw(of);
        changed();
      }, function (key, why) { if (isWanted()) { failed(key, why); } });
    }

    function jumpNode(of, event, words) {
      var link = el("button", { type: "button", "class": "cb-link" }, words);
      link.addEventListener("click", function () { of.go(event); });
      return link;
    }

    button("⟨", "Previous round of the second game", function () { return frames.roundFrom(view, -1); });
    button("‹", "Previous event of the second game", function () { return view.at - 1; });
    button("›", "Next event of the second game", function () { return view.at + 1; });
    button("⟩", "Next round of the second game", function () { return frames.roundFrom(view, 1); });
    linked.addEventListener("change", function () {
      if (first) { draw(first); }
      changed();
    });

    return {
      node: node, close: close, draw: draw, open: open,
      team: function () { return view ? view.game.team : ""; },
      at: function () { return view && !linked.checked ? view.at : null; }
    };
  }

  calbench.compare = { make: make };
}());
