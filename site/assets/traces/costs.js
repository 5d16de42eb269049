/* What a game has cost so far, against the optimum, and how its meetings ended. */
(function () {
  "use strict";

  var el = calbench.element;
  var words = calbench.text;
  var meeting = words.meeting;

  function total(row) { return row.reduce(function (sum, each) { return sum + each; }, 0); }
  function signed(value) {
    return value > 0 ? "+" + value : String(value).replace("-", "−");
  }

  function headOf(names) {
    var head = el("tr", {});
    names.forEach(function (name) { head.appendChild(el("th", { scope: "col" }, name)); });
    return el("thead", {}, head);
  }

  /* One row an agent: what it paid in each round so far, in all, and in the optimum. */
  function costsNode(view) {
    var frame = view.frames[view.at];
    var best = view.best;
    var most = Math.max.apply(null, frame.paid.concat(best ? best.cost_by_agent : [], [1]));
    var body = el("tbody", {});
    frame.paid.forEach(function (paid, id) {
      var optimum = best ? best.cost_by_agent[id] : null;
      var row = rowOf(words.Agent(id), frame.paidByRound.map(function (round) { return round[id]; }),
        paid, optimum);
      row.appendChild(el("td", { "class": "cb-bars" }, barNode("cb-paid", paid, most),
        best ? barNode("cb-best-cost", optimum, most) : null));
      body.appendChild(row);
    });
    var all = rowOf("all", frame.paidByRound.map(total), total(frame.paid), best ? best.cost : null);
    all.appendChild(el("td", {}));
    body.appendChild(all);
    var names = ["Agent"].concat(frame.paidByRound.map(function (_, round) {
      return "round " + (round + 1);
    }), ["paid", "optimum", "over", "as bars"]);
    return el("div", {},
      el("div", { "class": "cb-scroll", tabindex: 0, role: "region", "aria-label": "Costs" },
        el("table", { "class": "cb-costs" }, headOf(names), body)),
      el("p", { "class": "cb-quiet" }, el("i", { "class": "cb-bar cb-paid" }), " paid so far, ",
        el("i", { "class": "cb-bar cb-best-cost" }),
        " in the optimum of the whole game, both in accounting cost."));
  }

  function rowOf(name, rounds, paid, optimum) {
    var row = el("tr", {}, el("th", { scope: "row" }, name));
    rounds.forEach(function (cost) {
      row.appendChild(el("td", { "class": cost ? null : "cb-never-moved" }, cost || "·"));
    });
    row.appendChild(el("td", {}, el("strong", {}, paid)));
    row.appendChild(el("td", {}, optimum === null ? "–" : optimum));
    row.appendChild(el("td", {}, optimum === null ? "–" : signed(paid - optimum)));
    return row;
  }

  function barNode(kind, value, most) {
    var bar = el("i", { "class": "cb-bar " + kind, "aria-hidden": "true" });
    bar.style.width = (100 * value / most) + "%";
    return bar;
  }

  /* When the optimum became unreachable, in words; empty if the search was not made. */
  function unreachableText(view) {
    var lost = view.ledger && view.ledger.unreachable;
    if (!lost) { return ""; }
    if (lost.at === null) { return "The optimum was reachable to the end."; }
    return "The optimum became unreachable at event " + lost.at + ": "
      + (lost.after === null ? "a meeting could no longer be scheduled."
        : "the least that the game could still cost rose from " + lost.before + " to "
          + lost.after + ".");
  }

  function outcomesNode(view) {
    var frame = view.frames[view.at];
    var byMeeting = {};
    frame.outcomes.forEach(function (outcome) { byMeeting[outcome.event.meeting_id] = outcome; });
    var body = el("tbody", {});
    view.scenario.meetings.forEach(function (entry) {
      body.appendChild(outcomeNode(view, entry, byMeeting[entry.meeting_id]));
    });
    var cost = "Paid so far: " + total(frame.paid) + ".";
    if (view.best) { cost += " Optimum for all meetings: " + view.best.cost + "."; }
    if (view.worst) { cost += " Worst complete schedule: " + view.worst.cost + "."; }
    var names = ["Meeting", "Agents", "Outcome", "Slot played", "Slot in the optimum"];
    return el("div", { "class": "cb-scroll", tabindex: 0, role: "region", "aria-label": "Outcomes" },
      el("table", { "class": "cb-outcomes" }, headOf(names), body), el("p", {}, cost));
  }

  function outcomeNode(view, entry, outcome) {
    var frame = view.frames[view.at];
    var isNow = frame.round && frame.round.meeting_id === entry.meeting_id;
    var row = el("tr", { "class": isNow ? "cb-now" : null },
      el("th", { scope: "row" }, meeting(entry.meeting_id)),
      el("td", {}, entry.participants.join(", ")));
    if (outcome) {
      var slots = outcome.event.slot_by_agent;
      row.appendChild(el("td", {}, outcome.event.coordinated ? "✓ " : "✗ ",
        view.jump(outcome.at, words.outcomes[outcome.event.outcome] || outcome.event.outcome)));
      row.appendChild(el("td", {}, Object.keys(slots).map(function (id) {
        return slots[id] === null ? "–" : slots[id];
      }).filter(function (slot, index, all) { return all.indexOf(slot) === index; }).join(", ")));
    } else {
      row.appendChild(el("td", { "class": "cb-quiet" }, isNow ? "open" : "to come"));
      row.appendChild(el("td", {}, ""));
    }
    row.appendChild(el("td", {}, view.best ? view.best.slots[entry.meeting_id] : "–"));
    return row;
  }

  calbench.costs = { costsNode: costsNode, unreachableText: unreachableText, outcomesNode: outcomesNode };
}());
