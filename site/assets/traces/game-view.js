/* One game at one moment: calendars and conversation side by side, costs and outcomes below. */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var words = calbench.text;
  var sight = calbench.privateView;
  var MARGIN_PX = 8;

  function panelOf(title, node) {
    return el("section", { "class": "cb-panel", "aria-label": title }, el("h3", {}, title), node);
  }

  function region(kind, label) {
    return el("div", { "class": kind, tabindex: 0, role: "region", "aria-label": label });
  }

  /* Make the elements. `name` distinguishes two stages; `legend` goes under the calendars,
   * `middle` under both panes, before costs. The conversation comes first, as on a phone. */
  function make(name, legend, middle) {
    var of = name ? " of the " + name : "";
    var part = {
      place: el("p", { "class": "cb-place" }),
      now: el("p", { "class": "cb-event", "aria-live": "polite" }),
      grid: region("cb-scroll", "Calendars" + of),
      optimum: region("cb-scroll", "The optimum's calendars" + of),
      lost: el("p", { "class": "cb-unreachable" }),
      heading: el("h3", {}),
      talk: region("cb-lane", "Conversation" + of),
      costs: el("div", {}),
      outcomes: el("div", {})
    };
    part.costPanel = panelOf("Costs as they accrue", part.costs);
    part.outcomePanel = panelOf("Outcomes and the optimum", part.outcomes);
    part.panes = el("div", { "class": "cb-panes" },
      el("section", { "class": "cb-pane cb-pane--talk", "aria-label": "Conversation" + of },
        part.heading, part.talk),
      el("section", { "class": "cb-pane cb-pane--calendars", "aria-label": "Calendars" + of },
        part.now, part.grid, legend, part.optimum, part.lost));
    part.node = el("div", { "class": "cb-stage" }, part.panes, middle,
      el("div", { "class": "cb-lanes" }, part.outcomePanel, part.costPanel));
    return part;
  }

  /* How many messages there are, and how many of them by now. */
  function countOf(view) {
    var all = 0;
    var by = 0;
    view.game.events.forEach(function (event, index) {
      if (calbench.talk.isMessage(event)) {
        all += 1;
        if (index <= view.at) { by += 1; }
      }
    });
    return { all: all, by: by };
  }

  /* Where the reader is. How much others say is nothing that a private view tells. */
  function momentText(view) {
    var count = view.who === sight.ALL ? countOf(view) : null;
    if (!count || !count.all) { return "Event " + view.at + " of " + (view.game.events.length - 1); }
    if (!count.by) { return "Before the first of " + words.plural(count.all, "message"); }
    return "Message " + count.by + " of " + count.all;
  }

  function roundText(view) {
    var round = sight.roundOf(view);
    return (round ? " · round " + (round.round + 1) + ", " + words.meeting(round.meeting_id) : "")
      + (round && !round.participants ? ", its participants unknown to this agent" : "")
      + (round && round.phase ? " · " + round.phase.replace("_", " ").toLowerCase() : "");
  }

  function placeText(view) { return momentText(view) + roundText(view); }

  function headingText(view) {
    var round = sight.roundOf(view);
    if (view.scope === "game") { return "Conversation so far"; }
    if (!round) { return "Conversation"; }
    return "Round " + (round.round + 1) + ": " + words.meeting(round.meeting_id)
      + (round.participants ? " of agents " + words.list(round.participants) : "");
  }

  function draw(part, view) {
    var isAll = view.who === sight.ALL;
    fill(part.place, document.createTextNode(momentText(view)), el("span", {}, roundText(view)));
    part.place.title = "Event " + view.at + " of " + (view.game.events.length - 1);
    part.now.textContent = part.now.title = calbench.talk.nowText(view);
    part.heading.textContent = headingText(view);
    fill(part.grid, calbench.grid.gridNode(view));
    fill(part.talk, calbench.talk.talkNode(view));
    [part.optimum, part.lost, part.costs, part.outcomes].forEach(function (each) { fill(each); });
    [part.costPanel, part.outcomePanel, part.lost].forEach(function (each) { each.hidden = !isAll; });
    part.optimum.hidden = !(isAll && view.showOptimum);
    if (isAll) {
      fill(part.costs, calbench.costs.costsNode(view));
      fill(part.outcomes, calbench.costs.outcomesNode(view));
      drawUnreachable(part.lost, view);
    }
    if (!part.optimum.hidden) { fill(part.optimum, calbench.grid.optimumNode(view)); }
    follow(part.talk);
  }

  function drawUnreachable(node, view) {
    var lost = view.ledger && view.ledger.unreachable;
    node.hidden = !lost;
    if (!lost) { return; }
    node.appendChild(el("span", {}, calbench.costs.unreachableText(view) + " "));
    if (lost.at !== null) {
      var button = el("button", { type: "button", "class": "md-button cb-small" },
        "Go to where the optimum became unreachable");
      button.addEventListener("click", function () { view.go(lost.at); });
      node.appendChild(button);
    }
  }

  /* Scroll a lane, and nothing else, to what happens now: whole if there is room for it, else to
   * the words that disclose something, else to its beginning. */
  function follow(lane) {
    var now = lane && (lane.querySelector(".cb-now")
      || lane.querySelector("ol > li:last-child, tbody > tr:last-child"));
    if (!now) { return; }
    var seen = lane.getBoundingClientRect();
    var box = now.getBoundingClientRect();
    if (box.height + 2 * MARGIN_PX > lane.clientHeight) {
      var leak = now.querySelector("mark.cb-leak");
      lane.scrollTop += leak ? leak.getBoundingClientRect().top - seen.top - lane.clientHeight / 3
        : box.top - seen.top - MARGIN_PX;
    } else if (box.bottom > seen.top + lane.clientHeight - MARGIN_PX) {
      lane.scrollTop += box.bottom - seen.top - lane.clientHeight + MARGIN_PX;
    } else if (box.top < seen.top + MARGIN_PX) {
      lane.scrollTop += box.top - seen.top - MARGIN_PX;
    }
  }

  calbench.gameView = { draw: draw, follow: follow, make: make, placeText: placeText };
}());
