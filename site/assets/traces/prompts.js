/* What an agent was asked, thought and answered: exact prompts, thoughts, beliefs. */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var words = calbench.text;
  var sight = calbench.privateView;
  var visible = words.visible;
  /* Events that hand an agent a prompt, and those that end its answer. */
  var QUESTIONS = { agent_registered: 1, turn_start: 1, decide_start: 1, reflection: 1 };
  var ANSWERS = { turn_end: 1, decide_end: 1, reflection: 1 };

  /* Whose exchange is shown: that of the event's agent, in an agent's view always its own. */
  function whose(view) {
    if (view.who === sight.OUTSIDER) { return null; }
    if (view.who !== sight.ALL) { return sight.agentOf(view.who); }
    var event = view.game.events[view.at];
    var id = event.agent_id !== undefined ? event.agent_id : event.from_agent;
    return id === undefined || event.type === "game_halted" ? null : id;
  }

  /* The event that asked the agent last, and the one that ended its answer. An answer that is
   * still to come is no part of an agent's own view. Chances belong to the reflection after them. */
  function exchangeOf(view) {
    var events = view.game.events;
    var id = whose(view);
    if (id === null) { return null; }
    var at = view.at + (chancesOf(events, view.at + 1, id) ? 1 : 0);
    var asked = at;
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
    var isYet = view.who === sight.ALL || answered <= at;
    return {
      id: id, asked: asked, answer: isYet && events[answered] || {}, registered: registered,
      chances: isYet && chancesOf(events, answered, id) || {}
    };
  }

  /* The chances that a reflection states, by target; null if the event is none or states none. */
  function chancesOf(events, index, id) {
    var before = events[index - 1];
    var is = before && before.type === "chances_stated" && before.agent_id === id
      && events[index] && events[index].type === "reflection" && events[index].agent_id === id;
    return is && before.occupied_by_target || null;
  }

  /* The answer to a reflection: one row for each other agent, one column for each slot, and a row
   * of chances below where there are. Its author is not told what is true. */
  function beliefsNode(view, event, chances) {
    var targets = Object.keys(Object.assign({}, event.delta_by_target, chances));
    if (!targets.length) {
      return el("p", { "class": "cb-quiet" }, "No beliefs: the answer could not be read.");
    }
    var calendars = view.who === sight.ALL ? view.frames[view.at].calendars : null;
    var head = el("tr", {}, el("th", { scope: "col" }, "about"));
    view.slots.forEach(function (slot) { head.appendChild(el("th", { scope: "col" }, slot)); });
    var body = el("tbody", {});
    targets.forEach(function (target) {
      var row = el("tr", {}, el("th", { scope: "row" }, words.agent(target)));
      var expected = event.expected_by_target && event.expected_by_target[target];
      var deltas = event.delta_by_target[target];
      var truth = function (slot) {
        return calendars && calendars[target] ? calendars[target][slot] !== null : null;
      };
      view.slots.forEach(function (slot) {
        row.appendChild(deltas ? beliefNode(deltas[slot], expected ? expected[slot] : null, truth(slot))
          : el("td", { title: "could not be read" }, "?"));
      });
      body.appendChild(row);
      if (chances[target]) { body.appendChild(chancesNode(view, target, chances[target], truth)); }
    });
    return el("div", {},
      el("p", { "class": "cb-quiet" }, "Belief that a slot is occupied: from −3, rather free, to 3,"
        + " rather occupied." + (Object.keys(chances).length
          ? " Below: the chance in percent, as it states it, that the slot is occupied." : "")
        + (calendars ? " ✗ moves away from the truth at this moment." : "")),
      el("div", { "class": "cb-scroll", tabindex: 0, role: "region", "aria-label": "Beliefs" },
        el("table", { "class": "cb-vector cb-beliefs" }, el("thead", {}, head), body)));
  }

  function beliefNode(delta, expected, isOccupied) {
    if (delta === 0 && !expected) { return el("td", { "class": "cb-never-moved" }, "·"); }
    var text = String(delta).replace("-", "−");
    var movement = expected === null ? null : "expected movement " + expected;
    if (isOccupied === null) { return el("td", { title: movement }, text); }
    var isTrue = isOccupied ? delta > 0 : delta < 0;
    return el("td", {
      "class": delta === 0 ? null : isTrue ? "cb-good" : "cb-bad",
      title: (isOccupied ? "occupied" : "free") + (movement === null ? "" : "; " + movement)
    }, text + (delta !== 0 && !isTrue ? "✗" : ""));
  }

  function chancesNode(view, target, chances, truth) {
    var row = el("tr", { "class": "cb-chances" }, el("th", { scope: "row" }, words.agent(target) + ", %"));
    view.slots.forEach(function (slot) {
      var chance = chances[slot];
      var isOccupied = truth(slot);
      row.appendChild(el("td", {
        title: isOccupied === null ? null : isOccupied ? "occupied" : "free"
      }, chance === undefined ? "·" : String(chance)));
    });
    return row;
  }

  function promptText(event) {
    var text = event.type === "agent_registered" ? event.system_prompt : event.prompt;
    return text === undefined ? "This agent was sent no prompt here." : visible(text);
  }

  /* The panel; `current()` gives the view that is shown, or null. */
  function panel(current) {
    var part = {};

    function details(words, node, isOpen) {
      return el("details", { "class": "cb-details", open: isOpen }, el("summary", {}, words), node);
    }

    function show(view) {
      var found = exchangeOf(view);
      var usage = found && found.answer.usage;
      var thinking = found && found.answer.thinking;
      part.node.hidden = !found || !(thinking || view.game.has_prompts);
      fill(part.beliefs);
      part.thinkingText.textContent = part.promptText.textContent = part.systemText.textContent = "";
      if (part.node.hidden) {
        part.title.textContent = part.usage.textContent = "";
        return;
      }
      part.title.textContent = words.Agent(found.id) + ": its prompt and thoughts";
      part.usage.textContent = usage
        ? usage.input_tokens + " tokens sent (" + usage.cached_tokens + " of them cached), "
          + usage.output_tokens + " received" + (usage.is_estimated ? ", estimated" : "") + "."
        : "";
      if (found.answer.type === "reflection") {
        part.beliefs.appendChild(beliefsNode(view, found.answer, found.chances));
      }
      part.thinking.hidden = !thinking;
      part.thinkingText.textContent = thinking ? visible(thinking) : "";
      part.prompt.hidden = !view.game.has_prompts || found.asked === found.registered;
      part.system.hidden = !view.game.has_prompts;
      showPrompts();
    }

    /* Prompts are long: their text is made once somebody opens one. */
    function showPrompts() {
      var view = current();
      var found = view && exchangeOf(view);
      if (!found || !view.game.has_prompts || !(part.prompt.open || part.system.open)) { return; }
      part.promptText.textContent = promptText(view.game.events[found.asked]);
      part.systemText.textContent = promptText(view.game.events[found.registered]);
    }

    part.usage = el("p", { "class": "cb-quiet" });
    part.beliefs = el("div", {});
    part.title = el("h3", {});
    part.thinkingText = el("div", { "class": "cb-text cb-prompt" });
    part.promptText = el("div", { "class": "cb-text cb-prompt" });
    part.systemText = el("div", { "class": "cb-text cb-prompt" });
    part.thinking = details("What it thought; no other agent sees this", part.thinkingText, true);
    part.prompt = details("The exact prompt", part.promptText, false);
    part.system = details("Its system prompt", part.systemText, false);
    part.node = el("section", { "class": "cb-panel", "aria-label": "Prompt and thoughts", hidden: true },
      part.title, part.usage, part.beliefs, part.thinking, part.prompt, part.system);
    [part.prompt, part.system].forEach(function (each) {
      each.addEventListener("toggle", showPrompts);
    });
    return { node: part.node, show: show };
  }

  calbench.prompts = { panel: panel };
}());
