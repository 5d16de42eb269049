/* The trace browser: choose a game, step through its events, see every calendar and message.
 *
 * Every text from a trace reaches the page through text nodes. The address keeps the place:
 * #experiment/team/scenario/event, where event is the index of the event in the trace file.
 */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var LONGEST_TEXT = 20000;
  var OUTCOMES = {
    scheduled: "scheduled",
    inconsistent_slots: "inconsistent slots",
    no_batch: "no batch",
    earlier_meeting_broken: "earlier meeting broken",
    provider_fault: "provider fault",
    budget_stop: "budget stop"
  };
  var MESSAGES = {
    dm_sent: "private message",
    participant_groupchat_sent: "to the participants",
    all_agent_groupchat_sent: "to all agents",
    sealed_sent: "sealed"
  };
  /* What is to say about a reply, by kind of note. */
  var NOTES = {
    not_json: "its reply is no JSON object",
    wrong_shape: "its reply has another shape than asked for",
    truncated: "its reply breaks off",
    refused: "its reply was refused or filtered",
    empty: "its reply has no text",
    context_exceeded: "the conversation no longer fits the model",
    recovered: "its reply was read after something was cut away",
    prose_ignored: "it reads no prose"
  };
  /* Events that hand an agent a prompt, and those that end its answer. */
  var QUESTIONS = { agent_registered: 1, turn_start: 1, decide_start: 1, reflection: 1 };
  var ANSWERS = { turn_end: 1, decide_end: 1, reflection: 1 };
  /* An event of one of these types begins a new step "by turn". */
  var OPENERS = {
    game_start: 1, round_start: 1, turn_start: 1, decide_start: 1, resolution: 1, game_end: 1
  };

  // ---------------------------------------------------------------- text

  /* Show control and bidirectional characters instead of obeying them; cut what is endless. */
  function visible(value) {
    var text = String(value);
    var cut = text.length > LONGEST_TEXT
      ? text.slice(0, LONGEST_TEXT) + " … (" + (text.length - LONGEST_TEXT)
        + " more characters in the trace file)"
      : text;
    return cut.replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/g,
      function (character, offset, whole) {
        var code = character.charCodeAt(0);
        if (code >= 0xd800 && code <= 0xdbff && isLow(whole.charCodeAt(offset + 1))) {
          return character;
        }
        if (isLow(code) && offset > 0 && isHigh(whole.charCodeAt(offset - 1))) {
          return character;
        }
        return "\\u" + ("0000" + code.toString(16)).slice(-4);
      });
  }

  function isHigh(code) { return code >= 0xd800 && code <= 0xdbff; }
  function isLow(code) { return code >= 0xdc00 && code <= 0xdfff; }

  function agent(id) { return "agent " + id; }
  function Agent(id) { return "Agent " + id; }
  function meeting(id) { return "M" + id; }
  function plural(count, word) { return count + " " + word + (count === 1 ? "" : "s"); }

  function list(items) {
    if (items.length < 2) { return items.join(""); }
    return items.slice(0, -1).join(", ") + " and " + items[items.length - 1];
  }

  // ---------------------------------------------------------------- the game as frames

  /* What stands in a slot, by id. */
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

  /* The state after every event. Rows are shared between frames and never changed. */
  function framesOf(game, scenario) {
    var zeros = scenario.calendars.map(function () { return 0; });
    var frame = {
      calendars: scenario.calendars.map(idsOf), changed: null, paid: zeros, sent: zeros,
      round: null, roundAt: 0, step: -1, phase: "", outcomes: []
    };
    return game.events.map(function (event, index) {
      frame = Object.assign({}, frame, { changed: null });
      if (OPENERS[event.type]) { frame.step += 1; }
      if (event.type === "round_start") {
        frame.round = event;
        frame.roundAt = index;
        frame.phase = "CHEAP_TALK";
      } else if (event.type === "decide_start") {
        frame.phase = event.phase;
      } else if (event.type === "batch_applied") {
        frame.changed = { agent: event.agent_id, before: frame.calendars[event.agent_id] };
        frame.calendars = replaced(frame.calendars, event.agent_id, event.calendar);
        frame.paid = replaced(frame.paid, event.agent_id, frame.paid[event.agent_id] + event.cost);
      } else if (MESSAGES[event.type]) {
        frame.sent = replaced(frame.sent, event.from_agent, frame.sent[event.from_agent] + 1);
      } else if (event.type === "resolution") {
        frame.phase = "RESOLUTION";
        frame.outcomes = frame.outcomes.concat([{ at: index, event: event }]);
      } else if (event.type === "reflection") {
        frame.phase = "REFLECTION";
      } else if (event.type === "game_end") {
        frame.phase = "";
      }
      return frame;
    });
  }

  function replaced(row, index, value) {
    var copy = row.slice();
    copy[index] = value;
    return copy;
  }

  // ---------------------------------------------------------------- words

  function itemName(items, id) {
    return items[id] && items[id].errand_id !== undefined ? "errand " + id : meeting(id);
  }

  function actionText(items, action) {
    switch (action.type) {
    case "schedule":
      return "schedule " + meeting(action.meeting_id) + " in slot " + action.slot;
    case "reschedule":
      return "move " + itemName(items, action.item_id) + " from slot " + action.from_slot
        + " to slot " + action.to_slot;
    case "dm":
      return "send a message to agent " + action.to;
    default:
      return "write to " + String(action.type).replace(/_/g, " ");
    }
  }

  function batchText(items, actions) {
    if (!actions.length) { return "an empty batch"; }
    return actions.map(function (action) { return actionText(items, action); }).join("; ");
  }

  function slotsText(slotByAgent) {
    return Object.keys(slotByAgent).map(function (id) {
      var slot = slotByAgent[id];
      return agent(id) + (slot === null ? ": nowhere" : ": slot " + slot);
    }).join(", ");
  }

  function eventText(event, view) {
    var items = view.items;
    switch (event.type) {
    case "game_start":
      return "The game starts: " + plural(event.num_agents, "agent") + ", "
        + plural(event.num_slots, "slot") + ", " + plural(event.num_meetings, "meeting") + ".";
    case "agent_registered":
      return Agent(event.agent_id) + " takes its seat as " + event.player + ".";
    case "round_start":
      return "Round " + (event.round + 1) + ": " + meeting(event.meeting_id) + " of "
        + list(event.participants.map(agent)) + "; speaking order "
        + event.speaker_order.join(", ") + ".";
    case "turn_start":
      return Agent(event.agent_id) + " is asked to talk, sweep " + (event.turn + 1)
        + ((event.inbox || []).length
          ? "; it reads " + plural(event.inbox.length, "message") + "."
          : "; nothing new to read.");
    case "turn_end":
      return Agent(event.agent_id) + " has ended its turn.";
    case "dm_sent":
    case "participant_groupchat_sent":
    case "all_agent_groupchat_sent":
    case "sealed_sent":
    case "announcement":
      return senderOf(event) + " tells " + recipientsOf(event) + ": "
        + contentText(event.content) + (event.content.kind === "text" ? "" : ".");
    case "invalid_tool_call":
      return Agent(event.agent_id) + " is refused: " + visible(event.reason) + ".";
    case "decide_start":
      return Agent(event.agent_id) + " is asked "
        + (event.phase === "VOLUNTARY" ? "for voluntary moves" : "for its batch")
        + (event.attempt ? ", retry " + event.attempt : "") + ".";
    case "decide_end":
      return Agent(event.agent_id) + " has answered.";
    case "batch_rejected":
      return Agent(event.agent_id) + "'s batch is rejected: " + visible(event.conflict) + ".";
    case "batch_applied":
      return Agent(event.agent_id) + "'s batch is applied: " + batchText(items, event.actions)
        + "; it pays " + event.cost + ".";
    case "consistency_violation":
      return meeting(event.meeting_id) + (event.is_earlier ? " (earlier)" : "")
        + " does not stand in one slot: " + slotsText(event.slot_by_agent) + ".";
    case "resolution":
      return meeting(event.meeting_id) + " is resolved: " + (OUTCOMES[event.outcome] || event.outcome)
        + " (" + slotsText(event.slot_by_agent) + ").";
    case "reflection":
      return Agent(event.agent_id) + " is asked how its beliefs moved (measurement only).";
    case "reply_note":
      return Agent(event.agent_id) + ": " + noteText(event) + ".";
    case "game_halted":
      return haltText(event);
    case "game_end":
      return "The game ends: " + event.rounds_scheduled + " of "
        + (event.rounds_scheduled + event.rounds_failed) + " meetings scheduled, cost "
        + event.total_cost + ", " + plural(event.messages, "message") + ".";
    default:
      return String(event.type);
    }
  }

  /* Who speaks and who hears: the mediator is no agent, and has no number. */
  function senderOf(event) {
    return event.type === "announcement" ? "The mediator" : Agent(event.from_agent);
  }

  function recipientsOf(event) {
    return event.type === "sealed_sent" ? "the mediator" : list(event.to_agents.map(agent));
  }

  function noteText(event) {
    return (NOTES[event.kind] || visible(event.kind)) + " (" + visible(event.detail) + ")";
  }

  function haltText(event) {
    return "The game is halted when " + agent(event.agent_id) + " is asked: "
      + (OUTCOMES[event.reason] || visible(event.reason)) + " (" + visible(event.detail)
      + "). It is not scored.";
  }

  function contentText(content) {
    switch (content.kind) {
    case "cost_request":
      return "what would each slot cost you?";
    case "costs":
      return "my cost in each slot";
    case "decision":
    case "announcement":
      return "we meet in slot " + content.slot;
    case "share":
      return "one share of my cost in each slot";
    case "partial_sum":
      return "the sum of the shares I hold, for each slot";
    case "propose":
      return "could we meet in slot " + content.slot + "?";
    case "reply":
      return "slot " + content.slot + " is " + content.status;
    case "proposals":
      return "what are " + plural(content.plans.length, "plan") + " worth to you?";
    case "scores":
      return "my scores: " + content.scores.join(", ");
    case "plan_decision":
      return "we meet in slot " + content.slot + " (plan " + content.plan_id + ")"
        + movesText(content.moves);
    case "confirm":
      return "slot " + content.slot + " is agreed";
    case "fail":
      return "no slot is left";
    case "reschedule_request":
      return "please move M" + content.old_meeting_id + " from slot " + content.slot;
    case "propose_reschedule":
      return "could M" + content.old_meeting_id + " move to slot " + content.target + "?";
    case "reschedule_reply":
      return "slot " + content.target + " is " + content.status + " for M" + content.old_meeting_id;
    case "confirm_reschedule":
      return "M" + content.old_meeting_id + " moves to slot " + content.target;
    case "fail_reschedule":
      return "M" + content.old_meeting_id + " stays where it is";
    case "text":
      return "“" + visible(content.text).slice(0, 200) + "”";
    default:
      return visible(content.kind);
    }
  }

  function movesText(moves) {
    return moves.map(function (move) {
      return ", M" + move.meeting_id + " moves from slot " + move.from_slot + " to " + move.to_slot;
    }).join("");
  }

  /* One plan of an offer: its moves, as far as the recipient may know them. */
  function planText(plan) {
    return "plan " + plan.plan_id + ": slot " + plan.slot + movesText(plan.moves)
      + (plan.vacated.length ? ", slot " + plan.vacated.join(", ") + " is vacated" : "");
  }

  /* A message's content, readable: a vector of costs becomes a small table of slots. */
  function contentNode(content, view) {
    switch (content.kind) {
    case "cost_request":
      return el("p", {}, "What would it cost you to clear "
        + (content.slots ? "slots " + content.slots.join(", ") : "each slot") + "?");
    case "costs":
      return costTable(content, view);
    case "share":
      return costTable({ costs: content.values }, view, "share");
    case "partial_sum":
      return costTable({ costs: content.values }, view, "sum");
    case "decision":
    case "announcement":
      return el("p", {}, "We meet in ", el("strong", {}, "slot " + content.slot), ".");
    case "text":
      return el("p", { "class": "cb-text" }, visible(content.text));
    case "proposals":
      return el("p", {}, content.plans.map(planText).join("; ") + ".");
    case "scores":
      return el("p", {}, content.plan_ids.map(function (id, index) {
        return "plan " + id + ": " + content.scores[index];
      }).join("; ") + ".");
    case "plan_decision":
    case "propose":
    case "reply":
    case "confirm":
    case "fail":
    case "reschedule_request":
    case "propose_reschedule":
    case "reschedule_reply":
    case "confirm_reschedule":
    case "fail_reschedule":
      return el("p", {}, contentText(content) + ".");
    default:
      return el("p", { "class": "cb-text" }, visible(JSON.stringify(content)));
    }
  }

  function costTable(content, view, word) {
    var slots = content.slots || view.slots;
    var head = el("tr", {}, el("th", { scope: "row" }, "slot"));
    var body = el("tr", {}, el("th", { scope: "row" }, word || "cost"));
    content.costs.forEach(function (cost, index) {
      var slot = slots[index];
      var never = cost === null;
      head.appendChild(el("th", { scope: "col" }, slot));
      body.appendChild(el("td", {
        "class": never ? "cb-never" : cost === 0 ? "cb-zero" : null,
        title: never ? "slot " + slot + ": infeasible" : "slot " + slot + ": " + cost
      }, never ? "×" : cost));
    });
    return el("div", { "class": "cb-scroll" },
      el("table", { "class": "cb-vector" }, el("tbody", {}, head, body)));
  }

  // ---------------------------------------------------------------- drawing

  function gridNode(view) {
    var frame = view.frames[view.at];
    var round = frame.round;
    var head = el("tr", {}, el("th", { scope: "col" }, "Agent"));
    view.slots.forEach(function (slot) { head.appendChild(el("th", { scope: "col" }, slot)); });
    ["paid", "optimum", "sent"].forEach(function (word) {
      head.appendChild(el("th", { scope: "col", "class": "cb-sum" }, word));
    });
    var body = el("tbody", {});
    frame.calendars.forEach(function (calendar, id) {
      var isIn = round && round.participants.indexOf(id) >= 0;
      var role = !isIn ? ""
        : Math.min.apply(null, round.participants) === id ? "initiator" : "participant";
      var name = el("th", { scope: "row", "class": isIn ? "cb-in" : null }, Agent(id));
      if (role) { name.appendChild(el("small", {}, role)); }
      var row = el("tr", {}, name);
      calendar.forEach(function (item, slot) {
        row.appendChild(cellNode(view, frame, id, slot, item));
      });
      var best = view.best ? view.best.cost_by_agent[id] : "–";
      row.appendChild(el("td", { "class": "cb-sum" }, frame.paid[id]));
      row.appendChild(el("td", { "class": "cb-sum" }, best));
      row.appendChild(el("td", { "class": "cb-sum" }, frame.sent[id]));
      body.appendChild(row);
    });
    return el("table", { "class": "cb-grid" },
      el("caption", {}, "Calendars after event " + view.at + ": agents by slot"),
      el("thead", {}, head), body);
  }

  function cellNode(view, frame, id, slot, item) {
    var kind = "free";
    var text = "·";
    var label = "free";
    var entry = item === null ? null : view.items[item];
    if (entry && entry.errand_id !== undefined) {
      kind = entry.blocked ? "blocked" : "errand";
      text = entry.blocked ? "■" : String(entry.cost);
      label = (entry.blocked ? "blocked errand " : "errand ") + item + ", cost " + entry.cost
        + ", shown to its owner as " + entry.shown_cost;
    } else if (item !== null) {
      kind = "meeting";
      text = meeting(item);
      label = "meeting " + item;
    }
    var isNew = frame.changed && frame.changed.agent === id && frame.changed.before[slot] !== item;
    var cell = el("td", {
      "class": "cb-" + kind + (kind === "errand" ? " cb-cost" + Math.min(entry.cost, 3) : "")
        + (isNew ? " cb-new" : ""),
      title: Agent(id) + ", slot " + slot + ": " + label + (isNew ? " (changed now)" : "")
    }, text);
    cell.appendChild(el("span", { "class": "cb-aside" }, " " + label));
    if (isNew) { cell.appendChild(el("span", { "class": "cb-mark", "aria-hidden": "true" }, "◂")); }
    var planned = view.showBest && view.planned[id][slot];
    if (planned) {
      cell.appendChild(el("span", { "class": "cb-plan", title: "optimum: " + meeting(planned) },
        meeting(planned) + "*"));
    }
    return cell;
  }

  function messageNode(view, event, index) {
    var now = index === view.at;
    return el("li", { "class": "cb-message" + (now ? " cb-now" : "") },
      el("header", {},
        el("strong", {}, senderOf(event)), " → " + recipientsOf(event) + " ",
        el("small", {}, (MESSAGES[event.type] || "announcement") + ", sweep " + (event.turn + 1)
          + ", "),
        jumpNode(view, index, "event " + index)),
      contentNode(event.content, view));
  }

  function jumpNode(view, index, words) {
    var link = el("a", { href: addressOf(view.game, index) }, words);
    link.addEventListener("click", function (click) {
      click.preventDefault();
      show(view, index);
    });
    return link;
  }

  function talkNode(view) {
    var frame = view.frames[view.at];
    var items = el("ol", { "class": "cb-talk" });
    for (var index = frame.roundAt; index <= view.at; index += 1) {
      var event = view.game.events[index];
      if (MESSAGES[event.type] || event.type === "announcement") {
        items.appendChild(messageNode(view, event, index));
      } else if (event.type === "invalid_tool_call") {
        items.appendChild(el("li", { "class": "cb-message cb-refused" },
          el("header", {}, el("strong", {}, Agent(event.agent_id)), " refused ",
            jumpNode(view, index, "event " + index)),
          el("p", { "class": "cb-text" }, "✗ " + visible(event.reason))));
      } else if (event.type === "reply_note" && event.phase === "CHEAP_TALK") {
        items.appendChild(noteNode(view, event, index, "cb-message"));
      }
    }
    return items.firstChild ? items : el("p", { "class": "cb-quiet" }, "Nothing said yet.");
  }

  function batchesNode(view) {
    var frame = view.frames[view.at];
    var items = el("ol", { "class": "cb-batches" });
    for (var index = frame.roundAt; index <= view.at; index += 1) {
      var event = view.game.events[index];
      var isApplied = event.type === "batch_applied";
      if (isApplied || event.type === "batch_rejected") {
        var node = el("li", { "class": "cb-batch" + (index === view.at ? " cb-now" : "") },
          el("header", {}, el("strong", {}, Agent(event.agent_id)),
            (event.phase === "VOLUNTARY" ? " voluntary " : " ")
              + (event.attempt ? "retry " + event.attempt + " " : ""),
            jumpNode(view, index, "event " + index)),
          el("p", {}, batchText(view.items, event.actions) + "."),
          el("p", { "class": isApplied ? "cb-good" : "cb-bad" },
            isApplied ? "✓ applied, cost " + event.cost : "✗ " + visible(event.conflict)));
        event.actions.forEach(function (action) {
          if (action.justification) {
            node.appendChild(el("p", { "class": "cb-text cb-quiet" },
              "“" + visible(action.justification) + "”"));
          }
        });
        items.appendChild(node);
      } else if (event.type === "reply_note" && event.phase !== "CHEAP_TALK") {
        items.appendChild(noteNode(view, event, index, "cb-batch"));
      }
    }
    return items.firstChild ? items : el("p", { "class": "cb-quiet" }, "No batch yet.");
  }

  /* What there is to say about a reply that was hard to read, or a message that was not. */
  function noteNode(view, event, index, kind) {
    return el("li", { "class": kind + " cb-refused" + (index === view.at ? " cb-now" : "") },
      el("header", {}, el("strong", {}, Agent(event.agent_id)),
        event.phase === "REFLECTION" ? " in its reflection " : " ",
        jumpNode(view, index, "event " + index)),
      el("p", { "class": "cb-text cb-note-text" },
        (event.kind === "recovered" ? "△ " : "✗ ") + noteText(event)));
  }

  /* The event that asked the agent of this event last, and the one that ended its answer. */
  function exchangeOf(view) {
    var events = view.game.events;
    var event = events[view.at];
    var id = event.agent_id !== undefined ? event.agent_id : event.from_agent;
    if (id === undefined || event.type === "game_halted") { return null; }
    var asked = view.at;
    while (asked >= 0 && !(QUESTIONS[events[asked].type] && events[asked].agent_id === id)) {
      asked -= 1;
    }
    if (asked < 0) { return null; }
    var answered = asked;
    if (events[asked].type !== "agent_registered") {
      while (answered < events.length
          && !(ANSWERS[events[answered].type] && events[answered].agent_id === id)) {
        answered += 1;
      }
    }
    var registered = events.findIndex(function (each) {
      return each.type === "agent_registered" && each.agent_id === id;
    });
    return { id: id, asked: asked, answer: events[answered] || {}, registered: registered };
  }

  /* The answer to a reflection: one row for each other agent, one column for each slot. */
  function beliefsNode(view, event) {
    var targets = Object.keys(event.delta_by_target);
    if (!targets.length) {
      return el("p", { "class": "cb-quiet" }, "No beliefs: the answer could not be read.");
    }
    var calendars = view.frames[view.at].calendars;
    var head = el("tr", {}, el("th", { scope: "col" }, "about"));
    view.slots.forEach(function (slot) { head.appendChild(el("th", { scope: "col" }, slot)); });
    var body = el("tbody", {});
    targets.forEach(function (target) {
      var row = el("tr", {}, el("th", { scope: "row" }, agent(target)));
      var expected = event.expected_by_target && event.expected_by_target[target];
      var deltas = event.delta_by_target[target];
      view.slots.forEach(function (slot) {
        row.appendChild(beliefNode(deltas ? deltas[slot] : 0, expected ? expected[slot] : null,
          calendars[target] && calendars[target][slot] !== null));
      });
      body.appendChild(row);
    });
    return el("div", {},
      el("p", { "class": "cb-quiet" }, "Belief that a slot is occupied: from −3, sooner free, to 3,"
        + " sooner occupied. ✗ goes away from the truth of this moment."),
      el("div", { "class": "cb-scroll", tabindex: 0, role: "region", "aria-label": "Beliefs" },
        el("table", { "class": "cb-vector cb-beliefs" }, el("thead", {}, head), body)));
  }

  function beliefNode(delta, expected, isOccupied) {
    if (delta === 0 && !expected) { return el("td", { "class": "cb-never-moved" }, "·"); }
    var isTrue = isOccupied ? delta > 0 : delta < 0;
    return el("td", {
      "class": delta === 0 ? null : isTrue ? "cb-good" : "cb-bad",
      title: (isOccupied ? "occupied" : "free")
        + (expected === null ? "" : "; expected movement " + expected)
    }, String(delta).replace("-", "−") + (delta !== 0 && !isTrue ? "✗" : ""));
  }

  function outcomesNode(view) {
    var frame = view.frames[view.at];
    var byMeeting = {};
    frame.outcomes.forEach(function (outcome) { byMeeting[outcome.event.meeting_id] = outcome; });
    var body = el("tbody", {});
    view.scenario.meetings.forEach(function (entry) {
      var outcome = byMeeting[entry.meeting_id];
      var isNow = frame.round && frame.round.meeting_id === entry.meeting_id;
      var best = view.best ? view.best.slots[entry.meeting_id] : "–";
      var row = el("tr", { "class": isNow ? "cb-now" : null },
        el("th", { scope: "row" }, meeting(entry.meeting_id)),
        el("td", {}, entry.participants.join(", ")));
      if (outcome) {
        var slots = outcome.event.slot_by_agent;
        row.appendChild(el("td", {}, outcome.event.coordinated ? "✓ " : "✗ ",
          jumpNode(view, outcome.at, OUTCOMES[outcome.event.outcome] || outcome.event.outcome)));
        row.appendChild(el("td", {}, Object.keys(slots).map(function (id) {
          return slots[id] === null ? "–" : slots[id];
        }).filter(function (slot, index, all) { return all.indexOf(slot) === index; }).join(", ")));
      } else {
        row.appendChild(el("td", { "class": "cb-quiet" }, isNow ? "open" : "to come"));
        row.appendChild(el("td", {}, ""));
      }
      row.appendChild(el("td", {}, best));
      body.appendChild(row);
    });
    var head = el("tr", {});
    ["Meeting", "Agents", "Outcome", "Slot played", "Slot in the optimum"].forEach(function (word) {
      head.appendChild(el("th", { scope: "col" }, word));
    });
    var total = frame.paid.reduce(function (sum, cost) { return sum + cost; }, 0);
    var cost = "Paid so far: " + total + ".";
    if (view.best) { cost += " Optimum for all meetings: " + view.best.cost + "."; }
    if (view.worst) { cost += " Worst complete schedule: " + view.worst.cost + "."; }
    return el("div", { "class": "cb-scroll" },
      el("table", { "class": "cb-outcomes" }, el("thead", {}, head), body),
      el("p", {}, cost));
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

  // ---------------------------------------------------------------- one game on the page

  var place = document.getElementById("cb-traces");
  var part = {};
  var current = null;
  var index = null;
  var addressTimer = null;

  function addressOf(game, at) {
    return "#" + [game.experiment, game.team, game.scenario_id].map(encodeURIComponent).join("/")
      + "/" + at;
  }

  function keepAddress() {
    clearTimeout(addressTimer);
    addressTimer = setTimeout(function () {
      if (current) { history.replaceState(null, "", addressOf(current.game, current.at)); }
    }, 120);
  }

  /* What the agent of this event was asked, thought and answered. */
  function showExchange(view) {
    var found = exchangeOf(view);
    var event = view.game.events[view.at];
    var usage = found && found.answer.usage;
    var thinking = found && found.answer.thinking;
    part.exchange.hidden = !found || !(thinking || view.game.has_prompts);
    if (part.exchange.hidden) { return; }
    part.exchangeTitle.textContent = Agent(found.id) + ": its prompt and thoughts";
    part.usage.textContent = usage
      ? usage.input_tokens + " tokens sent (" + usage.cached_tokens + " of them cached), "
        + usage.output_tokens + " received" + (usage.is_estimated ? ", estimated" : "") + "."
      : "";
    fill(part.beliefs);
    if (event.type === "reflection") { part.beliefs.appendChild(beliefsNode(view, event)); }
    part.thinking.hidden = !thinking;
    part.thinkingText.textContent = thinking ? visible(thinking) : "";
    part.prompt.hidden = !view.game.has_prompts || found.asked === found.registered;
    part.system.hidden = !view.game.has_prompts;
    showPrompts();
  }

  /* Prompts are read from a file of their own, once somebody opens one. */
  function showPrompts() {
    var found = current && exchangeOf(current);
    if (!found || !current.game.has_prompts || !(part.prompt.open || part.system.open)) { return; }
    var view = current;
    var name = [view.game.experiment, view.game.team, view.game.scenario_id].join("/");
    calbench.load("prompts/" + name, function (prompts) {
      var now = current === view && exchangeOf(view);
      if (!now) { return; }
      part.promptText.textContent = promptText(prompts, now.asked);
      part.systemText.textContent = promptText(prompts, now.registered);
    }, function () {
      part.promptText.textContent = part.systemText.textContent = "The prompts could not be read.";
    });
  }

  function promptText(prompts, index) {
    var runs = prompts.prompts[index];
    if (!runs) { return "This agent was sent no prompt here."; }
    var lines = [];
    for (var place = 0; place < runs.length; place += 2) {
      lines = lines.concat(prompts.lines.slice(runs[place], runs[place] + runs[place + 1]));
    }
    return visible(lines.join("\n"));
  }

  function show(view, at) {
    view.at = Math.max(0, Math.min(view.game.events.length - 1, at));
    var frame = view.frames[view.at];
    var event = view.game.events[view.at];
    var last = view.game.events.length - 1;
    fill(part.grid, gridNode(view));
    fill(part.talk, talkNode(view));
    fill(part.batches, batchesNode(view));
    fill(part.outcomes, outcomesNode(view));
    part.now.textContent = eventText(event, view);
    showExchange(view);
    part.place.textContent = "Event " + view.at + " of " + last
      + (frame.round ? " · round " + (frame.round.round + 1) + ", "
        + meeting(frame.round.meeting_id) : "")
      + (frame.phase ? " · " + frame.phase.replace("_", " ").toLowerCase() : "");
    part.slider.max = last;
    part.slider.value = view.at;
    part.slider.setAttribute("aria-valuetext", part.place.textContent);
    place.setAttribute("data-event", view.at);
    [part.first, part.previousTurn, part.previous].forEach(function (button) {
      button.disabled = view.at === 0;
    });
    [part.next, part.nextTurn, part.last].forEach(function (button) {
      button.disabled = view.at === last;
    });
    [part.talk, part.batches].forEach(follow);
    keepAddress();
  }

  /* Scroll a lane to what happened last. */
  function follow(lane) {
    var now = lane.querySelector(".cb-now") || lane.querySelector("ol > li:last-child");
    if (now) { lane.scrollTop = now.offsetTop - lane.offsetTop - 8; }
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

  function open(game, scenario, at) {
    var best = scenario.oracle && scenario.oracle.best;
    current = {
      game: game, scenario: scenario, items: itemsOf(scenario), frames: framesOf(game, scenario),
      slots: scenario.calendars[0].map(function (_, slot) { return slot; }),
      best: best, worst: scenario.oracle && scenario.oracle.worst,
      planned: plannedOf(scenario, best), showBest: part.showBest.checked, at: 0
    };
    var difficulty = scenario.difficulty || {};
    part.title.textContent = game.team + " on " + game.scenario_id;
    part.about.textContent = [
      game.kind,
      difficulty.tertile ? difficulty.tertile + " third" : null,
      typeof difficulty.feasible_fraction === "number"
        ? "feasible fraction " + difficulty.feasible_fraction.toPrecision(3) : null,
      "channels " + game.channels.join(", ").replace(/_/g, " "),
      "at most " + game.limits.max_turns_per_round + " sweeps",
      "game " + game.game_id
    ].filter(Boolean).join(" · ");
    var halted = game.events.filter(function (event) { return event.type === "game_halted"; })[0];
    part.halted.textContent = halted ? "⚠ " + haltText(halted) : "";
    part.halted.hidden = !halted;
    part.problem.textContent = "";
    part.viewer.hidden = false;
    place.setAttribute("data-game", [game.experiment, game.team, game.scenario_id].join("/"));
    show(current, at);
  }

  function openGame(experiment, team, scenario, at) {
    var name = [experiment, team, scenario].join("/");
    function failed(key) {
      part.viewer.hidden = true;
      current = null;
      place.removeAttribute("data-game");
      part.problem.textContent = "There is no page data for " + visible(key) + ".";
    }
    choose(experiment, team, scenario);
    calbench.load("games/" + name, function (game) {
      calbench.load("scenarios/" + game.scenario_key, function (about) {
        open(game, about, at);
      }, failed);
    }, failed);
  }

  // ---------------------------------------------------------------- choosing a game

  function entryOf(name) {
    return index.experiments.filter(function (entry) { return entry.name === name; })[0];
  }

  function options(select, pairs, chosen) {
    fill(select);
    pairs.forEach(function (pair) {
      select.appendChild(el("option", { value: pair[0], selected: pair[0] === chosen }, pair[1]));
    });
    if (chosen !== undefined) { select.value = chosen; }
  }

  function choose(experiment, team, scenario) {
    var entry = entryOf(experiment);
    if (!entry) { return; }
    part.experiment.value = experiment;
    options(part.team, entry.teams.map(function (known) {
      return [known.team, known.team + " (" + known.kind + ")"];
    }), team);
    part.note.textContent = entry.note || "";
    chooseScenario(entry, team, scenario);
  }

  function chooseScenario(entry, team, scenario) {
    var known = entry.teams.filter(function (each) { return each.team === team; })[0];
    var words = part.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    var pairs = [];
    entry.scenarios.forEach(function (about, number) {
      var game = known && known.games[number];
      if (!game) { return; }
      var text = [
        about.scenario_id, about.tertile,
        game[0] + "/" + about.meetings + " scheduled", game[0] < about.meetings ? "failed" : null,
        "cost " + game[1] + (about.optimum === null ? "" : " (optimum " + about.optimum + ")"),
        plural(game[2], "message"), game[3] ? "halted, not scored" : null
      ].filter(Boolean).join(" · ");
      if (words.every(function (word) { return text.toLowerCase().indexOf(word) >= 0; })
          || about.scenario_id === scenario) {
        pairs.push([about.scenario_id, text]);
      }
    });
    options(part.scenario, pairs, scenario);
    part.count.textContent = plural(pairs.length, "game") + " listed";
  }

  function chosen() {
    openGame(part.experiment.value, part.team.value, part.scenario.value, 0);
  }

  function openAddress() {
    var names = location.hash.replace(/^#/, "").split("/").map(function (name) {
      try { return decodeURIComponent(name); } catch (error) { return ""; }
    });
    var entry = entryOf(names[0]) || index.experiments[0];
    if (!entry) {
      part.problem.textContent = "This site holds no game.";
      return;
    }
    var team = entry.teams.filter(function (known) { return known.team === names[1]; })[0]
      || entry.teams[0];
    var number = team.games.findIndex(Boolean);
    var scenario = names[2] || entry.scenarios[number].scenario_id;
    var at = /^\d{1,9}$/.test(names[3] || "") ? Number(names[3]) : 0;
    openGame(entry.name, team.team, scenario, at);
  }

  // ---------------------------------------------------------------- building the page

  function button(words, label, keys, act) {
    var node = el("button", { type: "button", "class": "md-button", "aria-label": label,
                              title: label + " (" + keys + ")" }, words);
    node.addEventListener("click", function () { if (current) { show(current, act()); } });
    return node;
  }

  function field(words, node) {
    return el("label", { "class": "cb-field" }, el("span", {}, words), node);
  }

  function panel(title, node) {
    return el("section", { "class": "cb-panel", "aria-label": title }, el("h3", {}, title), node);
  }

  function legend() {
    var items = [
      ["cb-free", "·", "free"], ["cb-errand cb-cost1", "1", "errand, cost 1"],
      ["cb-errand cb-cost2", "2", "cost 2"], ["cb-errand cb-cost3", "3", "cost 3 or more"],
      ["cb-blocked", "■", "blocked"], ["cb-meeting", "M1", "meeting"],
      ["cb-free cb-new", "◂", "changed by this event"]
    ];
    var node = el("p", { "class": "cb-legend" });
    items.forEach(function (item) {
      node.appendChild(el("span", {}, el("i", { "class": item[0], "aria-hidden": "true" }, item[1]),
        " " + item[2]));
    });
    node.appendChild(el("span", {}, el("i", { "class": "cb-free" },
      el("b", { "class": "cb-plan" }, "M1*")), " where the optimum puts it"));
    return node;
  }

  function build() {
    part.experiment = el("select", { id: "cb-experiment" });
    part.team = el("select", { id: "cb-team" });
    part.filter = el("input", { type: "search", id: "cb-filter", autocomplete: "off",
                                placeholder: "e.g. hard failed" });
    part.scenario = el("select", { id: "cb-scenario" });
    part.count = el("small", { "aria-live": "polite" });
    part.problem = el("p", { "class": "cb-bad", role: "alert" });
    part.title = el("h2", { id: "cb-title" });
    part.about = el("p", { "class": "cb-quiet" });
    part.first = button("|‹", "First event", "Home", function () { return 0; });
    part.previousTurn = button("«", "Previous turn", "k", function () {
      return turnFrom(current, -1);
    });
    part.previous = button("‹", "Previous event", "left arrow", function () {
      return current.at - 1;
    });
    part.next = button("›", "Next event", "right arrow", function () { return current.at + 1; });
    part.nextTurn = button("»", "Next turn", "j", function () { return turnFrom(current, 1); });
    part.last = button("›|", "Last event", "End", function () {
      return current.game.events.length - 1;
    });
    part.slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Event" });
    part.place = el("p", { "class": "cb-place" });
    part.note = el("p", { "class": "cb-quiet" });
    part.halted = el("p", { "class": "cb-bad", role: "note", hidden: true });
    part.usage = el("p", { "class": "cb-quiet" });
    part.beliefs = el("div", {});
    part.thinkingText = el("div", { "class": "cb-text cb-prompt" });
    part.thinking = el("details", { "class": "cb-details", open: true },
      el("summary", {}, "What it thought; no other agent sees this"), part.thinkingText);
    part.promptText = el("div", { "class": "cb-text cb-prompt" });
    part.prompt = el("details", { "class": "cb-details" },
      el("summary", {}, "The exact prompt"), part.promptText);
    part.systemText = el("div", { "class": "cb-text cb-prompt" });
    part.system = el("details", { "class": "cb-details" },
      el("summary", {}, "Its system prompt"), part.systemText);
    part.exchange = panel("", el("div", {},
      part.usage, part.beliefs, part.thinking, part.prompt, part.system));
    part.exchange.hidden = true;
    part.exchange.setAttribute("aria-label", "Prompt and thoughts");
    part.exchangeTitle = part.exchange.querySelector("h3");
    part.now = el("p", { "class": "cb-event", "aria-live": "polite" });
    part.showBest = el("input", { type: "checkbox", id: "cb-best" });
    part.grid = el("div", { "class": "cb-scroll", tabindex: 0, role: "region",
                            "aria-label": "Calendars" });
    part.talk = el("div", { "class": "cb-lane", tabindex: 0, role: "region",
                            "aria-label": "Messages of this round" });
    part.batches = el("div", { "class": "cb-lane", tabindex: 0, role: "region",
                               "aria-label": "Batches of this round" });
    part.outcomes = el("div", {});
    part.viewer = el("div", { hidden: true },
      part.title, part.about, part.halted,
      el("div", { "class": "cb-controls", role: "group", "aria-label": "Step through the game" },
        part.first, part.previousTurn, part.previous, part.next, part.nextTurn, part.last,
        part.slider),
      part.place, part.now,
      part.grid, legend(),
      el("p", {}, el("label", {}, part.showBest,
        " mark in the calendars where the optimum puts each meeting")),
      el("div", { "class": "cb-lanes" },
        panel("Messages of this round", part.talk),
        panel("Batches of this round", part.batches)),
      part.exchange,
      panel("Outcomes, and the optimum beside them", part.outcomes));
    fill(place,
      el("div", { "class": "cb-choose" },
        field("Experiment", part.experiment), field("Team", part.team),
        field("Find", part.filter), field("Game", part.scenario), part.count),
      part.note, part.problem, part.viewer);
  }

  function listen() {
    part.experiment.addEventListener("change", function () {
      var entry = entryOf(part.experiment.value);
      var team = entry.teams.filter(function (known) { return known.team === part.team.value; })[0]
        || entry.teams[0];
      var number = team.games.findIndex(Boolean);
      openGame(entry.name, team.team, entry.scenarios[number].scenario_id, 0);
    });
    part.team.addEventListener("change", chosen);
    part.scenario.addEventListener("change", chosen);
    part.filter.addEventListener("input", function () {
      chooseScenario(entryOf(part.experiment.value), part.team.value, part.scenario.value);
    });
    part.slider.addEventListener("input", function () {
      if (current) { show(current, Number(part.slider.value)); }
    });
    part.showBest.addEventListener("change", function () {
      if (current) {
        current.showBest = part.showBest.checked;
        show(current, current.at);
      }
    });
    [part.prompt, part.system].forEach(function (details) {
      details.addEventListener("toggle", showPrompts);
    });
    document.addEventListener("keydown", pressed);
    window.addEventListener("hashchange", openAddress);
  }

  function pressed(key) {
    var target = key.target;
    if (!current || key.altKey || key.ctrlKey || key.metaKey || key.shiftKey) { return; }
    if (target !== part.slider && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) { return; }
    var act = {
      ArrowRight: part.next, ArrowLeft: part.previous, j: part.nextTurn, k: part.previousTurn,
      Home: part.first, End: part.last
    }[key.key];
    if (act) {
      key.preventDefault();
      key.stopPropagation();
      act.click();
    }
  }

  function start() {
    build();
    calbench.load("index", function (found) {
      index = found;
      options(part.experiment, index.experiments.map(function (entry) {
        return [entry.name, entry.name];
      }));
      listen();
      openAddress();
    }, function () {
      part.problem.textContent = "The list of games could not be read.";
    });
  }

  start();
}());
