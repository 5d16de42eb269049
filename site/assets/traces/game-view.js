/* One game at one moment: its position, calendars, talk, batches, costs and outcomes. */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var words = calbench.text;
  var sight = calbench.privateView;

  function panelOf(title, node) {
    return el("section", { "class": "cb-panel", "aria-label": title }, el("h3", {}, title), node);
  }

  function region(kind, label) {
    return el("div", { "class": kind, tabindex: 0, role: "region", "aria-label": label });
  }

  /* Make the elements. `name` distinguishes two stages; `below` goes under the calendars,
   * `middle` between talk and costs. */
  function make(name, below, middle) {
    var of = name ? " of the " + name : "";
    var part = {
      place: el("p", { "class": "cb-place" }),
      now: el("p", { "class": "cb-event", "aria-live": "polite" }),
      grid: region("cb-scroll", "Calendars" + of),
      optimum: region("cb-scroll", "The optimum's calendars" + of),
      lost: el("p", { "class": "cb-unreachable" }),
      talk: region("cb-lane", "Messages" + of),
      batches: region("cb-lane", "Batches" + of),
      costs: el("div", {}),
      outcomes: el("div", {})
    };
    part.talkPanel = panelOf("Messages of this round", part.talk);
    part.batchPanel = panelOf("Batches of this round", part.batches);
    part.costPanel = panelOf("Costs as they accrue", part.costs);
    part.outcomePanel = panelOf("Outcomes and the optimum", part.outcomes);
    part.node = el("div", { "class": "cb-stage" }, part.place, part.now,
      el("div", { "class": "cb-grids" }, part.grid, part.optimum),
      below, part.lost,
      el("div", { "class": "cb-lanes" }, part.talkPanel, part.batchPanel),
      middle, el("div", { "class": "cb-lanes" }, part.costPanel, part.outcomePanel));
    return part;
  }

  function placeText(view) {
    var last = view.game.events.length - 1;
    var round = sight.roundOf(view);
    return "Event " + view.at + " of " + last
      + (round ? " · round " + (round.round + 1) + ", " + words.meeting(round.meeting_id) : "")
      + (round && !round.participants ? ", its participants unknown to this agent" : "")
      + (round && round.phase ? " · " + round.phase.replace("_", " ").toLowerCase() : "");
  }

  function draw(part, view) {
    var isAll = view.who === sight.ALL;
    var scope = view.scope === "game" ? " so far" : " of this round";
    part.place.textContent = placeText(view);
    part.now.textContent = calbench.talk.nowText(view);
    part.talkPanel.querySelector("h3").textContent = "Messages" + scope;
    part.batchPanel.querySelector("h3").textContent = "Batches" + scope;
    fill(part.grid, calbench.grid.gridNode(view));
    fill(part.talk, calbench.talk.talkNode(view));
    fill(part.batches, calbench.talk.batchesNode(view));
    [part.optimum, part.lost, part.costs, part.outcomes].forEach(function (each) { fill(each); });
    [part.costPanel, part.outcomePanel, part.lost].forEach(function (each) { each.hidden = !isAll; });
    part.batchPanel.hidden = view.who === sight.OUTSIDER;
    part.optimum.hidden = !(isAll && view.showOptimum);
    if (isAll) {
      fill(part.costs, calbench.costs.costsNode(view));
      fill(part.outcomes, calbench.costs.outcomesNode(view));
      drawUnreachable(part.lost, view);
    }
    if (!part.optimum.hidden) { fill(part.optimum, calbench.grid.optimumNode(view)); }
    [part.talk, part.batches].forEach(follow);
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

  /* Scroll a lane to what happened last. */
  function follow(lane) {
    var now = lane && (lane.querySelector(".cb-now")
      || lane.querySelector("ol > li:last-child, tbody > tr:last-child"));
    if (now) {
      lane.scrollTop += now.getBoundingClientRect().top - lane.getBoundingClientRect().top - 8;
    }
  }

  calbench.gameView = { draw: draw, follow: follow, make: make, panelOf: panelOf, placeText: placeText };
}());
