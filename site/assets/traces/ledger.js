/* The ledger: what each message disclosed, to whom, what that adds to the loss, and the words. */
(function () {
  "use strict";

  var el = calbench.element;
  var words = calbench.text;
  var beliefs = calbench.beliefs;
  var MOST_ROWS = 400;

  function signed(value) {
    return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  }

  function ledgerNode(view) {
    var steps = beliefs.stepsOf(view).filter(function (step) { return step.at <= view.at; });
    var moving = steps.filter(function (step) { return step.moved.length; });
    var bits = bitsOf(view);
    var rows = withBits(view, joined(moving).concat(saidRows(view)), bits);
    var sum = steps.reduce(function (total, step) { return total + step.step; }, 0);
    var start = view.scope === "game" ? 0 : view.frames[view.at].roundAt;
    var shown = rows.filter(function (row) { return row.at >= start; });
    var left = Math.max(0, shown.length - MOST_ROWS);
    var body = el("tbody", {});
    shown.slice(left).forEach(function (row) { body.appendChild(rowNode(view, row)); });
    var head = el("tr", {});
    ["Event", "From, to", "Slot facts", "VPS", bits && "Bits", "Words"].forEach(function (name) {
      if (name) { head.appendChild(el("th", { scope: "col" }, name)); }
    });
    return el("div", {},
      el("p", {}, "Disclosed so far: ",
        el("strong", { "class": "cb-vps", "data-vps": sum.toFixed(6) }, sum.toFixed(2)),
        " slot-equivalents (VPS)."),
      bits ? bitsNode(view, bits) : null,
      noteNode(view),
      left ? el("p", { "class": "cb-quiet" }, left + " earlier rows are omitted.") : null,
      shown.length ? el("div", { "class": "cb-scroll cb-lane", tabindex: 0, role: "region",
                                 "aria-label": "Ledger" },
        el("table", { "class": "cb-ledger" }, el("thead", {}, head), body))
        : el("p", { "class": "cb-quiet" }, "Nothing disclosed here."));
  }

  /* One row for each message in words: what it says is known, what it disclosed is not yet. */
  function saidRows(view) {
    var rows = [];
    view.game.events.forEach(function (event, index) {
      if (index <= view.at && calbench.talk.isMessage(event) && event.content.kind === "text") {
        rows.push({ at: index, isSaid: true, target: event.from_agent, observers: event.to_agents });
      }
    });
    return rows;
  }

  /* The bits that each message told, by its event; nothing where they are not known. */
  function bitsOf(view) {
    var found = view.ledger.bits;
    if (!found) { return null; }
    var told = {};
    for (var place = 0; place < found.told.length; place += 2) {
      told[found.told[place]] = found.told[place + 1];
    }
    return told;
  }

  /* The first row of each event has its bits; what only the informed reader reads has a row too. */
  function withBits(view, rows, bits) {
    var known = {};
    rows.forEach(function (row) { known[row.at] = true; });
    Object.keys(bits || {}).forEach(function (key) {
      var event = view.game.events[key];
      if (Number(key) <= view.at && bits[key] && !known[key]) {
        rows.push({
          at: Number(key), isInferred: true, target: event.from_agent, observers: event.to_agents
        });
      }
    });
    rows.sort(function (a, b) { return a.at - b.at; });
    rows.forEach(function (row, place) {
      var isFirst = !place || rows[place - 1].at !== row.at;
      row.bits = !bits ? null : isFirst && row.at in bits ? signed(bits[row.at]) : "";
    });
    return rows;
  }

  function bitsNode(view, bits) {
    var sum = Object.keys(bits).reduce(function (total, key) {
      return total + (Number(key) <= view.at ? bits[key] : 0);
    }, 0);
    var isEnd = view.at === view.frames.length - 1;
    return el("p", {}, "All who heard it learnt so far: ",
      el("strong", { "class": "cb-bits", "data-bits": sum.toFixed(2) }, sum.toFixed(2)),
      " bits of all others' first calendars, by a reader who knows the rules",
      isEnd ? "; the game's bits are " + (sum - view.ledger.bits.outcome).toFixed(2) + ", without the "
        + view.ledger.bits.outcome.toFixed(2) + " that the agreed slots tell anyway." : ".");
  }

  function noteNode(view) {
    var all = view.frames[0].calendars.length;
    return view.ledger.typed.length < all ? el("p", { "class": "cb-quiet" },
      "What words disclose is measured by the hearer's reflection after the round. Such a step "
      + "belongs to the whole round: the messages that reached this hearer are listed, "
      + "but it is not known which of them caused it.") : null;
  }

  /* One row for what several observers learnt alike from the same message. */
  function joined(steps) {
    var rows = [];
    steps.forEach(function (step) {
      var last = rows[rows.length - 1];
      if (last && !step.isReflected && last.at === step.at && last.target === step.target
          && facts(last) === facts(step)) {
        last.observers.push(step.observer);
        last.step += step.step;
      } else {
        rows.push(Object.assign({}, step, { observers: [step.observer] }));
      }
    });
    return rows;
  }

  /* Slots by what was learnt of them: "feasible 3, 4–6; infeasible 7". */
  function facts(step) {
    var groups = {};
    step.moved.forEach(function (each) {
      var name = step.isReflected ? reflectedName(each) : typedName(each.after);
      (groups[name] = groups[name] || []).push(each.slot);
    });
    return Object.keys(groups).map(function (name) {
      return name + ": " + runs(groups[name]);
    }).join("; ");
  }

  function typedName(after) {
    if (after === 1) { return "feasible"; }
    return after === 0 ? "infeasible" : "feasible with probability " + after.toFixed(3).replace(/0+$/, "");
  }

  function reflectedName(each) {
    return (each.value > 0 ? "rather occupied" : "rather free")
      + (each.isTrue ? "" : " (away from the truth, not counted)");
  }

  function runs(slots) {
    var parts = [];
    slots.slice().sort(function (a, b) { return a - b; }).forEach(function (slot) {
      var last = parts[parts.length - 1];
      if (last && last[1] === slot - 1) { last[1] = slot; } else { parts.push([slot, slot]); }
    });
    return parts.map(function (part) {
      return part[0] === part[1] ? String(part[0]) : part[0] + "–" + part[1];
    }).join(", ");
  }

  function rowNode(view, row) {
    var isSaid = row.isSaid;
    return el("tr", { "class": row.at === view.at ? "cb-now" : null },
      el("td", {}, view.jump(row.at, String(row.at))),
      el("td", {}, (row.target === undefined ? "mediator" : words.agent(row.target)) + " → "
        + row.observers.join(", ")),
      el("td", { "class": "cb-facts" }, isSaid ? saidFacts(view, row)
        : row.isInferred ? "inferred" : facts(row) || "nothing",
        isSaid ? pathNodes(view, row) : null),
      el("td", {}, isSaid ? el("span", { title: "measured by the hearer's reflection" }, "–")
        : row.isInferred ? "–" : signed(row.step)),
      row.bits === null ? null : el("td", {}, row.bits),
      el("td", { "class": "cb-facts" }, isSaid
        ? quoteNode(view, view.game.events[row.at].content.text, row.at)
        : row.isReflected ? sourcesNode(view, row) : typedWords(view, row)));
  }

  function typedWords(view, row) {
    var event = view.game.events[row.at];
    var by = event.from_agent === row.target || event.from_agent === undefined ? ""
      : words.senderOf(event) + ": ";
    return by + words.contentText(event.content);
  }

  /* What the audits find in a message in words. */
  function saidFacts(view, row) {
    var claims = "";
    var told = [];
    calbench.talk.spansOf(view, row.at).forEach(function (span) {
      claims += span.claims || "";
      if (span.label) { told.push(calbench.talk.leakText(span, null)); }
    });
    claims = claims.split("").filter(function (letter, place, all) {
      return all.indexOf(letter) === place;
    }).join("");
    return (claims ? ["its slots: " + calbench.talk.claimsText(claims)] : []).concat(told).join("; ")
      || "nothing found";
  }

  /* The paths of labels that a message passes on, as links to the messages that told them. */
  function pathNodes(view, row) {
    var node = el("span", {});
    calbench.talk.spansOf(view, row.at).forEach(function (span) {
      if (span.path) { node.appendChild(calbench.talk.pathNode(view, span.path)); }
    });
    return node.firstChild ? node : null;
  }

  /* The messages of the round with which the target reached this observer. */
  function sourcesNode(view, row) {
    var node = el("span", {}, "its reflection, after ");
    var count = 0;
    for (var index = view.frames[row.at].roundAt; index < row.at; index += 1) {
      var event = view.game.events[index];
      if (event.from_agent === row.target && calbench.talk.isMessage(event)
          && event.to_agents.indexOf(row.observers[0]) >= 0) {
        node.appendChild(document.createTextNode(count ? ", " : "messages "));
        node.appendChild(view.jump(index, String(index)));
        count += 1;
      }
    }
    if (!count) { node.appendChild(document.createTextNode("no message of this agent")); }
    return node;
  }

  function quoteNode(view, text, index) {
    var quote = el("p", { "class": "cb-text" });
    var spans = calbench.talk.spansOf(view, index).sort(function (a, b) { return a.start - b.start; });
    var end = 0;
    spans.forEach(function (span) {
      if (span.start < end) { return; }
      var inner = spans.filter(function (other) {
        return other.start >= span.start && other.end <= span.end;
      }).map(function (other) {
        return Object.assign({}, other, {
          start: other.start - span.start, end: other.end - span.start
        });
      });
      if (end) { quote.appendChild(document.createTextNode(" … ")); }
      calbench.talk.markInto(quote, text.slice(span.start, span.end), inner);
      end = span.end;
    });
    if (!spans.length) { quote.appendChild(el("span", {}, "“" + words.visible(text).slice(0, 160) + "”")); }
    return quote;
  }

  calbench.ledger = { ledgerNode: ledgerNode };
}());
