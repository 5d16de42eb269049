/* The leaderboard: one table over all that may be compared. Its state is the address, its numbers
 * are the cells of tables/leaderboard.csv. Whatever comes from data goes in as text.
 */
(function () {
  "use strict";

  var element = calbench.element;
  var DASH = "\u2013";
  var MINUS = "\u2212";
  var ENDS = ["_low", "_high", "_interval", "_n"];
  var place, board, index, state, dialog, parts;

  /* Data: a row is a list of cells in the order of board.columns. */

  function at(row, name) {
    return row[index[name]] || "";
  }

  function cell(row, field) {
    return field.vps && at(row, "vps_kind") !== field.vps ? "" : at(row, field.column);
  }

  function view() {
    return board.views[state.view];
  }

  function fieldOf(id) {
    return board.fields.find(function (field) { return field.id === id; });
  }

  function isFilled(field) {
    return view().rows.some(function (row) { return cell(row, field) !== ""; });
  }

  /* Measures in which somebody has a rank can rank the table. */
  function ranker() {
    var field = fieldOf(state.sort);
    return field && field.interval ? field : fieldOf(board.first);
  }

  function kinds() {
    return Array.from(new Set(view().rows.map(function (row) { return at(row, "kind"); })));
  }

  function shownFields() {
    return board.fields.filter(function (field) {
      return state.columns.has(field.id) && isFilled(field);
    });
  }

  function shownRows() {
    var words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    var rows = view().rows.filter(function (row) {
      var text = (at(row, "team") + " " + at(row, "kind") + " " + at(row, "experiment")).toLowerCase();
      return !state.hidden.has(at(row, "kind")) &&
        words.every(function (word) { return text.indexOf(word) >= 0; });
    });
    var sign = state.down ? -1 : 1;
    return rows.map(function (row, order) { return { row: row, order: order, key: key(row) }; })
      .sort(function (a, b) {
        if ((a.key === "") !== (b.key === "")) {
          return a.key === "" ? 1 : -1;  // absent is last, whichever way
        }
        var gap = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
        return gap ? sign * gap : a.order - b.order;
      }).map(function (entry) { return entry.row; });
  }

  function key(row) {
    if (state.sort === "team") {
      return at(row, "team");
    }
    var text = state.sort === "rank" ? at(row, ranker().column + "_rank_low")
                                     : cell(row, fieldOf(state.sort));
    return text === "" ? "" : Number(text);
  }

  /* The address */

  function defaults() {
    return {
      view: 0, sort: board.first, down: false, hidden: new Set(), text: "",
      compact: false,
      columns: new Set(board.fields.filter(function (f) { return f.shown; }).map(function (f) {
        return f.id;
      }))
    };
  }

  function sameSet(first, second) {
    return first.size === second.size &&
      Array.from(first).every(function (each) { return second.has(each); });
  }

  function address() {
    var plain = defaults();
    var words = new URLSearchParams();
    if (state.view !== plain.view) {
      words.set("setting", view().setting);
      words.set("channel", view().channel);
    }
    if (state.sort !== plain.sort) { words.set("sort", state.sort); }
    if (state.down) { words.set("order", "down"); }
    if (state.hidden.size) { words.set("without", Array.from(state.hidden).join(",")); }
    if (state.compact) { words.set("rows", "compact"); }
    if (state.text) { words.set("find", state.text); }
    if (!sameSet(state.columns, plain.columns)) {
      words.set("columns", Array.from(state.columns).join(","));
    }
    return words.toString();
  }

  function readAddress() {
    var words = new URLSearchParams(location.hash.slice(1));
    state = defaults();
    var found = board.views.findIndex(function (each) {
      return each.setting === words.get("setting") && each.channel === words.get("channel");
    });
    state.view = Math.max(found, 0);
    var sort = words.get("sort");
    if (sort === "team" || sort === "rank" || fieldOf(sort)) { state.sort = sort; }
    state.down = words.get("order") === "down";
    state.compact = words.get("rows") === "compact";
    state.text = words.get("find") || "";
    if (words.get("without")) { state.hidden = new Set(words.get("without").split(",")); }
    if (words.has("columns")) {
      state.columns = new Set(words.get("columns").split(",").filter(fieldOf));
    }
  }

  function writeAddress() {
    var words = address();
    history.replaceState(null, "", words ? "#" + words : location.pathname + location.search);
  }

  /* Numbers for the eye */

  function rounded(text, digits) {
    var shown = digits === null ? grouped(text) : calbench.rounded(text, digits);
    return (Number(shown) === 0 ? shown.replace("-", "") : shown).replace("-", MINUS);
  }

  function grouped(text) {
    return text.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  }

  function number(text, digits) {
    return element("data", { value: text }, rounded(text, digits));
  }

  function small() {
    var node = element("span", { "class": "cb-range" });
    Array.prototype.forEach.call(arguments, function (child) {
      node.appendChild(child instanceof Node ? child : document.createTextNode(child));
    });
    return node;
  }

  /* The table */

  function redraw() {
    writeAddress();
    drawSwitches();
    drawMenus();
    drawTable();
  }

  function drawTable() {
    var fields = shownFields();
    var rows = shownRows();
    var head = element("tr", {}, sortHeader("team", "Team", ""), rankHeader());
    fields.forEach(function (field) { head.appendChild(fieldHeader(field)); });
    var body = element("tbody", {});
    rows.forEach(function (row) { body.appendChild(tableRow(row, fields)); });
    var caption = view().setting + ", " + view().channel + ": mean and " + view().confidence + " interval over scenarios; " +
      "n is agent-games in scenarios; \u2191 higher, \u2193 lower is better";
    var style = "cb-numbers lb-table" + (state.compact ? " lb-compact" : "");
    calbench.fill(parts.scroll, element("table", { "class": style },
      element("caption", {}, caption), element("thead", {}, head), body));
    parts.scroll.setAttribute("aria-label", view().setting + ", " + view().channel);
    parts.status.textContent = rows.length + " of " + view().rows.length + " rows" + vpsNote();
    place.setAttribute("data-ready", state.sort);
  }

  function vpsNote() {
    var ways = new Set(view().rows.map(function (row) { return at(row, "vps_kind"); }));
    ways.delete("");
    return ways.size < 2 ? "" : ". VPS that was measured in different ways, such as by messages and " +
      "by reflections, is not comparable: each way has its own column and ranks.";
  }

  function sortHeader(id, title, unit) {
    var isSorted = state.sort === id;
    var button = element("button", { type: "button", "class": "lb-sort", "data-sort": id },
      title, element("span", { "aria-hidden": "true", "class": "lb-arrow" },
        isSorted ? (state.down ? "\u25bc" : "\u25b2") : "\u21c5"));
    button.addEventListener("click", function () { sortBy(id); });
    var order = isSorted ? (state.down ? "descending" : "ascending") : null;
    var node = element("th", { scope: "col", "aria-sort": order }, button);
    if (unit) { node.appendChild(element("span", { "class": "cb-unit" }, unit)); }
    return node;
  }

  function sortBy(id) {
    if (state.sort === id) {
      state.down = !state.down;
    } else {
      var field = fieldOf(id);
      state.sort = id;
      state.down = Boolean(field && field.better === "higher");
    }
    redraw();
    parts.scroll.querySelector("[data-sort='" + id + "']").focus();
  }

  function about(title, open) {
    var button = element("button", { type: "button", "class": "lb-about",
                                     "aria-label": "About " + title }, "?");
    button.addEventListener("click", open);
    return button;
  }

  function rankHeader() {
    var node = sortHeader("rank", "Rank", "in " + ranker().title.toLowerCase());
    node.insertBefore(about("ranks", aboutRanks), node.lastChild);
    return node;
  }

  function fieldHeader(field) {
    var arrow = { higher: "\u2191 ", lower: "\u2193 " }[field.better] || "";
    var node = sortHeader(field.id, field.title, arrow + field.unit || "\u00a0");
    node.insertBefore(about(field.title, function () { aboutField(field); }), node.lastChild);
    return node;
  }

  function mark(kind) {
    var word = kind.split(" ")[0].replace(/[^a-z]/g, "");
    return element("span", { "class": "cb-kind cb-kind--" + word }, kind);
  }

  function tableRow(row, fields) {
    var kind = at(row, "kind");
    var name = element("th", { scope: "row" }, at(row, "team"), " ", kind ? mark(kind) : null);
    var node = element("tr", { "class": kind === "reference" ? "lb-reference" : null }, name, rankCell(row));
    fields.forEach(function (field) { node.appendChild(valueCell(row, field)); });
    return node;
  }

  function rankCell(row) {
    var name = ranker().column;
    var low = at(row, name + "_rank_low");
    if (!low) {
      return element("td", {}, element("span", { title: "not ranked" }, DASH));
    }
    var high = at(row, name + "_rank_high");
    var text = low === high ? low : low + DASH + high;
    var button = element("button", { type: "button", "class": "lb-rank",
                                     "aria-label": "Rank " + text + ": why" }, text);
    button.addEventListener("click", function () { aboutRank(row); });
    var node = element("td", {}, button, small("of " + at(row, name + "_ranked")));
    var letters = at(row, name + "_letters");
    if (letters) { node.appendChild(small("letters " + letters)); }
    return node;
  }

  function valueCell(row, field) {
    var text = cell(row, field);
    if (text === "") {
      return element("td", {}, element("span", { title: "not measured, or nothing counts" }, DASH));
    }
    var node = element("td", {}, number(text, field.digits));
    if (!field.interval) { return node; }
    var low = at(row, field.column + "_low");
    var high = at(row, field.column + "_high");
    if (low && high) {
      node.appendChild(strip(field, Number(low), Number(text), Number(high)));
      node.appendChild(small.apply(null, ends(low, high, field.digits)));
    } else {
      node.appendChild(noInterval(row, field));
    }
    var count = at(row, field.column + "_n");
    if (count) { node.appendChild(small("n = " + count + " in " + at(row, "scenarios"))); }
    return node;
  }

  /* Why there is no interval; of few scenarios, their range. */
  function noInterval(row, field) {
    var why = at(row, field.column + "_interval");
    var least = at(row, field.column + "_least");
    var word = board.no_interval[why] || "no interval";
    if (why !== "few" || least === "") { return small(word); }
    var greatest = at(row, field.column + "_greatest");
    if (least === greatest) { return small(word + ", all alike"); }
    return small.apply(null, [word + ": "].concat(ends(least, greatest, field.digits)));
  }

  /* Two numbers; those that would look alike have more decimals. */
  function ends(low, high, digits) {
    var shown = calbench.apart(low, high, digits);
    return [number(low, shown), " to ", number(high, shown)];
  }

  /* The interval as a bar with a dot, over the range of the view's column. */
  function strip(field, low, value, high) {
    var ends = view().rows.filter(function (row) { return cell(row, field) !== ""; })
      .map(function (row) { return Number(at(row, field.column + "_high") || cell(row, field)); });
    var top = field.unit === "percent" ? 100 : Math.max.apply(null, ends.concat(0));
    if (!(top > 0)) { return document.createTextNode(""); }
    var node = element("span", { "class": "lb-strip", "aria-hidden": "true" });
    var bar = element("i", {});
    var dot = element("b", {});
    var share = function (number) { return Math.max(0, Math.min(100, 100 * number / top)); };
    bar.style.left = share(low) + "%";
    bar.style.width = share(high) - share(low) + "%";
    dot.style.left = share(value) + "%";
    node.appendChild(bar);
    node.appendChild(dot);
    return node;
  }

  /* Explanations */

  var ORIGINS = { P: "the paper", R: "the authors' first release", F: "fitted to the paper's numbers",
                  C: "our choice" };

  function originWords(text) {
    return text.split(/,\s*/).map(function (part) {
      var letter = part.match(/^[PRFC]\b/);
      return letter ? "[" + letter[0] + "] " + ORIGINS[letter[0]] + part.slice(1) : part;
    }).join("; ");
  }

  function explain(title, pairs, links) {
    var list = element("dl", {});
    pairs.forEach(function (pair) {
      if (pair[1]) {
        list.appendChild(element("dt", {}, pair[0]));
        list.appendChild(element("dd", {}, pair[1]));
      }
    });
    var line = element("p", {});
    links.forEach(function (link, number) {
      if (number) { line.appendChild(document.createTextNode(" \u00b7 ")); }
      line.appendChild(element("a", { href: link[0] }, link[1]));
    });
    var close = element("button", { type: "button", "class": "lb-button", autofocus: true }, "Close");
    close.addEventListener("click", function () { dialog.close(); });
    calbench.fill(dialog, element("h2", { id: "lb-dialog-title" }, title), list, line, close);
    dialog.showModal();
  }

  function tableLinks(file) {
    return view().experiments.map(function (name) {
      return ["tables/" + name + "/" + file, "tables/" + name + "/" + file];
    });
  }

  function aboutField(field) {
    explain(field.title, [
      ["Definition", field.definition],
      ["Runs over", field.denominator],
      ["Unit", field.unit],
      ["Better", field.better],
      ["Origin", originWords(field.origin)],
      ["Interval", field.interval ? view().confidence + ", over scenarios" : ""],
      ["Not comparable", field.vps ? "with VPS measured in another way" : ""]
    ], [[field.link, "The whole definition"]].concat(tableLinks(field.table)));
  }

  function aboutRanks() {
    explain("Rank in " + ranker().title.toLowerCase(), [
      ["A range", "A team's rank runs from 1 + the number of significantly better teams to the number " +
        "of ranked teams less the significantly worse ones. Significantly means: p below " + view().level +
        " after correction, in a paired permutation test over the same scenarios."],
      ["Compact letter display", "Teams that share a letter are not told apart. That is no tie, " +
        "which would have to be shown."],
      ["Among", "teams of one experiment whose measure was taken with one instrument. Degenerate " +
        "baselines and the oracle have no rank."]
    ], [["method.html#ranks", "Method"], ["results/comparisons.html", "All comparisons"]]
      .concat(tableLinks("comparisons.csv")));
  }

  function aboutRank(row) {
    var name = ranker().column;
    var own = at(row, name + "_letters").split(" ").filter(Boolean);
    var alike = view().rows.filter(function (other) {
      var letters = at(other, name + "_letters").split(" ");
      return other !== row && own.some(function (letter) { return letters.indexOf(letter) >= 0; });
    }).map(function (other) { return at(other, "team"); });
    var low = Number(at(row, name + "_rank_low"));
    var high = Number(at(row, name + "_rank_high"));
    var ranked = Number(at(row, name + "_ranked"));
    var words = new URLSearchParams({ experiment: at(row, "experiment"), setting: view().setting,
                                      measure: name, team: at(row, "team") });
    explain(at(row, "team") + " in " + ranker().title.toLowerCase(), [
      ["Rank", low === high ? low + " of " + ranked : low + " to " + high + " of " + ranked],
      ["Significantly better", low - 1 + " of the others"],
      ["Significantly worse", ranked - high + " of the others"],
      ["Not told apart from", alike.join(", ") || "nobody"],
      ["By", "paired differences over the same scenarios, p below " + view().level + " after correction"]
    ], [["results/comparisons.html#" + words, "Its comparisons"], ["method.html#ranks", "Method"]]);
  }

  /* What is shown, as a file */

  function quoted(text) {
    var safe = /^[=+@\t\r]/.test(text) ? "'" + text : text;  // no formula in a spreadsheet
    return /[",\n\r]/.test(safe) ? "\"" + safe.replace(/"/g, "\"\"") + "\"" : safe;
  }

  function csv() {
    var name = ranker().column;
    var fields = shownFields();
    var head = ["setting", "channel", "experiment", "team", "kind", "rank_measure", "rank_low",
                "rank_high", "ranked", "letters"];
    fields.forEach(function (field) {
      head.push(field.id);
      if (field.interval) {
        ENDS.forEach(function (end) { head.push(field.id + end); });
      }
    });
    var lines = shownRows().map(function (row) {
      var cells = [view().setting, view().channel, at(row, "experiment"), at(row, "team"),
                   at(row, "kind"), ranker().id, at(row, name + "_rank_low"),
                   at(row, name + "_rank_high"), at(row, name + "_ranked"), at(row, name + "_letters")];
      fields.forEach(function (field) {
        var text = cell(row, field);
        cells.push(text);
        if (field.interval) {
          ENDS.forEach(function (part) {
            cells.push(text === "" ? "" : at(row, field.column + part));
          });
        }
      });
      return cells.map(quoted).join(",");
    });
    return [head.join(",")].concat(lines).join("\n") + "\n";
  }

  function download() {
    var url = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    var link = element("a", { href: url, download: "calbench-leaderboard.csv" });
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(url); }, 0);
  }

  /* Controls */

  function choice(group, label, isOn, isOff, choose) {
    var input = element("input", { type: "radio", name: group, checked: isOn, disabled: isOff });
    input.addEventListener("change", function () {
      choose();
      redraw();
      var on = place.querySelector("input[name='" + group + "']:checked");
      if (on) { on.focus(); }
    });
    return element("label", { "class": "lb-choice" }, input, element("span", {}, label));
  }

  function switchOf(title, group, values, chosen, isOff, choose) {
    var node = element("fieldset", { "class": "lb-switch" }, element("legend", {}, title));
    var row = element("div", {});
    values.forEach(function (value) {
      row.appendChild(choice(group, value, value === chosen, isOff(value), function () {
        choose(value);
      }));
    });
    node.appendChild(row);
    return node;
  }

  function unique(name) {
    return Array.from(new Set(board.views.map(function (each) { return each[name]; })));
  }

  function viewOf(setting, channel) {
    return board.views.findIndex(function (each) {
      return each.setting === setting && (channel === null || each.channel === channel);
    });
  }

  function drawSwitches() {
    var now = view();
    calbench.fill(parts.switches,
      switchOf("Setting", "lb-setting", unique("setting"), now.setting,
        function () { return false; },
        function (setting) {
          var same = viewOf(setting, now.channel);
          state.view = same < 0 ? viewOf(setting, null) : same;
        }),
      switchOf("Channel", "lb-channel", unique("channel"), now.channel,
        function (channel) { return viewOf(now.setting, channel) < 0; },
        function (channel) { state.view = viewOf(now.setting, channel); }));
  }

  function box(label, isOn, change) {
    var input = element("input", { type: "checkbox", checked: isOn });
    input.addEventListener("change", function () {
      change(input.checked);
      writeAddress();
      drawTable();
    });
    return element("label", {}, input, label);
  }

  function flip(set, value, isIn) {
    if (isIn) { set.add(value); } else { set.delete(value); }
  }

  function drawMenus() {
    calbench.fill(parts.kinds);
    kinds().forEach(function (kind) {
      parts.kinds.appendChild(box(kind, !state.hidden.has(kind), function (isOn) {
        flip(state.hidden, kind, !isOn);
      }));
    });
    calbench.fill(parts.columns);
    board.fields.filter(isFilled).forEach(function (field) {
      parts.columns.appendChild(box(field.title, state.columns.has(field.id), function (isOn) {
        flip(state.columns, field.id, isOn);
      }));
    });
    parts.compact.checked = state.compact;
    if (parts.find.value !== state.text) { parts.find.value = state.text; }
  }

  function button(label, act) {
    var node = element("button", { type: "button", "class": "lb-button" }, label);
    node.addEventListener("click", function () { act(node); });
    return node;
  }

  function build() {
    parts = {
      switches: element("div", { "class": "lb-switches" }),
      kinds: element("div", { "class": "lb-boxes" }),
      columns: element("div", { "class": "lb-boxes" }),
      find: element("input", { type: "search", id: "lb-find", placeholder: "team or kind" }),
      compact: element("input", { type: "checkbox", id: "lb-compact" }),
      scroll: element("div", { "class": "cb-scroll", tabindex: "0", role: "region" }),
      status: element("p", { "class": "cb-quiet", role: "status" })
    };
    parts.compact.addEventListener("change", function () {
      state.compact = parts.compact.checked;
      writeAddress();
      drawTable();
    });
    parts.find.addEventListener("input", function () {
      state.text = parts.find.value;
      writeAddress();
      drawTable();
    });
    dialog = element("dialog", { "class": "lb-dialog md-typeset", "aria-labelledby": "lb-dialog-title" });
    calbench.fill(place, parts.switches,
      element("div", { "class": "lb-bar" },
        element("label", { "class": "cb-field" }, "Find", parts.find),
        element("details", { "class": "lb-menu" }, element("summary", {}, "Kinds"), parts.kinds),
        element("details", { "class": "lb-menu" }, element("summary", {}, "Columns"), parts.columns),
        element("label", { "class": "lb-check" }, parts.compact, "Numbers only"),
        button("Download CSV", download),
        button("Reset", function () { state = defaults(); redraw(); })),
      parts.status, parts.scroll, dialog);
    document.addEventListener("click", function (event) {
      Array.prototype.forEach.call(place.querySelectorAll(".lb-menu[open]"), function (menu) {
        if (!menu.contains(event.target)) { menu.open = false; }
      });
    });
    place.addEventListener("keydown", function (event) {
      var menu = event.key === "Escape" && event.target.closest && event.target.closest(".lb-menu[open]");
      if (menu) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    });
  }

  function start() {
    place = document.getElementById("lb-board");
    if (!place) { return; }
    calbench.load("leaderboard", function (data) {
      board = data;
      if (!board.views.length) { return; }
      index = {};
      board.columns.forEach(function (name, number) { index[name] = number; });
      readAddress();
      build();
      redraw();
      window.addEventListener("hashchange", function () {
        if (location.hash.indexOf("=") > 0 || location.hash === "") {
          readAddress();
          redraw();
        }
      });
    }, function () { place.setAttribute("data-failed", ""); });  // the plain table stays
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
}());
