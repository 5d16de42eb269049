/* The controls of a game: step through it, play it, and the keys for all that. */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var frames = calbench.frames;
  var sight = calbench.privateView;
  var KEYS = [
    ["← →", "previous or next event"], ["k j", "previous or next turn"],
    ["[ ]", "previous or next round"], ["Home End", "first or last event"],
    ["Space", "play or pause"], ["?", "show or hide this list"]
  ];
  var UNITS = [["message", "message or decision"], ["turn", "turn"], ["round", "round"], ["event", "event"]];
  var SPEEDS = [["0.5", "one step in 2 s"], ["1", "1 step a second"], ["2", "2 steps a second"],
                ["5", "5 steps a second"], ["20", "20 steps a second"]];

  function last(view) { return view.game.events.length - 1; }

  /* The next event (or the one before) that the conversation shows, as far as it is seen. */
  function momentFrom(view, direction) {
    for (var at = view.at + direction; at > 0 && at < last(view); at += direction) {
      if (sight.isMoment(view, at)) { return at; }
    }
    return at;
  }

  function step(view, unit, direction) {
    if (unit === "turn") { return frames.turnFrom(view, direction); }
    if (unit === "round") { return frames.roundFrom(view, direction); }
    return unit === "event" ? view.at + direction : momentFrom(view, direction);
  }

  function select(id, pairs, chosen) {
    var node = el("select", { id: id });
    pairs.forEach(function (pair) { node.appendChild(el("option", { value: pair[0] }, pair[1])); });
    node.value = chosen;
    return node;
  }

  function helpNode() {
    var node = el("dl", { "class": "cb-help", hidden: true });
    KEYS.forEach(function (pair) {
      node.appendChild(el("dt", {}, el("kbd", {}, pair[0])));
      node.appendChild(el("dd", {}, pair[1]));
    });
    return node;
  }

  /* Make the controls. `current()` is the view shown, `go(event)` moves it, `menu` folds the rest
   * and `placed` says where the reader is. */
  function make(current, go, menu, placed) {
    var part = {};
    var timer = null;

    function button(face, words, act) {
      var node = el("button", { type: "button", "class": "md-button", "aria-label": words, title: words }, face);
      node.addEventListener("click", act);
      return node;
    }

    function move(unit, direction) {
      if (current()) { go(step(current(), unit, direction)); }
    }

    function toEnd() { if (current()) { go(last(current())); } }

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
        move(part.unit.value, 1);
        if (view.at === last(view)) { stop(); } else { wait(); }
      }, 1000 / Number(part.speed.value));
    }

    function stop() {
      clearTimeout(timer);
      timer = null;
      part.play.textContent = "▶";
      part.play.setAttribute("aria-label", "Play");
    }

    function showHelp() {
      part.help.hidden = !part.help.hidden;
      part.helpButton.setAttribute("aria-expanded", String(!part.help.hidden));
      if (!part.help.hidden) { menu.show(true); }
    }

    function nameSteps() {
      [[part.previous, "Previous "], [part.next, "Next "]].forEach(function (pair) {
        pair[0].title = pair[1] + part.unit.value;
        pair[0].setAttribute("aria-label", pair[0].title);
      });
    }

    var ACTS = {
      ArrowRight: function () { move("event", 1); }, ArrowLeft: function () { move("event", -1); },
      j: function () { move("turn", 1); }, k: function () { move("turn", -1); },
      "]": function () { move("round", 1); }, "[": function () { move("round", -1); },
      Home: function () { go(0); }, End: toEnd, " ": toggle, "?": showHelp
    };

    function pressed(key) {
      var target = key.target;
      if (!current() || key.altKey || key.ctrlKey || key.metaKey) { return; }
      if (target !== part.slider && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) { return; }
      if (key.key === " " && target !== document.body && target !== part.slider) { return; }
      if (Object.prototype.hasOwnProperty.call(ACTS, key.key)) {
        key.preventDefault();
        key.stopPropagation();
        ACTS[key.key]();
      }
    }

    /* Rounds by number, those that failed, and where the optimum became unreachable, as marks under
     * the slider. */
    function drawTrack(view) {
      var end = Math.max(1, last(view));
      fill(part.track);
      if (view.who !== sight.ALL) { return; }
      view.game.events.forEach(function (event, index) {
        if (event.type === "round_start") { mark(index / end, "cb-track-round", event.round + 1); }
        if (event.type === "resolution" && !event.coordinated && part.track.lastChild) {
          part.track.lastChild.textContent += "✗";
        }
      });
      var lost = view.ledger && view.ledger.unreachable;
      if (lost && lost.at !== null) { mark(lost.at / end, "cb-track-unreachable", "▲"); }
    }

    function mark(share, kind, text) {
      var node = el("i", { "class": kind }, text);
      node.style.left = (100 * share) + "%";
      part.track.appendChild(node);
    }

    function draw(view) {
      part.slider.max = last(view);
      part.slider.value = view.at;
      part.slider.style.setProperty("--cb-at", (100 * view.at / Math.max(1, last(view))) + "%");
      part.slider.setAttribute("aria-valuetext", calbench.gameView.placeText(view));
      [part.first, part.previous].forEach(function (each) { each.disabled = view.at === 0; });
      [part.next, part.last].forEach(function (each) { each.disabled = view.at === last(view); });
      drawTrack(view);
    }

    part.first = button("|‹", "First event", function () { go(0); });
    part.previous = button("‹", "", function () { move(part.unit.value, -1); });
    part.play = button("▶", "Play", toggle);
    part.play.classList.add("cb-play");
    part.play.title = "Play or pause (space)";
    part.next = button("›", "", function () { move(part.unit.value, 1); });
    part.last = button("›|", "Last event", toEnd);
    part.slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Event" });
    part.track = el("div", { "class": "cb-track", "aria-hidden": "true" });
    part.unit = select("cb-unit", UNITS, "message");
    part.speed = select("cb-speed", SPEEDS, "1");
    part.help = helpNode();
    part.helpButton = button("Keys", "Keys", showHelp);
    part.helpButton.setAttribute("aria-expanded", "false");
    part.helpButton.title = "Keys (?)";
    part.unit.addEventListener("change", nameSteps);
    part.slider.addEventListener("input", function () {
      if (current()) { go(Number(part.slider.value)); }
    });
    document.addEventListener("keydown", pressed);
    nameSteps();
    part.node = el("div", { "class": "cb-controls", role: "group", "aria-label": "Step through the game" },
      part.first, part.previous, part.play, part.next, part.last,
      el("div", { "class": "cb-timeline" }, el("div", { "class": "cb-slide" }, part.slider, part.track), placed),
      menu.node);
    return {
      node: part.node, unit: part.unit, speed: part.speed, help: part.help,
      helpButton: part.helpButton, draw: draw, stop: stop
    };
  }

  calbench.play = { make: make };
}());
