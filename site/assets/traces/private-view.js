/* Who sees what: everything, what one agent was told, or what an outsider can see.
 *
 * An agent sees the content of the last question to it, and what it has thought,
 * said and answered since. This follows calbench/engine/observe.py: its own calendar at shown
 * costs, the messages it sent or has read, of the meeting under discussion its participants
 * only if it is one of them, why its last batch was rejected and what was refused, once it was
 * told. The outsider holds no seat: it sees the size of the game, which meeting is under
 * discussion by its number, and what is said to all agents.
 */
(function () {
  "use strict";

  var MESSAGES = calbench.text.messages;
  var ALL = "all";
  var OUTSIDER = "outsider";
  var QUESTIONS = { turn_start: 1, decide_start: 1, reflection: 1 };
  var OWN = {
    agent_registered: 1, turn_start: 1, turn_end: 1, decide_start: 1, decide_end: 1,
    chances_stated: 1, reflection: 1, batch_applied: 1, batch_rejected: 1, batch_withheld: 1
  };

  /* What a conversation shows beside messages. */
  var MOMENTS = {
    announcement: 1, batch_applied: 1, batch_rejected: 1, batch_withheld: 1, invalid_tool_call: 1,
    reply_note: 1, resolution: 1, game_halted: 1, game_end: 1
  };

  /* The agent whose view this is; null if it is nobody's. */
  function agentOf(who) {
    var found = /^agent-(\d{1,4})$/.exec(who);
    return found ? Number(found[1]) : null;
  }

  /* The views a game can be seen in, as value and words. */
  function choices(view) {
    return [[ALL, "everything"]].concat(view.scenario.calendars.map(function (_, id) {
      return ["agent-" + id, "agent " + id];
    }), [[OUTSIDER, "an outsider"]]);
  }

  function isKnown(view, who) {
    return choices(view).some(function (choice) { return choice[0] === who; });
  }

  /* For every agent and event, when it was told of it; made once a game. */
  function timesOf(view) {
    if (view.times) { return view.times; }
    var readAt = view.scenario.calendars.map(function () { return {}; });
    var toldAt = {};
    var open = view.scenario.calendars.map(function () { return { refused: [], rejected: null }; });
    view.game.events.forEach(function (event, index) {
      if (event.type === "turn_start" || event.type === "decide_start") {
        var waiting = open[event.agent_id];
        (event.inbox || []).forEach(function (message) {
          readAt[event.agent_id][message] = index;
        });
        waiting.refused.forEach(function (refusal) { toldAt[refusal] = index; });
        if (waiting.rejected !== null && event.attempt > 0) { toldAt[waiting.rejected] = index; }
        open[event.agent_id] = { refused: [], rejected: null };
      } else if (event.type === "invalid_tool_call") {
        open[event.agent_id].refused.push(index);
      } else if (event.type === "batch_rejected") {
        open[event.agent_id].rejected = index;
      }
    });
    view.times = { readAt: readAt, toldAt: toldAt };
    return view.times;
  }

  /* Whether an event is seen at the moment shown. */
  function sees(view, index) {
    if (view.who === ALL) { return true; }
    var event = view.game.events[index];
    if (index > view.at) { return false; }
    if (event.type === "game_start") { return true; }
    if (view.who === OUTSIDER) { return event.type === "all_agent_groupchat_sent"; }
    var id = agentOf(view.who);
    if (MESSAGES[event.type] || event.type === "announcement") {
      return event.from_agent === id || timesOf(view).readAt[id][index] <= view.at;
    }
    if (event.agent_id !== id) { return false; }
    if (event.type === "invalid_tool_call") { return isTold(view, index); }
    return OWN[event.type] === 1;
  }

  /* Whether something happens at an event that a conversation shows, as far as the view sees it:
   * of others, an agent sees at that event only that it was given their messages to read. */
  function isMoment(view, index) {
    var event = view.game.events[index];
    if (view.who === ALL) { return MESSAGES[event.type] !== undefined || MOMENTS[event.type] === 1; }
    timesOf(view);
    if (!sees(Object.assign({}, view, { at: index }), index)) { return false; }
    if (event.type === "turn_start" || event.type === "decide_start") {
      return (event.inbox || []).length > 0;
    }
    return MESSAGES[event.type] !== undefined || MOMENTS[event.type] === 1;
  }

  /* Where a reader begins: at the first message, else at the first decision, else at the start. */
  function firstMoment(view) {
    var found = view.game.events.map(function (event, index) {
      return isMoment(view, index) ? index : -1;
    }).filter(function (index) { return index >= 0; });
    var said = found.filter(function (index) {
      var type = view.game.events[index].type;
      return MESSAGES[type] !== undefined || type === "turn_start" || type === "announcement";
    });
    return said.concat(found, [0])[0];
  }

  /* Whether an agent was told by now why something of its own failed. */
  function isTold(view, index) {
    return view.who === ALL || timesOf(view).toldAt[index] <= view.at;
  }

  /* The last question put to the agent of this view; -1 if there was none yet. */
  function askedAt(view) {
    var id = agentOf(view.who);
    for (var index = view.at; index >= 0; index -= 1) {
      var event = view.game.events[index];
      if (QUESTIONS[event.type] && event.agent_id === id) { return index; }
    }
    return -1;
  }

  /* What is known of the round: null, or its number, meeting and, if they are known, who takes
   * part; `at` is the event from which on its messages count. */
  function roundOf(view) {
    var at = view.who === ALL || view.who === OUTSIDER ? view.at : askedAt(view);
    var frame = at < 0 ? null : view.frames[at];
    if (!frame || !frame.round) { return null; }
    var participants = frame.round.participants;
    var isIn = view.who === ALL || participants.indexOf(agentOf(view.who)) >= 0;
    return {
      round: frame.round.round, meeting_id: frame.round.meeting_id, at: frame.roundAt,
      participants: isIn ? participants : null,
      phase: view.who === OUTSIDER ? "" : frame.phase
    };
  }

  /* The calendars as far as they are seen: null means hidden. */
  function calendarsOf(view) {
    if (view.who === ALL) { return view.frames[view.at].calendars; }
    var id = agentOf(view.who);
    var asked = id === null ? -1 : askedAt(view);
    return view.scenario.calendars.map(function (_, each) {
      return each === id && asked >= 0 ? view.frames[asked].calendars[id] : null;
    });
  }

  /* Where the meetings of the agent's own calendar are, for the others who take part:
   * [agent][slot]. Whether they hold them there too it is not told. */
  function expectedOf(view) {
    var expected = view.scenario.calendars.map(function () { return {}; });
    calendarsOf(view).forEach(function (calendar, id) {
      (calendar || []).forEach(function (item, slot) {
        var entry = item === null ? null : view.items[item];
        (entry && entry.participants || []).forEach(function (other) {
          if (other !== id) { expected[other][slot] = item; }
        });
      });
    });
    return expected;
  }

  calbench.privateView = {
    ALL: ALL, OUTSIDER: OUTSIDER, agentOf: agentOf, askedAt: askedAt, calendarsOf: calendarsOf,
    choices: choices, expectedOf: expectedOf, firstMoment: firstMoment, isKnown: isKnown, isMoment: isMoment,
    isTold: isTold, roundOf: roundOf, sees: sees
  };
}());
