/* A game as a list of frames: the state after every event, and where steps and rounds end. */
(function () {
  "use strict";

  var MESSAGES = calbench.text.messages;
  /* An event of one of these types begins a new step "by turn". */
  var OPENERS = {
    game_start: 1, round_start: 1, turn_start: 1, decide_start: 1, resolution: 1, game_end: 1
  };

  /* The content of a slot, by id. */
  function itemsOf(scenario) {
    var items = {};
    scenario.calendars.forEach(function (calendar) {
      calendar.forEach(function (entry) {
        if (entry && entry.errand_id !== undefined) { items[entry.errand_id] = entry; }
      });
    });
    scenario.meetings.concat(scenario.prior_meetings).forEach(function (entry) {
      items[entry.meeting_id] = entry;
    });
    return items;
  }

  function idsOf(calendar) {
    return calendar.map(function (entry) {
      if (!entry) { return null; }
      return entry.errand_id !== undefined ? entry.errand_id : entry.meeting_id;
    });
  }

  /* The state after every event. Rows are shared between frames and never changed.
   *
   * `paid` is in accounting cost; `shown` is what the owner was shown of it: all it knows. */
  function framesOf(game, scenario, items) {
    var zeros = scenario.calendars.map(function () { return 0; });
    var frame = {
      calendars: scenario.calendars.map(idsOf), changed: null, paid: zeros, shown: zeros,
      sent: zeros, paidByRound: [], round: null, roundAt: 0, step: -1, phase: "", outcomes: []
    };
    return game.events.map(function (event, index) {
      frame = Object.assign({}, frame, { changed: null });
      if (OPENERS[event.type]) { frame.step += 1; }
      if (event.type === "round_start") {
        frame.round = event;
        frame.roundAt = index;
        frame.phase = "CHEAP_TALK";
        frame.paidByRound = frame.paidByRound.concat([zeros]);
      } else if (event.type === "decide_start") {
        frame.phase = event.phase;
      } else if (event.type === "batch_applied") {
        applied(frame, event, items);
      } else if (MESSAGES[event.type]) {
        frame.sent = added(frame.sent, event.from_agent, 1);
      } else if (event.type === "resolution") {
        frame.phase = "RESOLUTION";
        frame.outcomes = frame.outcomes.concat([{ at: index, event: event }]);
      } else if (event.type === "reflection" || event.type === "chances_stated") {
        frame.phase = "REFLECTION";
      } else if (event.type === "game_end") {
        frame.phase = "";
      }
      return frame;
    });
  }

  function applied(frame, event, items) {
    var id = event.agent_id;
    var last = frame.paidByRound.length - 1;
    var shown = event.actions.reduce(function (sum, action) {
      return sum + (action.type === "reschedule" ? shownCost(items[action.item_id]) : 0);
    }, 0);
    frame.changed = { agent: id, before: frame.calendars[id] };
    frame.calendars = replaced(frame.calendars, id, event.calendar);
    frame.paid = added(frame.paid, id, event.cost);
    frame.shown = added(frame.shown, id, shown);
    if (last >= 0) {
      frame.paidByRound = replaced(frame.paidByRound, last,
        added(frame.paidByRound[last], id, event.cost));
    }
  }

  /* What an owner is told that a move costs: an errand's shown cost, a meeting's own. */
  function shownCost(entry) {
    if (!entry) { return 0; }
    return entry.shown_cost === undefined ? entry.cost : entry.shown_cost;
  }

  function added(row, index, value) { return replaced(row, index, row[index] + value); }

  function replaced(row, index, value) {
    var copy = row.slice();
    copy[index] = value;
    return copy;
  }

  /* Which meeting the optimum puts where: [agent][slot]. */
  function plannedOf(scenario, best) {
    var planned = scenario.calendars.map(function () { return {}; });
    if (best) {
      var slots = Object.assign({}, best.prior_slots, best.slots);
      scenario.meetings.concat(scenario.prior_meetings).forEach(function (entry) {
        entry.participants.forEach(function (id) {
          planned[id][slots[entry.meeting_id]] = entry.meeting_id;
        });
      });
    }
    return planned;
  }

  /* Everything that drawing one game needs. `at` is the event shown. */
  function viewOf(game, scenario, at) {
    var best = scenario.oracle && scenario.oracle.best;
    var items = itemsOf(scenario);
    var view = {
      game: game, scenario: scenario, items: items, frames: framesOf(game, scenario, items),
      slots: scenario.calendars[0].map(function (_, slot) { return slot; }),
      best: best, worst: scenario.oracle && scenario.oracle.worst,
      planned: plannedOf(scenario, best), at: 0, who: "all", ledger: game.ledger || null
    };
    view.at = within(view, at);
    return view;
  }

  function within(view, at) {
    return Math.max(0, Math.min(view.game.events.length - 1, at));
  }

  /* The last event of the turn after (or before) this one. */
  function turnFrom(view, direction) {
    var steps = view.frames.map(function (frame) { return frame.step; });
    var wanted = steps[view.at] + direction;
    if (direction > 0 && steps[view.at + 1] === steps[view.at]) { wanted = steps[view.at]; }
    if (wanted < 0) { return 0; }
    var found = steps.lastIndexOf(wanted);
    return found < 0 ? steps.length - 1 : found;
  }

  /* Which round an event belongs to: -1 before the first. */
  function roundOf(view, at) {
    var round = view.frames[at].round;
    return round ? round.round : -1;
  }

  /* The last event of a round; of the last one, the end of the game. */
  function endOfRound(view, number) {
    var found = 0;
    view.frames.forEach(function (frame, index) {
      if (roundOf(view, index) <= number) { found = index; }
    });
    return found;
  }

  /* The end of this round if it is ahead, else of the next; backwards, of the one before. */
  function roundFrom(view, direction) {
    var number = roundOf(view, view.at);
    var end = endOfRound(view, number);
    if (direction > 0) { return view.at < end ? end : endOfRound(view, number + 1); }
    return number < 0 ? 0 : endOfRound(view, number - 1);
  }

  calbench.frames = {
    endOfRound: endOfRound, roundFrom: roundFrom, roundOf: roundOf,
    turnFrom: turnFrom, viewOf: viewOf, within: within
  };
}());
