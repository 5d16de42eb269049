/* What observers came to believe: the game's ledger replayed, and a heat map of it.
 *
 * Of typed agents a belief is the probability that a slot is feasible, by the meaning of the
 * messages of this round (evidence by semantics). Of language agents it is the sum of what
 * observers answered in the reflections so far, a movement of 3 being one slot. The chances that
 * they state, if they do, are told with a cell.
 */
(function () {
  "use strict";

  var el = calbench.element;
  var words = calbench.text;
  var DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  var GREATEST_MOVEMENT = 3;

  /* What one message moved, as lists of {target, observer, slots: [[slot, belief]]}. */
  function readMoves(ledger, events) {
    var byEvent = {};
    (ledger.moves || []).forEach(function (row) {
      var event = events[row[0]];
      var slots = readSlots(row[1], ledger.values);
      var found = byEvent[row[0]] = byEvent[row[0]] || [];
      if (row.length > 2) {
        found.push({ target: row[2], observer: row[3], slots: slots });
      } else {
        event.to_agents.forEach(function (observer) {
          found.push({ target: event.from_agent, observer: observer, slots: slots });
        });
      }
    });
    return byEvent;
  }

  function readSlots(vector, values) {
    var slots = [];
    if (typeof vector === "string") {
      for (var slot = 0; slot < vector.length; slot += 1) {
        var digit = DIGITS.indexOf(vector[slot]);
        var code = vector.charCodeAt(slot);
        if (vector[slot] !== ".") { slots.push([slot, values[code < 0x100 ? digit : code - 0x100]]); }
      }
    } else {
      for (var place = 0; place < vector.length; place += 2) {
        slots.push([vector[place], values[vector[place + 1]]]);
      }
    }
    return slots;
  }

  /* The steps of a game's loss, in order. Of a typed target: what one message moved, in beliefs.
   * Of another one: what a reflection answered. `step` is in slot-equivalents. */
  function stepsOf(view) {
    var ledger = view.ledger;
    if (view.steps) { return view.steps; }
    var moves = readMoves(ledger, view.game.events);
    var steps = [];
    var held = {};
    view.game.events.forEach(function (event, index) {
      if (event.type === "round_start") { held = {}; }
      (moves[index] || []).forEach(function (move) {
        steps.push(typedStep(index, move, held, ledger.prior));
      });
      if (event.type === "reflection") {
        steps = steps.concat(reflectedSteps(view, event, index));
      }
    });
    view.steps = steps;
    return steps;
  }

  function typedStep(index, move, held, prior) {
    var step = 0;
    var moved = move.slots.map(function (pair) {
      var key = move.target + "/" + move.observer + "/" + pair[0];
      var before = key in held ? held[key] : prior;
      held[key] = pair[1];
      step += Math.abs(pair[1] - prior) - Math.abs(before - prior);
      return { slot: pair[0], before: before, after: pair[1] };
    });
    return { at: index, target: move.target, observer: move.observer, moved: moved, step: step };
  }

  /* Only movement toward the truth of this moment is a loss; the rest is kept apart. */
  function reflectedSteps(view, event, index) {
    return Object.keys(event.delta_by_target).map(Number).filter(function (target) {
      return view.ledger.typed.indexOf(target) < 0;
    }).map(function (target) {
      var expected = event.expected_by_target && event.expected_by_target[target];
      var values = expected || event.delta_by_target[target] || [];
      var calendar = view.frames[index].calendars[target];
      var step = 0;
      var moved = [];
      view.slots.forEach(function (slot) {
        var value = values[slot] || 0;
        var isTrue = calendar[slot] === null ? value < 0 : value > 0;
        if (isTrue) { step += Math.abs(value); }
        if (value) { moved.push({ slot: slot, value: value / GREATEST_MOVEMENT, isTrue: isTrue }); }
      });
      return {
        at: index, target: target, observer: event.agent_id, moved: moved, isReflected: true,
        step: step / GREATEST_MOVEMENT
      };
    });
  }

  /* Beliefs of one observer at an event: {target: {slot: value}}; what is absent never moved. */
  function beliefsAt(view, observer) {
    var beliefs = {};
    var start = view.frames[view.at].roundAt;
    stepsOf(view).forEach(function (step) {
      if (step.at > view.at || step.observer !== observer) { return; }
      if (!step.isReflected && step.at < start) { return; }
      var row = beliefs[step.target] = beliefs[step.target] || {};
      step.moved.forEach(function (each) {
        row[each.slot] = step.isReflected ? (row[each.slot] || 0) + each.value : each.after;
      });
    });
    return beliefs;
  }

  /* The last chances that an observer has stated at an event: {target: [percent, ...]}. */
  function chancesAt(view, observer) {
    var found = {};
    view.game.events.forEach(function (event, index) {
      if (event.type === "chances_stated" && index <= view.at && event.agent_id === observer) {
        Object.assign(found, event.occupied_by_target);
      }
    });
    return found;
  }

  /* Whoever learnt something last, to begin with; else the first agent. */
  function lastObserver(view) {
    var found = 0;
    stepsOf(view).forEach(function (step) {
      if (step.at <= view.at && step.moved.length) { found = step.observer; }
    });
    return found;
  }

  // ---------------------------------------------------------------- heat map

  function heatNode(view, observer) {
    var beliefs = beliefsAt(view, observer);
    var chances = chancesAt(view, observer);
    var head = el("tr", {}, el("th", { scope: "col" }, "about"));
    view.slots.forEach(function (slot) { head.appendChild(el("th", { scope: "col" }, slot)); });
    var body = el("tbody", {});
    view.frames[view.at].calendars.forEach(function (calendar, target) {
      if (target === observer) { return; }
      var isTyped = view.ledger.typed.indexOf(target) >= 0;
      var row = el("tr", {}, el("th", { scope: "row" }, words.agent(target)));
      view.slots.forEach(function (slot) {
        row.appendChild(heatCell(beliefs[target] && beliefs[target][slot], isTyped,
          view.ledger.prior,
          { slot: slot, item: calendar[slot], chance: (chances[target] || [])[slot] }));
      });
      body.appendChild(row);
    });
    return el("div", {}, el("p", { "class": "cb-quiet" }, measureText(view)),
      el("div", { "class": "cb-scroll", tabindex: 0, role: "region", "aria-label": "Heat map" },
        el("table", { "class": "cb-heat" },
          el("caption", {}, "What agent " + observer + " believes after event " + view.at),
          el("thead", {}, head), body)));
  }

  function measureText(view) {
    var all = view.frames[0].calendars.length;
    var typed = "By the meaning of typed messages: the probability that a slot is feasible for the "
      + "agent, from " + view.ledger.prior + " at the start of every round. ";
    var said = "By reflections: what the observer answered so far, added up, in slots; + rather "
      + "occupied, − rather free. ";
    return (view.ledger.typed.length ? typed : "") + (view.ledger.typed.length < all ? said : "")
      + "Blue: free or feasible. Orange: occupied or infeasible. A bar below: truly occupied at this moment.";
  }

  function heatCell(value, isTyped, prior, about) {
    var truth = (about.chance === undefined ? "" : "chance stated " + about.chance + "%; ")
      + (about.item === null ? "free" : "occupied");
    var isOccupied = about.item !== null;
    if (value === undefined) {
      return el("td", {
        "class": "cb-unmoved" + (isOccupied ? " cb-truly" : ""),
        title: "slot " + about.slot + ": no evidence; " + truth
      }, "·");
    }
    var lean = isTyped ? 2 * (prior - value) : value;
    var text = isTyped ? value.toFixed(2).replace(/^0(?=\.)/, "") : signed(value);
    var cell = el("td", {
      "class": isOccupied ? "cb-truly" : null,
      title: "slot " + about.slot + ": " + (isTyped ? "feasible with probability " + value.toFixed(3)
        : "moved by " + signed(value) + " slots") + "; " + truth
    }, text);
    var strength = (0.5 * Math.min(1, Math.abs(lean))).toFixed(2);
    cell.style.backgroundColor = lean > 0 ? "rgb(213 94 0 / " + strength + ")"
      : "rgb(0 114 178 / " + strength + ")";
    return cell;
  }

  function signed(value) {
    return (value > 0 ? "+" : "") + value.toFixed(2).replace("-", "−");
  }

  calbench.beliefs = { heatNode: heatNode, lastObserver: lastObserver, stepsOf: stepsOf };
}());
