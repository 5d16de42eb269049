/* The controls of a game: step by event, turn or round, play it, and the keys for all that. */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var frames = calbench.frames;
  var KEYS = [
    ["← →", "previous or next event"], ["k j", "previous or next turn"],
    ["[ ]", "previous or next round"], ["Home End", "first or last event"],
    ["Space", "play or pause"], ["?", "show or hide this list"]
  ];

  /* Make the controls. `current()` is the view shown, `go(event)` moves it. */
  function make(current, go) {
    var part = {};
    var timer = null;

    function button(face, label, keys, to) {
      var node = el("button", { type: "button", "class": "md-button", "aria-label": label,
                                title: label + " (" + keys + ")" }, face);
      node.addEventListener("click", function () { if (current()) { go(to(current())); } });
      return node;
    }

    function last(view) { return view.game.events.length - 1; }

    function step(unit, direction) {
      var view = current();
      if (unit === "turn") { return frames.turnFrom(view, direction); }
      if (unit === "round") { return frames.roundFrom(view, direction); }
      return view.at + direction;
    }

    function toggle() {
      if (timer) { stop(); } else { start(); }
    }

    function start() {
      var view = current();
      if (!view) { return; }
      if (view.at === last(view)) { go(0); }
      part.play.textContent = "❚❚";
      part.play.setAttribute("aria-label", "Pause");
      wait();
    }

    function wait() {
      timer = setTimeout(function () {
        var view = current();
        if (!view) { stop(); return; }
        go(step(part.unit.value, 1));
        if (view.at === last(view)) { stop(); } else { wait(); }
      }, 1000 / Number(part.speed.value));
    }

    function stop() {
      clearTimeout(timer);
      timer = null;
      part.play.textContent = "▶";
      part.play.setAttribute("aria-label", "Play");
    }

    function select(label, pairs, chosen) {
      var node = el("select", { "aria-label": label, title: label });
      pairs.forEach(function (pair) { node.appendChild(el("option", { value: pair[0] }, pair[1])); });
      node.value = chosen;
      return node;
    }

    function showHelp() {
      part.help.hidden = !part.help.hidden;
      part.helpButton.setAttribute("aria-expanded", String(!part.help.hidden));
    }

    function pressed(key) {
      var target = key.target;
      if (!current() || key.altKey || key.ctrlKey || key.metaKey) { return; }
      if (target !== part.slider && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) { return; }
      if (key.key === " " && target !== document.body && target !== part.slider) { return; }
      var act = {
        ArrowRight: part.next, ArrowLeft: part.previous, j: part.nextTurn, k: part.previousTurn,
        "]": part.nextRound, "[": part.previousRound, Home: part.first, End: part.last,
        " ": part.play, "?": part.helpButton
      }[key.key];
      if (act) {
        key.preventDefault();
        key.stopPropagation();
        act.click();
      }
    }

    /* Rounds, and where the optimum became unreachable, as marks under the slider. */
    function drawTrack(view) {
      var end = Math.max(1, last(view));
      fill(part.track);
      view.game.events.forEach(function (event, index) {
        if (event.type === "round_start" && view.who === "all") {
          mark(index / end, "cb-track-round", "|");
        }
      });
      var lost = view.ledger && view.ledger.unreachable;
      if (lost && lost.at !== null && view.who === "all") { mark(lost.at / end, "cb-track-unreachable", "▲"); }
    }

    function mark(share, kind, text) {
      var node = el("i", { "class": kind }, text);
      node.style.left = (100 * share) + "%";
      part.track.appendChild(node);
    }

    function draw(view) {
      part.slider.max = last(view);
      part.slider.value = view.at;
      part.slider.setAttribute("aria-valuetext", calbench.gameView.placeText(view));
      [part.first, part.previousRound, part.previousTurn, part.previous].forEach(function (each) {
        each.disabled = view.at === 0;
      });
      [part.next, part.nextTurn, part.nextRound, part.last].forEach(function (each) {
        each.disabled = view.at === last(view);
      });
      drawTrack(view);
    }

    part.first = button("|‹", "First event", "Home", function () { return 0; });
    part.previousRound = button("⟨", "Previous round", "[", function () { return step("round", -1); });
    part.previousTurn = button("«", "Previous turn", "k", function () { return step("turn", -1); });
    part.previous = button("‹", "Previous event", "left arrow", function () { return step("", -1); });
    part.play = el("button", { type: "button", "class": "md-button cb-play", "aria-label": "Play",
                               title: "Play or pause (space)" }, "▶");
    part.next = button("›", "Next event", "right arrow", function () { return step("", 1); });
    part.nextTurn = button("»", "Next turn", "j", function () { return step("turn", 1); });
    part.nextRound = button("⟩", "Next round", "]", function () { return step("round", 1); });
    part.last = button("›|", "Last event", "End", last);
    part.slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Event" });
    part.track = el("div", { "class": "cb-track", "aria-hidden": "true" });
    part.unit = select("Play by", [["event", "by event"], ["turn", "by turn"], ["round", "by round"]],
      "turn");
    part.speed = select("Steps a second", [["0.5", "½ /s"], ["1", "1 /s"], ["2", "2 /s"],
                                           ["5", "5 /s"], ["20", "20 /s"]], "1");
    part.helpButton = el("button", { type: "button", "class": "md-button", "aria-expanded": "false",
                                     "aria-label": "Keys", title: "Keys (?)" }, "?");
    part.help = el("dl", { "class": "cb-help", hidden: true });
    KEYS.forEach(function (pair) {
      part.help.appendChild(el("dt", {}, el("kbd", {}, pair[0])));
      part.help.appendChild(el("dd", {}, pair[1]));
    });
    part.play.addEventListener("click", toggle);
    part.helpButton.addEventListener("click", showHelp);
    part.slider.addEventListener("input", function () {
      if (current()) { go(Number(part.slider.value)); }
    });
    document.addEventListener("keydown", pressed);
    part.node = el("div", { "class": "cb-controls", role: "group",
                            "aria-label": "Step through the game" },
      part.first, part.previousRound, part.previousTurn, part.previous, part.play, part.next,
      part.nextTurn, part.nextRound, part.last, part.unit, part.speed, part.helpButton,
      el("div", { "class": "cb-timeline" }, part.slider, part.track));
    return { node: part.node, help: part.help, draw: draw, stop: stop };
  }

  calbench.play = { make: make };
}());
