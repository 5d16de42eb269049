/* All calendars of a game as one grid, and the optimum's calendars next to it. */
(function () {
  "use strict";

  var el = calbench.element;
  var words = calbench.text;
  var sight = calbench.privateView;
  var meeting = words.meeting;
  /* Shown costs above these are drawn as cost 1, 2, 3. */
  var SHOWN_LEVELS = [-1, 1, 10];

  function headNode(view, sums) {
    var head = el("tr", {}, el("th", { scope: "col" }, "Agent"));
    view.slots.forEach(function (slot) { head.appendChild(el("th", { scope: "col" }, slot)); });
    sums.forEach(function (word) {
      head.appendChild(el("th", { scope: "col", "class": "cb-sum" }, word));
    });
    return el("thead", {}, head);
  }

  /* An agent's name with its colour, and its role in the round as far as it is known. */
  function nameNode(id, round) {
    var isIn = round && round.participants && round.participants.indexOf(id) >= 0;
    var name = el("th", { scope: "row", "class": isIn ? "cb-in" : null }, words.Agent(id));
    if (isIn) {
      var first = Math.min.apply(null, round.participants) === id;
      name.appendChild(el("small", {}, first ? "initiator" : "participant"));
    }
    return name;
  }

  function sum(text) { return el("td", { "class": "cb-sum" }, text); }

  function gridNode(view) {
    var frame = view.frames[view.at];
    var isAll = view.who === sight.ALL;
    var round = sight.roundOf(view);
    var calendars = sight.calendarsOf(view);
    var expected = isAll ? null : sight.expectedOf(view);
    var asked = isAll ? view.at : sight.askedAt(view);
    var body = el("tbody", {});
    calendars.forEach(function (calendar, id) {
      var row = el("tr", {}, nameNode(id, round));
      view.slots.forEach(function (slot) {
        row.appendChild(calendar ? cellNode(view, id, slot, calendar[slot])
          : hiddenNode(id, slot, expected[id][slot]));
      });
      if (isAll) {
        row.appendChild(sum(frame.paid[id]));
        row.appendChild(sum(view.best ? view.best.cost_by_agent[id] : "–"));
        row.appendChild(sum(frame.sent[id]));
      } else {
        row.appendChild(sum(calendar ? view.frames[asked].shown[id] : "–"));
      }
      body.appendChild(row);
    });
    return el("table", { "class": "cb-grid" },
      el("caption", {}, isAll ? "Calendars after event " + view.at + ": agents by slot"
        : asked >= 0 ? "Its calendar when it was last asked, at event " + asked
          : "No calendar is visible"),
      headNode(view, isAll ? ["paid", "optimum", "sent"] : ["shown cost"]), body);
  }

  /* The content of a slot, in words: kind, what the cell shows, and its description. */
  function itemOf(view, item) {
    var entry = item === null ? null : view.items[item];
    if (item === null) { return { kind: "free", text: "·", label: "free" }; }
    if (!entry || entry.errand_id === undefined) {
      return { kind: "meeting", text: meeting(item), label: "meeting " + item };
    }
    var isAll = view.who === sight.ALL;
    var cost = isAll ? entry.cost : entry.shown_cost;
    return {
      kind: entry.blocked ? "blocked" : "errand",
      level: isAll ? Math.min(cost, 3) : SHOWN_LEVELS.filter(function (least) {
        return cost > least;
      }).length,
      text: entry.blocked ? "■" : String(cost),
      label: (entry.blocked ? "blocked errand " : "errand ") + item
        + (isAll ? ", cost " + entry.cost + ", shown to its owner as " : ", shown cost ")
        + entry.shown_cost
    };
  }

  function cellNode(view, id, slot, item) {
    var about = itemOf(view, item);
    var changed = view.who === sight.ALL && view.frames[view.at].changed;
    var isNew = changed && changed.agent === id && changed.before[slot] !== item;
    var cell = el("td", {
      "class": "cb-" + about.kind + (about.kind === "errand" ? " cb-cost" + about.level : "")
        + (isNew ? " cb-new" : ""),
      title: words.Agent(id) + ", slot " + slot + ": " + about.label + (isNew ? " (changed now)" : "")
    }, about.text);
    cell.appendChild(el("span", { "class": "cb-aside" }, " " + about.label));
    if (isNew) { cell.appendChild(el("span", { "class": "cb-mark", "aria-hidden": "true" }, "◂")); }
    var planned = view.showBest && view.who === sight.ALL && view.planned[id][slot];
    if (planned) {
      cell.appendChild(el("span", { "class": "cb-plan", title: "optimum: " + meeting(planned) },
        meeting(planned) + "*"));
    }
    return cell;
  }

  /* A slot of somebody else: unknown, or where a meeting should be. */
  function hiddenNode(id, slot, item) {
    var label = item === undefined ? "not seen"
      : "meeting " + item + " should be here, by this agent's own calendar";
    var cell = el("td", {
      "class": item === undefined ? "cb-hidden" : "cb-hidden cb-expected",
      title: words.Agent(id) + ", slot " + slot + ": " + label
    }, item === undefined ? "?" : "(" + meeting(item) + ")");
    cell.appendChild(el("span", { "class": "cb-aside" }, " " + label));
    return cell;
  }

  /* The calendars as the optimum leaves them. Where a displaced errand goes is the same to it. */
  function optimumNode(view) {
    if (!view.best) { return el("p", { "class": "cb-quiet" }, "No optimum is stored for it."); }
    var start = view.frames[0].calendars;
    var body = el("tbody", {});
    start.forEach(function (calendar, id) {
      var row = el("tr", {}, nameNode(id, null));
      view.slots.forEach(function (slot) {
        row.appendChild(plannedNode(view, id, slot, calendar[slot]));
      });
      row.appendChild(sum(view.best.cost_by_agent[id]));
      body.appendChild(row);
    });
    return el("table", { "class": "cb-optimum" },
      el("caption", {}, "The optimum: cost " + view.best.cost + ", the minimum with full knowledge"),
      headNode(view, ["pays"]), body);
  }

  function plannedNode(view, id, slot, item) {
    var planned = view.planned[id][slot];
    var about = itemOf(view, item);
    var entry = item === null ? null : view.items[item];
    var isMeeting = entry && entry.errand_id === undefined;
    var label = about.label;
    var text = about.text;
    var kind = about.kind;
    var gone = "";
    if (planned !== undefined) {
      label = "meeting " + planned;
      kind = "meeting";
      text = meeting(planned);
      if (item !== null && item !== planned) {
        gone = isMeeting ? meeting(item) : about.text;
        label += "; " + about.label + " gives way";
      }
    } else if (isMeeting) {
      kind = "free";
      text = "·";
      gone = meeting(item);
      label = "free; meeting " + item + " has moved away";
    }
    var cell = el("td", {
      "class": "cb-" + kind + (kind === "errand" ? " cb-cost" + about.level : "")
        + (gone ? " cb-new" : ""),
      title: words.Agent(id) + ", slot " + slot + ": " + label
    }, text);
    cell.appendChild(el("span", { "class": "cb-aside" }, " " + label));
    if (gone) { cell.appendChild(el("s", { "class": "cb-plan", "aria-hidden": "true" }, gone)); }
    return cell;
  }

  /* What the marks mean, as far as the view has them. */
  function legendNode(view) {
    var isAll = view.who === sight.ALL;
    var items = [
      ["cb-free", "·", "free"], ["cb-errand cb-cost1", "1", isAll ? "errand, cost 1" : "shown cost 1"],
      ["cb-errand cb-cost2", isAll ? "2" : "10", isAll ? "cost 2" : "up to 10"],
      ["cb-errand cb-cost3", isAll ? "3" : "100", isAll ? "cost 3 or more" : "above 10"],
      ["cb-blocked", "■", "blocked"], ["cb-meeting", "M1", "meeting"]
    ].concat(isAll ? [["cb-free cb-new", "◂", "changed by this event"]]
      : [["cb-hidden", "?", "not seen"],
         ["cb-hidden cb-expected", "(M1)", "should be here, by its own calendar"]]);
    var node = el("p", { "class": "cb-legend" });
    items.forEach(function (item) {
      node.appendChild(el("span", {}, el("i", { "class": item[0], "aria-hidden": "true" }, item[1]),
        " " + item[2]));
    });
    if (isAll) {
      node.appendChild(el("span", {}, el("i", { "class": "cb-free" },
        el("b", { "class": "cb-plan" }, "M1*")), " where the optimum puts it"));
    }
    return node;
  }

  calbench.grid = { gridNode: gridNode, legendNode: legendNode, optimumNode: optimumNode };
}());
