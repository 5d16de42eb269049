/* The content of a game, in words: events, actions, messages.
 *
 * Text of a trace is hostile: it leaves here as text nodes only, with control and bidirectional
 * characters named instead of obeyed.
 */
(function () {
  "use strict";

  var el = calbench.element;
  var LONGEST_TEXT = 20000;
  var LONGEST_LINE = 200;
  var OUTCOMES = {
    scheduled: "scheduled",
    inconsistent_slots: "inconsistent slots",
    no_batch: "no batch",
    earlier_meeting_broken: "earlier meeting broken",
    provider_fault: "provider fault",
    budget_stop: "budget stop"
  };
  /* Why valid batches are not applied, where all are or none. */
  var WITHHELD = {
    missing: "not every participant has a valid batch",
    blocked: "a batch moves a blocked item"
  };
  var MESSAGES = {
    dm_sent: "private message",
    participant_groupchat_sent: "to the participants",
    all_agent_groupchat_sent: "to all agents",
    sealed_sent: "sealed"
  };
  /* What is to say about a reply, by kind of note. */
  var NOTES = {
    not_json: "its reply is not a JSON object",
    wrong_shape: "its reply does not have the requested shape",
    truncated: "its reply breaks off",
    refused: "its reply was refused or filtered",
    empty: "its reply has no text",
    context_exceeded: "the conversation no longer fits the model",
    recovered: "its reply was read after removing text",
    prose_ignored: "it cannot read prose"
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

  /* What a line of its own has room for, with a mark where something was left out. */
  function shortened(text) {
    if (text.length <= LONGEST_LINE) { return text; }
    return text.slice(0, LONGEST_LINE - (isHigh(text.charCodeAt(LONGEST_LINE - 1)) ? 1 : 0)) + " …";
  }

  function agent(id) { return "agent " + id; }
  function Agent(id) { return "Agent " + id; }
  function meeting(id) { return "M" + id; }
  function plural(count, word) { return count + " " + word + (count === 1 ? "" : "s"); }

  function list(items) {
    if (items.length < 2) { return items.join(""); }
    return items.slice(0, -1).join(", ") + " and " + items[items.length - 1];
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
        + (event.content.kind === "text" ? contentText(event.content)
          : ended(contentText(event.content)));
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
    case "batch_withheld":
      return Agent(event.agent_id) + "'s batch is not applied: " + WITHHELD[event.reason] + ".";
    case "batch_applied":
      return Agent(event.agent_id) + "'s batch is applied: " + batchText(items, event.actions)
        + "; it pays " + event.cost + ".";
    case "consistency_violation":
      return meeting(event.meeting_id) + (event.is_earlier ? " (earlier)" : "")
        + " is not in one slot: " + slotsText(event.slot_by_agent) + ".";
    case "resolution":
      return meeting(event.meeting_id) + " is resolved: " + (OUTCOMES[event.outcome] || event.outcome)
        + " (" + slotsText(event.slot_by_agent) + ").";
    case "reflection":
      return Agent(event.agent_id) + " is asked how its beliefs moved (measurement only).";
    case "chances_stated":
      return Agent(event.agent_id) + " states how likely it is that slots are occupied (measurement only).";
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
      return (content.plans.length === 1 ? "what is " : "what are ") + plural(content.plans.length, "plan") + " worth to you?";
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
      return "“" + shortened(visible(content.text)) + "”";
    default:
      return visible(content.kind);
    }
  }

  function ended(sentence) { return /[.?]$/.test(sentence) ? sentence : sentence + "."; }

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
      return el("p", {}, ended(contentText(content)));
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
    return el("div", { "class": "cb-scroll", tabindex: 0, role: "group", "aria-label": "Table" },
      el("table", { "class": "cb-vector" }, el("tbody", {}, head, body)));
  }

  calbench.text = {
    agent: agent, Agent: Agent, batchText: batchText, contentNode: contentNode,
    contentText: contentText, eventText: eventText, haltText: haltText,
    list: list, meeting: meeting, messages: MESSAGES, noteText: noteText, outcomes: OUTCOMES,
    plural: plural, recipientsOf: recipientsOf, senderOf: senderOf,
    visible: visible, withheld: WITHHELD
  };
}());
