/* A game as a conversation: messages by channel, the batches that follow them, and results.
 *
 * Of messages in words it marks where they tell a private label, and where they speak of the
 * sender's own slots; the spans are in the game's ledger.
 */
(function () {
  "use strict";

  var el = calbench.element;
  var words = calbench.text;
  var sight = calbench.privateView;
  var visible = words.visible;
  var COLOURS = 8;
  /* Most lines of what is to come. */
  var LATER = 100;
  var CHANNELS = {
    participant_groupchat_sent: "participants' chat", all_agent_groupchat_sent: "all agents' chat",
    sealed_sent: "sealed", announcement: "sealed"
  };
  /* Own-slot claims by their letter in the ledger. */
  var claimNames = {
    p: "proposal", a: "availability", c: "cost or constraint", x: "exact cost"
  };

  function isMessage(event) {
    return words.messages[event.type] !== undefined || event.type === "announcement";
  }

  /* The channel of a message, as a value that sorts and words for it. */
  function channelOf(event) {
    if (event.type === "dm_sent") {
      var pair = [event.from_agent].concat(event.to_agents).sort(function (a, b) { return a - b; });
      return ["dm " + pair.join("-"), "private, agents " + pair.join(" and ")];
    }
    return [CHANNELS[event.type], CHANNELS[event.type]];
  }

  /* The channels in which something was said that is seen now. */
  function channelsOf(view) {
    var found = {};
    view.game.events.forEach(function (event, index) {
      if (index <= view.at && isMessage(event) && sight.sees(view, index)) {
        var channel = channelOf(event);
        found[channel[0]] = channel[1];
      }
    });
    return Object.keys(found).sort().map(function (name) { return [name, found[name]]; });
  }

  function startOf(view) {
    var round = sight.roundOf(view);
    return view.scope === "game" || !round ? 0 : round.at;
  }

  function isInChannel(view, event) {
    return !view.channel || channelOf(event)[0] === view.channel;
  }

  function talkNode(view) {
    var items = el("ol", { "class": "cb-talk" });
    var said = 0;
    for (var index = startOf(view); index <= view.at; index += 1) {
      var event = view.game.events[index];
      if (event.type === "round_start" && view.scope === "game" && view.who === sight.ALL) {
        items.appendChild(el("li", { "class": "cb-round" }, "Round " + (event.round + 1) + ", "
          + words.meeting(event.meeting_id)));
      }
      var node = sight.sees(view, index) ? entryNode(view, event, index) : null;
      if (node) {
        items.appendChild(node);
        said += 1;
      }
    }
    return el("div", {}, said ? items : el("p", { "class": "cb-quiet" },
      view.who === sight.ALL ? "Nothing said yet." : "Nothing heard yet."), laterNode(view));
  }

  /* What this round still holds, one line each: nothing that a private view has. */
  function laterNode(view) {
    var events = view.game.events;
    var items = el("ol", { "class": "cb-talk" });
    var isRound = view.who === sight.ALL && sight.roundOf(view);
    var index = view.at + 1;
    for (; isRound && index < events.length && events[index].type !== "round_start"; index += 1) {
      var text = isMessage(events[index]) && isInChannel(view, events[index])
        || events[index].type === "resolution" && !view.channel
        ? words.eventText(events[index], view) : "";
      if (text) { items.appendChild(laterEntry(view, index, text)); }
      if (items.childNodes.length === LATER) { break; }
    }
    return items.firstChild ? el("div", { "class": "cb-later" },
      el("p", { "class": "cb-quiet" }, "Still to come in this round"), items) : null;
  }

  function laterEntry(view, index, text) {
    var link = view.jump(index, text);
    link.setAttribute("title", "Go to event " + index);
    return el("li", {}, link);
  }

  /* Attributes of an entry; the one that happens now is marked, for a reader of a screen too. */
  function entry(view, index, kind) {
    var isNow = index === view.at;
    return {
      "class": kind + (isNow ? " cb-now" : ""), "data-event": index,
      "aria-current": isNow ? "true" : null
    };
  }

  function entryNode(view, event, index) {
    if (isMessage(event)) {
      return isInChannel(view, event) ? messageNode(view, event, index) : null;
    }
    if (view.channel) { return null; }
    switch (event.type) {
    case "invalid_tool_call":
      return refusedNode(view, event, index);
    case "reply_note":
      return noteNode(view, event, index, event.phase === "CHEAP_TALK" ? "cb-message" : "cb-batch");
    case "batch_applied":
    case "batch_rejected":
    case "batch_withheld":
      return batchNode(view, event, index);
    case "resolution":
      return view.who === sight.ALL ? resultNode(view, event, index) : null;
    default:
      return null;
    }
  }

  function resultNode(view, event, index) {
    return el("li", entry(view, index, "cb-result"),
      el("p", { "class": event.coordinated ? "cb-good" : "cb-bad" },
        (event.coordinated ? "✓ " : "✗ ") + words.eventText(event, view)),
      el("small", {}, view.jump(index, "event " + index)));
  }

  function messageNode(view, event, index) {
    var sender = event.from_agent;
    var own = sight.agentOf(view.who);
    return el("li", entry(view, index, "cb-message"
      + (sender === undefined ? "" : " cb-from" + sender % COLOURS)
      + (own !== null && sender === own ? " cb-own" : "")),
      el("header", {},
        el("strong", {}, words.senderOf(event)), " → " + words.recipientsOf(event) + " ",
        el("small", {}, (words.messages[event.type] || "announcement") + ", sweep "
          + (event.turn + 1) + ", ", view.jump(index, "event " + index))),
      event.content.kind === "text" ? textNode(view, event, index)
        : words.contentNode(event.content, view),
      tagsNode(view, index));
  }

  // ---------------------------------------------------------------- marks in words

  /* The spans of a message in the ledger: {start, end, claims} or {start, end, label, path}; only
   * a label of another, which is passed on, has a path. */
  function spansOf(view, index) {
    var ledger = view.who === sight.ALL && view.ledger;
    var found = ledger && ledger.words && ledger.words[index];
    if (typeof found === "number") { found = ledger.words[found]; }
    return (found || []).map(function (span) {
      return typeof span[2] === "number"
        ? { start: span[0], end: span[1], label: ledger.labels[span[2]], path: span[3] }
        : { start: span[0], end: span[1], claims: span[2] };
    });
  }

  function textNode(view, event, index) {
    var text = event.content.text;
    var node = el("p", { "class": "cb-text" });
    markInto(node, text, spansOf(view, index));
    return node;
  }

  /* Cut a text at the ends of its spans, so that each piece is marked as a whole. */
  function markInto(node, text, spans) {
    if (!spans.length || text.length > 20000) {
      node.appendChild(document.createTextNode(visible(text)));
      return;
    }
    var cuts = [0, text.length];
    spans.forEach(function (span) { cuts.push(span.start, span.end); });
    cuts = cuts.filter(function (cut, place) { return cuts.indexOf(cut) === place; })
      .sort(function (a, b) { return a - b; });
    for (var place = 0; place + 1 < cuts.length; place += 1) {
      node.appendChild(pieceNode(text.slice(cuts[place], cuts[place + 1]), cuts[place], spans));
    }
  }

  function pieceNode(text, start, spans) {
    var over = spans.filter(function (span) { return span.start <= start && start < span.end; });
    var leak = over.filter(function (span) { return span.label; })[0];
    var claim = over.filter(function (span) { return span.claims; })[0];
    if (leak) {
      return el("mark", { "class": "cb-leak cb-tier-" + tierOf(leak), title: leakText(leak, null) },
        visible(text), start + text.length === leak.end ? el("sup", {}, tierOf(leak)) : null);
    }
    if (claim) {
      return el("span", { "class": "cb-claim", title: claimsText(claim.claims) }, visible(text));
    }
    return document.createTextNode(visible(text));
  }

  /* The same as links to the messages. */
  function pathNode(view, path) {
    var node = el("span", { "class": "cb-tag cb-path" }, "path: ");
    path.forEach(function (step, place) {
      node.appendChild(document.createTextNode(place ? " → " : ""));
      node.appendChild(view.jump(step[1], words.agent(step[0])));
    });
    node.appendChild(document.createTextNode(" → " + path[path.length - 1][2].join(", ")));
    return node;
  }

  /* Tiers become part of a class: only those we know. */
  function tierOf(leak) {
    return ["public", "neutral", "sensitive"].indexOf(leak.label[1]) < 0 ? "other" : leak.label[1];
  }

  /* What a leak tells; beside the message `event` that it stands in, whom it tells, else of which item. */
  function leakText(leak, event) {
    var hearers = event && event.to_agents && event.to_agents.length
      ? (event.to_agents.length > 1 ? "agents " : "agent ") + words.list(event.to_agents) : "";
    return (leak.path ? "passes on second-hand" + (hearers ? " to " + hearers : "")
      : hearers ? "tells " + hearers : "discloses")
      + " the private label “" + visible(leak.label[0]) + "” (" + tierOf(leak) + ")"
      + (event ? "" : " of item " + leak.label[2]) + (leak.path ? ", on the path " + pathText(leak.path) : "");
  }

  /* The messages that told a label: "agent 0 told 1, 2 (event 7), agent 1 told 3 (event 16)". */
  function pathText(path) {
    return path.map(function (step) {
      return words.agent(step[0]) + " told " + step[2].join(", ") + " (event " + step[1] + ")";
    }).join(", ");
  }

  function claimsText(claims) {
    return claims.split("").map(function (letter) { return claimNames[letter]; }).join(", ");
  }

  function tagsNode(view, index) {
    var spans = spansOf(view, index);
    var ledger = view.who === sight.ALL && view.ledger;
    var patterns = ledger && ledger.tags && ledger.tags[index] || [];
    if (!spans.length && !patterns.length) { return null; }
    var node = el("p", { "class": "cb-tags" });
    spans.filter(function (span) { return span.label; }).forEach(function (leak) {
      node.appendChild(el("span", { "class": "cb-tag cb-tag--leak" },
        leakText(leak, view.game.events[index])));
      if (leak.path) { node.appendChild(pathNode(view, leak.path)); }
    });
    var claims = spans.map(function (span) { return span.claims || ""; }).join("");
    Object.keys(claimNames).forEach(function (letter) {
      if (claims.indexOf(letter) >= 0) {
        node.appendChild(el("span", { "class": "cb-tag" }, "own slots: " + claimNames[letter]));
      }
    });
    patterns.forEach(function (name) {
      node.appendChild(el("span", { "class": "cb-tag" },
        "pattern: " + visible(name).replace(/_/g, " ")));
    });
    return node;
  }

  // ---------------------------------------------------------------- batches, notes

  function refusedNode(view, event, index) {
    return el("li", entry(view, index, "cb-message cb-refused"),
      el("header", {}, el("strong", {}, words.Agent(event.agent_id)), " refused ",
        el("small", {}, view.jump(index, "event " + index))),
      el("p", { "class": "cb-text" }, "✗ " + visible(event.reason)));
  }

  /* What there is to say about a reply that was hard to read, or a message that was not. */
  function noteNode(view, event, index, kind) {
    return el("li", entry(view, index, kind + " cb-refused"),
      el("header", {}, el("strong", {}, words.Agent(event.agent_id)),
        event.phase === "REFLECTION" ? " in its reflection " : " ",
        el("small", {}, view.jump(index, "event " + index))),
      el("p", { "class": "cb-text cb-note-text" },
        (event.kind === "recovered" ? "△ " : "✗ ") + words.noteText(event)));
  }

  function batchNode(view, event, index) {
    var node = el("li", entry(view, index, "cb-batch"),
      el("header", {}, el("strong", {}, words.Agent(event.agent_id)),
        (event.phase === "VOLUNTARY" ? " moves of its own accord" : " decides")
          + (event.attempt ? ", retry " + event.attempt : "") + " ",
        el("small", {}, view.jump(index, "event " + index))),
      el("p", {}, words.batchText(view.items, event.actions) + "."), verdictNode(view, event, index));
    event.actions.forEach(function (action) {
      if (action.justification) {
        node.appendChild(el("p", { "class": "cb-text cb-quiet" },
          "“" + visible(action.justification) + "”"));
      }
    });
    return node;
  }

  /* What became of a batch. Its owner is told only why it must try again. */
  function verdictNode(view, event, index) {
    if (event.type === "batch_rejected") {
      return sight.isTold(view, index)
        ? el("p", { "class": "cb-bad" }, "✗ " + visible(event.conflict)) : null;
    }
    if (event.type === "batch_withheld") {
      return view.who === sight.ALL
        ? el("p", { "class": "cb-bad" }, "✗ not applied: " + words.withheld[event.reason]) : null;
    }
    return view.who === sight.ALL
      ? el("p", { "class": "cb-good" }, "✓ applied, cost " + event.cost) : null;
  }

  /* What happens at an event, as far as it is seen. */
  function nowText(view) {
    var event = view.game.events[view.at];
    if (view.who === sight.ALL) { return words.eventText(event, view); }
    var name = view.who === sight.OUTSIDER ? "the outsider" : words.agent(sight.agentOf(view.who));
    if (!sight.sees(view, view.at)) { return "Nothing that " + name + " sees."; }
    if (/^batch_/.test(event.type)) {
      return words.Agent(event.agent_id) + " answers with a batch: "
        + words.batchText(view.items, event.actions) + ".";
    }
    if (event.type === "agent_registered") { return words.Agent(event.agent_id) + " takes its seat."; }
    return words.eventText(event, view);
  }

  calbench.talk = {
    channelsOf: channelsOf, claimsText: claimsText, isMessage: isMessage,
    leakText: leakText, markInto: markInto, nowText: nowText, pathNode: pathNode,
    spansOf: spansOf, talkNode: talkNode
  };
}());
