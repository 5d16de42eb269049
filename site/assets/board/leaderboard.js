/* The leaderboard: a table for each pool of teams that were compared, all sorted alike. Its state is
 * the address, its numbers are the cells of tables/leaderboard.csv. Whatever comes from data goes in
 * as text.
 */
(function () {
  "use strict";

  var element = calbench.element;
  var DASH = "\u2013";
  var MINUS = "\u2212";
  var PARTLY = "The other seats had nothing to count, or their privacy was measured in another way.";
  var PRICED = "adjusted_excess_cost";
  var MOVED = "A mean at this price of a failed meeting; intervals and ranks are tested at the price 1.";
  var RANK = ["_rank_low", "_rank_high", "_ranked", "_letters"];
  var ENDS = ["_low", "_high", "_interval", "_n"];
  var MOST = 3, STEP = 0.05;  // prices of a failed meeting, in times that of the measure
  var place, board, index, state, dialog, parts;

  /* Data: a row is a list of cells in the order of board.columns. */

  function at(row, name) {
    return row[index[name]] || "";
  }

  function cell(row, field) {
    if (field.vps && at(row, "vps_kind") !== field.vps) { return ""; }
    return isPriced(field) ? atPrice(row) : at(row, field.column);
  }

  /* Whether a column is shown at another price of a failed meeting than its own. */
  function isPriced(field) {
    return field.column === PRICED && state.price !== 1;
  }

  function atPrice(row) {
    var cost = at(row, PRICED), failures = at(row, "failure_cost");
    if (cost === "" || failures === "") { return ""; }
    return (Number(cost) + (state.price - 1) * Number(failures)).toFixed(4);
  }

  function view() {
    return board.views[state.view];
  }

  /* All rows of the view; those of a pool that do not compete stand apart. */
  function rowsOf(each) {
    return each.pools.reduce(function (all, pool) {
      return all.concat(pool.rows, pool.apart);
    }, []);
  }

  function competing() {
    return view().pools.reduce(function (all, pool) { return all.concat(pool.rows); }, []);
  }

  function fieldOf(id) {
    return board.fields.find(function (field) { return field.id === id; });
  }

  function isFilledIn(rows, field) {
    return rows.some(function (row) { return cell(row, field) !== ""; });
  }

  function isFilled(field) {
    return isFilledIn(rowsOf(view()), field);
  }

  /* Measures in which somebody has a rank can rank the table. */
  function ranker() {
    var field = fieldOf(state.sort);
    return field && field.interval ? field : fieldOf(board.first);
  }

  function kinds() {
    return Array.from(new Set(rowsOf(view()).map(function (row) { return at(row, "kind"); })));
  }

  function shownFields(rows) {
    return board.fields.filter(function (field) {
      return state.columns.has(field.id) && isFilledIn(rows, field);
    });
  }

  /* Rows that are looked for, in the order of the table. */
  function shownRows(given) {
    var words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    var rows = given.filter(function (row) {
      var text = (at(row, "team") + " " + at(row, "kind") + " " + at(row, "experiment")).toLowerCase();
      return !state.hidden.has(at(row, "kind")) &&
        words.every(function (word) { return text.indexOf(word) >= 0; });
    });
    return inOrder(rows, key, state.down);
  }

  function inOrder(rows, keyOf, isDown) {
    var sign = isDown ? -1 : 1;
    return rows.map(function (row, order) { return { row: row, order: order, key: keyOf(row) }; })
      .sort(function (a, b) {
        if ((a.key === "") !== (b.key === "")) {
          return a.key === "" ? 1 : -1;  // absent is last, whichever way
        }
        var gap = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
        return gap ? sign * gap : a.order - b.order;
      }).map(function (entry) { return entry.row; });
  }

  /* Pools of which something is shown, with their columns and rows. */
  function shownPools() {
    return view().pools.map(function (pool) {
      return { title: pool.title, fields: shownFields(pool.rows.concat(pool.apart)),
               rows: shownRows(pool.rows), apart: shownRows(pool.apart) };
    }).filter(function (pool) { return pool.rows.length || pool.apart.length; });
  }

  function key(row) {
    if (state.sort === "team") {
      return at(row, "team");
    }
    var isRank = state.sort === "rank" && !isPriced(ranker());
    var text = isRank ? at(row, ranker().column + "_rank_low") : cell(row, fieldOf(state.sort) || ranker());
    return text === "" ? "" : Number(text);
  }

  /* The address */

  function defaults() {
    return {
      view: 0, sort: board.first, down: false, hidden: new Set(), text: "",
      full: false, paper: false, price: 1, theirs: "", theirsDown: false,
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
    if (state.hidden.size) { words.set("without", Array.from(state.hidden).map(encodeURIComponent).join(",")); }
    if (state.full) { words.set("rows", "full"); }
    if (state.price !== 1) { words.set("price", String(state.price)); }
    if (state.paper) { words.set("paper", "shown"); }
    if (state.theirs) { words.set("papersort", state.theirs + (state.theirsDown ? ",down" : "")); }
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
    state.full = words.get("rows") === "full";
    state.paper = words.get("paper") === "shown";
    var price = Number(words.get("price") || 1);
    if (price >= 0 && price <= MOST) { state.price = price; }
    var theirs = (words.get("papersort") || "").split(",");
    if (theirs[0] === "player" || paperPlace(theirs[0]) >= 0) {
      state.theirs = theirs[0];
      state.theirsDown = theirs[1] === "down";
    }
    state.text = words.get("find") || "";
    if (words.get("without")) { state.hidden = new Set(words.get("without").split(",").map(decoded)); }
    if (words.has("columns")) {
      state.columns = new Set(words.get("columns").split(",").filter(fieldOf));
    }
  }

  /* A kind, which may hold commas; an address that somebody broke is taken as it is. */
  function decoded(text) {
    try { return decodeURIComponent(text); } catch (error) { return text; }
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

  function redraw(then) {
    writeAddress();
    loaded(function () {
      drawSwitches();
      drawMenus();
      drawTable();
      if (then) { then(); }
    });
  }

  /* Rows of other views than the first are in files of their own. */
  function loaded(found) {
    var number = state.view;
    if (view().pools) { found(); return; }
    place.removeAttribute("data-ready");
    calbench.load("leaderboard/" + number, function (pools) {
      board.views[number].pools = pools;
      if (state.view === number) { found(); }
    }, function () { parts.status.textContent = "These rows could not be read."; });
  }

  function drawTable() {
    var pools = shownPools();
    var count = 0;
    calbench.fill(parts.tables);
    pools.forEach(function (pool) {
      count += pool.rows.length + pool.apart.length;
      drawPool(pool);
    });
    if (!count) { parts.tables.appendChild(element("p", {}, "No team matches the search.")); }
    if (state.paper && paperRows().length) { drawPaper().id = "lb-theirs"; }
    parts.status.textContent = count + " of " + rowsOf(view()).length + " rows";
    fit();
    place.setAttribute("data-ready", state.sort);
  }

  function caption() {
    return view().setting + ", " + view().channel + ": mean and " + view().confidence +
      " interval over scenarios; n is agent-games in scenarios; \u2191 higher, \u2193 lower is better";
  }

  function drawPool(pool) {
    var head = element("tr", {}, sortHeader("team", "Team", ""), rankHeader());
    pool.fields.forEach(function (field) { head.appendChild(fieldHeader(field)); });
    head.appendChild(element("th", { scope: "col" }, "Games"));
    var table = element("table", {}, element("caption", { "class": "lb-hidden" }, caption()),
      element("thead", {}, head), bodyOf(pool.rows, pool.fields));
    if (pool.apart.length) { table.appendChild(apart(pool)); }
    addTable(pool.title, "", table);
  }

  function bodyOf(rows, fields) {
    var body = element("tbody", {});
    rows.forEach(function (row) { body.appendChild(tableRow(row, fields)); });
    return body;
  }

  function apart(pool) {
    var body = bodyOf(pool.apart, pool.fields);
    var title = element("th", { scope: "rowgroup", colspan: pool.fields.length + 3 },
      element("span", {}, "Not competing: degenerate baselines and the exact optimum"));
    body.className = "lb-apart";
    body.insertBefore(element("tr", {}, title), body.firstChild);
    return body;
  }

  function addTable(title, note, table) {
    table.className = "cb-numbers lb-table" + (state.full ? "" : " lb-compact");
    var heading = element("h2", { "class": "lb-pool" }, title,
      note ? element("span", { "class": "lb-kind" }, note) : null);
    parts.tables.appendChild(heading);
    parts.tables.appendChild(element("div", { "class": "cb-scroll", tabindex: "0", role: "region",
                                              "aria-label": title }, table));
    var first = table.querySelector(".lb-value");
    if (first) { first.tabIndex = 0; }
    return heading;
  }

  /* The header stays in sight with the page, or within a table that has to scroll sideways. */
  function fit() {
    Array.prototype.forEach.call(parts.tables.querySelectorAll(".cb-scroll"), function (scroll) {
      scroll.classList.remove("lb-whole");
      scroll.classList.toggle("lb-whole", scroll.firstChild.offsetWidth <= scroll.clientWidth);
    });
  }

  /* The paper's models: other games and no ranks, so nothing of them is in the tables above. */
  function paperRows() {
    return board.paper.rows.filter(function (row) { return row.setting === view().setting; });
  }

  function paperPlace(column) {
    return board.paper.fields.findIndex(function (each) { return each.column === column; });
  }

  /* What sorts the paper's table: what was chosen there, else what sorts the others if it has that,
     else its first measure of cost. */
  function paperOrder() {
    if (state.theirs) { return { column: state.theirs, down: state.theirsDown }; }
    if (state.sort === "team") { return { column: "player", down: state.down }; }
    var field = state.sort === "rank" ? ranker() : fieldOf(state.sort);
    if (field && paperPlace(field.column) >= 0) { return { column: field.column, down: state.down }; }
    return { column: "excess_cost", down: false };
  }

  function drawPaper() {
    var order = paperOrder();
    var sorted = paperPlace(order.column);
    var rows = inOrder(paperRows(), function (row) {
      if (sorted < 0) { return row.player; }
      return row.cells[sorted] === "" ? "" : Number(row.cells[sorted]);
    }, order.down);
    var head = element("tr", {}, paperHeader(order, { column: "player", title: "Model", unit: "" }),
                       element("th", { scope: "col" }, "Rank"));
    board.paper.fields.forEach(function (field) { head.appendChild(paperHeader(order, field)); });
    head.appendChild(element("th", { scope: "col" }, "Agent-games"));
    var body = element("tbody", {});
    rows.forEach(function (row) { body.appendChild(paperRow(row)); });
    var title = board.paper.title + ", from the paper";
    return addTable(title, "other games, as printed: unranked, without intervals. " + board.paper.sources.join("; "),
      element("table", {}, element("caption", { "class": "lb-hidden" }, title), element("thead", {}, head), body));
  }

  function paperHeader(order, field) {
    var arrow = { higher: "\u2191 ", lower: "\u2193 " }[field.better] || "";
    var isSorted = order.column === field.column;
    return headerOf("paper-" + field.column, field.title, arrow + field.unit, isSorted, order.down, function () {
      state.theirs = field.column;
      state.theirsDown = isSorted ? !order.down : field.better === "higher";
    });
  }

  function paperRow(row) {
    var node = element("tr", {}, element("th", { scope: "row", "class": "lb-team" }, mark(board.paper.kind),
      element("span", { "class": "lb-name" }, row.player), " ",
      element("span", { "class": "lb-kind" }, "from the paper")),
      element("td", {}, element("span", { title: "not ranked" }, DASH)));
    row.cells.forEach(function (text) {
      node.appendChild(element("td", {}, text === "" ? DASH : number(text, null)));
    });
    node.appendChild(element("td", {}, row.games));
    return node;
  }

  function sortHeader(id, title, unit) {
    return headerOf(id, title, unit, state.sort === id, state.down, function () { sortBy(id); });
  }

  /* A header that sorts its table; `sort` changes the state. */
  function headerOf(id, title, unit, isSorted, isDown, sort) {
    var button = element("button", { type: "button", "class": "lb-sort", "data-sort": id },
      title, element("span", { "aria-hidden": "true", "class": "lb-arrow" },
        isSorted ? (isDown ? "\u25bc" : "\u25b2") : "\u21c5"));
    button.addEventListener("click", function () {
      var from = document.activeElement.closest(".cb-scroll");
      var place = Array.prototype.indexOf.call(parts.tables.querySelectorAll(".cb-scroll"), from);
      sort();
      redraw(function () {
        var tables = parts.tables.querySelectorAll(".cb-scroll");
        var again = (tables[place] || parts.tables).querySelector("[data-sort='" + id + "']");
        if (again) { again.focus({ preventScroll: true }); }
      });
    });
    var order = isSorted ? (isDown ? "descending" : "ascending") : null;
    var node = element("th", { scope: "col", "aria-sort": order }, button);
    if (unit) { node.appendChild(element("span", { "class": "cb-unit" }, unit)); }
    return node;
  }

  function sortBy(id) {
    state.theirs = "";
    if (state.sort === id) {
      state.down = !state.down;
    } else {
      var field = fieldOf(id);
      state.sort = id;
      state.down = Boolean(field && field.better === "higher");
    }
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
    return element("span", { "class": "cb-mark cb-mark--" + kind, "aria-hidden": "true" });
  }

  function tableRow(row, fields) {
    var team = at(row, "team");
    var name = board.players.indexOf(team) < 0 || !at(row, "experiment")
      ? element("span", { "class": "lb-name" }, team)
      : element("a", { "class": "lb-name", href: "players/" + encodeURIComponent(team) + ".html" }, team);
    var node = element("tr", {},
      element("th", { scope: "row", "class": "lb-team" }, mark(board.kinds[at(row, "kind")]), name, " ",
        element("span", { "class": "lb-kind" }, at(row, "kind")), silenceNote(row)),
      rankCell(row));
    fields.forEach(function (field) { node.appendChild(valueCell(row, field)); });
    node.appendChild(gamesCell(row));
    return node;
  }

  function silenceNote(row) {
    var found = at(row, "no_better_than");
    if (!found || state.price !== 1) { return null; }
    return element("a", { "class": "lb-silence", href: "results/comparisons.html#silence",
      title: "not shown to cost less than " + found.split(" ").join(" and ") }, "no better than silence");
  }

  function gamesCell(row) {
    var games = at(row, "games");
    if (!games) { return element("td", {}, element("span", { title: "plays no games" }, DASH)); }
    if (board.played.indexOf(at(row, "experiment")) < 0) { return element("td", {}, games); }
    var words = new URLSearchParams({ e: at(row, "experiment"), t: at(row, "team"), s: view().setting });
    return element("td", {}, element("a", { href: "traces.html#find?" + words,
      "aria-label": "Games of " + at(row, "team") + ": " + games }, games));
  }

  function rankCell(row) {
    var name = ranker().column;
    var low = at(row, name + "_rank_low");
    if (!low || isPriced(ranker())) {
      return element("td", {}, element("span", { title: low ? MOVED : "not ranked" }, DASH));
    }
    var high = at(row, name + "_rank_high");
    var text = low === high ? low : low + DASH + high;
    var button = element("button", { type: "button", "class": "lb-rank",
                                     "aria-label": "Rank " + text + ": why" }, text);
    button.addEventListener("click", function () { aboutRank(row); });
    var letters = at(row, name + "_letters");
    return element("td", {}, button, element("span", { "class": "lb-of" }, " of " + at(row, name + "_ranked")),
      state.full && letters ? small("letters " + letters) : null);
  }

  /* A number with its interval as a strip; the ends, n and reasons show where it is pointed at. */
  function valueCell(row, field) {
    var text = cell(row, field);
    if (text === "") {
      return element("td", {}, element("span", { title: "not measured, or nothing counts" }, DASH));
    }
    if (!field.interval) { return element("td", {}, number(text, field.digits)); }
    var value = element("span", { "class": "lb-value", tabindex: "-1" }, number(text, field.digits));
    var more = element("span", { "class": "lb-more" });
    var low = isPriced(field) ? "" : at(row, field.column + "_low");
    var high = isPriced(field) ? "" : at(row, field.column + "_high");
    var count = at(row, field.column + "_n");
    var seats = seatsOf(row);
    var isPart = count !== "" && Number(count) < seats;
    if (isPart) {
      value.appendChild(element("span", { "class": "lb-part", title: PARTLY }, count + " of " + seats + " seats"));
    }
    value.appendChild(strip(field, text, low, high));
    more.appendChild(low && high ? small.apply(null, ends(low, high, field.digits)) : noInterval(row, field));
    if (count) { more.appendChild(small("n = " + count + " in " + at(row, "scenarios"))); }
    if (isPart) { more.appendChild(element("span", { "class": "cb-range cb-why" }, PARTLY)); }
    return element("td", {}, value, more);
  }

  /* How many seats its games have: as many as agent-games of its fullest measure. */
  function seatsOf(row) {
    return Math.max.apply(null, board.fields.map(function (field) {
      return field.interval ? Number(at(row, field.column + "_n")) : 0;
    }));
  }

  /* Why there is no interval; of few scenarios, their range. */
  function noInterval(row, field) {
    if (isPriced(field)) { return element("span", { "class": "cb-range cb-why" }, MOVED); }
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

  /* The end of a column's scale: that of the competing teams, in all tables of the view. */
  function topOf(field) {
    if (field.unit === "percent") { return 100; }
    var ends = competing().filter(function (row) { return cell(row, field) !== ""; })
      .map(function (row) {
        return Number(isPriced(field) ? atPrice(row) : at(row, field.column + "_high") || cell(row, field));
      });
    return Math.max.apply(null, ends.concat(0));
  }

  /* The interval as a bar with a dot; a hollow dot at the end is beyond the scale. */
  function strip(field, text, low, high) {
    var top = topOf(field);
    var node = element("span", { "class": "lb-strip", "aria-hidden": "true" });
    var share = function (number) { return Math.max(0, Math.min(100, 100 * number / (top || 1))); };
    if (low && high) {
      var bar = element("i", {});
      bar.style.left = share(low) + "%";
      bar.style.width = share(high) - share(low) + "%";
      node.appendChild(bar);
    }
    var dot = element("b", { "class": Number(text) > top ? "lb-beyond" : null });
    dot.style.left = share(text) + "%";
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
      line.appendChild(element("a", { href: link[0], "data-table": link[2] }, link[1]));
    });
    var close = element("button", { type: "button", "class": "lb-button", autofocus: true }, "Close");
    close.addEventListener("click", function () { dialog.close(); });
    calbench.fill(dialog, element("h2", { id: "lb-dialog-title" }, title), list, line, close);
    dialog.showModal();
  }

  function tableLinks(file) {
    return view().experiments.map(function (name) {
      return ["data.html#downloads", name + "/" + file, name + "/" + file];
    });
  }

  function aboutField(field) {
    calbench.load("leaderboard/about", function (known) {
      var about = known[field.id];
      explain(field.title, [
        ["Definition", about.definition],
        ["Runs over", about.denominator],
        ["Unit", field.unit],
        ["Better", field.better],
        ["Origin", originWords(about.origin)],
        ["Interval", field.interval ? view().confidence + ", over scenarios" : ""],
        ["Not comparable", field.vps ? "with VPS measured in another way" : ""]
      ], [[about.link, "The whole definition"]].concat(tableLinks(about.table)));
    }, function () { parts.status.textContent = "Its definition could not be read."; });
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
    var alike = rowsOf(view()).filter(function (other) {
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
      ["By", "paired differences over the same scenarios, p below " + view().level + " after correction; " +
        "beside each that is not told apart stands which difference would have been found"]
    ], [["results/comparisons.html#" + words, "Its comparisons"], ["method.html#ranks", "Method"]]);
  }

  /* What is shown, as a file */

  function quoted(text) {
    var safe = /^[=+@\t\r]/.test(text) ? "'" + text : text;  // no formula in a spreadsheet
    return /[",\n\r]/.test(safe) ? "\"" + safe.replace(/"/g, "\"\"") + "\"" : safe;
  }

  function csv() {
    var name = ranker().column;
    var pools = shownPools();
    var fields = board.fields.filter(function (field) {
      return pools.some(function (pool) { return pool.fields.indexOf(field) >= 0; });
    });
    var head = ["setting", "channel", "experiment", "team", "kind", "rank_measure", "rank_low",
                "rank_high", "ranked", "letters"];
    fields.forEach(function (field) {
      head.push(isPriced(field) ? field.id + " at " + state.price + " times the price" : field.id);
      if (field.interval) {
        ENDS.forEach(function (end) { head.push(field.id + end); });
      }
    });
    var rows = pools.reduce(function (all, pool) { return all.concat(pool.rows, pool.apart); }, []);
    var lines = rows.map(function (row) {
      var cells = [view().setting, view().channel, at(row, "experiment"), at(row, "team"),
                   at(row, "kind"), ranker().id].concat(RANK.map(function (part) {
                     return isPriced(ranker()) ? "" : at(row, name + part);
                   }));
      fields.forEach(function (field) {
        var text = cell(row, field);
        cells.push(text);
        if (field.interval) {
          ENDS.forEach(function (part) {
            var isMoved = isPriced(field) && part !== "_n";
            cells.push(text === "" || isMoved ? "" : at(row, field.column + part));
          });
        }
      });
      return cells.map(quoted).join(",");
    });
    return [head.join(",")].concat(lines).join("\n") + "\n";
  }

  function download(button) {
    calbench.save(new Blob([csv()], { type: "text/csv" }), "calbench-leaderboard.csv");
    button.closest("details").open = false;
  }

  /* Controls */

  function picker(title, id, values, chosen, isOff, choose) {
    var select = element("select", { id: id });
    values.forEach(function (value) {
      select.appendChild(element("option", { value: value, selected: value === chosen, disabled: isOff(value) }, value));
    });
    select.addEventListener("change", function () {
      choose(select.value);
      redraw(function () { document.getElementById(id).focus(); });
    });
    return element("label", { "class": "lb-field" }, element("span", {}, title), select);
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
      picker("Setting", "lb-setting", unique("setting"), now.setting,
        function () { return false; },
        function (setting) {
          var same = viewOf(setting, now.channel);
          state.view = same < 0 ? viewOf(setting, null) : same;
        }),
      picker("Channel", "lb-channel", unique("channel"), now.channel,
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

  /* What a failed meeting costs, in times its price in the measure and in cost. */
  function priceWords() {
    var known = rowsOf(view()).map(function (row) { return at(row, "silence_cost"); }).find(Boolean);
    var times = state.price.toFixed(2);
    return known ? times + " \u00d7 " + calbench.rounded(known, 2) : times;
  }

  function drawPrice() {
    parts.price.value = state.price;
    parts.priced.textContent = priceWords();
    parts.price.setAttribute("aria-valuetext", priceWords() + " accounting cost on average");
  }

  function slider() {
    var input = element("input", { type: "range", id: "lb-price", min: "0", max: String(MOST), step: String(STEP) });
    input.addEventListener("input", function () {
      state.price = Number(input.value);
      writeAddress();
      drawPrice();
      drawTable();
    });
    return input;
  }

  function drawMenus() {
    drawPrice();
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
    parts.full.checked = state.full;
    parts.paper.checked = state.paper;
    parts.paper.disabled = !paperRows().length;
    parts.paper.parentNode.title = paperRows().length ? "" : "the paper has no models in this setting";
    if (parts.find.value !== state.text) { parts.find.value = state.text; }
  }

  function button(label, act) {
    var node = element("button", { type: "button", "class": "lb-button" }, label);
    node.addEventListener("click", function () { act(node); });
    return node;
  }

  function check(name) {
    var input = element("input", { type: "checkbox", id: "lb-" + name });
    input.addEventListener("change", function () {
      state[name] = input.checked;
      writeAddress();
      drawTable();
      var own = document.getElementById("lb-theirs");
      if (name === "paper" && own) { own.scrollIntoView({ block: "center" }); }
    });
    return input;
  }

  function boxes(title, list) {
    return element("fieldset", { "class": "lb-group" }, element("legend", {}, title), list);
  }

  function menu() {
    return element("details", { "class": "lb-menu" }, element("summary", {}, "More"),
      element("div", { "class": "lb-panel" },
        element("label", { "class": "lb-field" }, element("span", {}, "Find"), parts.find),
        element("label", { "class": "lb-check" }, parts.full, "Full rows: ends of intervals and n"),
        boxes("Kinds", parts.kinds), boxes("Columns", parts.columns),
        element("div", { "class": "lb-buttons" }, button("Download CSV", download),
          button("Reset", function () { state = defaults(); redraw(); }))));
  }

  function build() {
    parts = {
      switches: element("div", { "class": "lb-switches" }),
      kinds: element("div", { "class": "lb-boxes" }),
      columns: element("div", { "class": "lb-boxes" }),
      find: element("input", { type: "search", id: "lb-find", placeholder: "team or kind" }),
      full: check("full"),
      paper: check("paper"),
      price: slider(),
      priced: element("output", { "for": "lb-price" }),
      tables: element("div", { "class": "lb-tables" }),
      status: element("span", { "class": "cb-quiet lb-status", role: "status" })
    };
    parts.find.addEventListener("input", function () {
      state.text = parts.find.value;
      writeAddress();
      drawTable();
    });
    dialog = element("dialog", { "class": "lb-dialog md-typeset", "aria-labelledby": "lb-dialog-title" });
    calbench.fill(place, element("div", { "class": "lb-bar" }, parts.switches,
      element("label", { "class": "lb-check" }, parts.paper, "Show the paper's models"),
      element("label", { "class": "lb-field lb-price", title: "times its price in adjusted excess cost; on average" },
        element("span", {}, "Failed meeting costs"), parts.price, parts.priced), menu(), parts.status),
      parts.tables, dialog);
    document.addEventListener("click", function (event) {
      Array.prototype.forEach.call(place.querySelectorAll(".lb-menu[open]"), function (menu) {
        if (!menu.contains(event.target) && document.contains(event.target)) { menu.open = false; }
      });
    });
    place.addEventListener("keydown", onKey);
    window.addEventListener("resize", fit);
  }

  var STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  function onKey(event) {
    var open = event.target.closest && event.target.closest(".lb-menu[open]");
    if (event.key === "Escape" && open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
    if (STEPS[event.key] && event.target.classList.contains("lb-value")) {
      step(event.target, STEPS[event.key]);
      event.preventDefault();
    }
  }

  /* Go from number to number; a table is one stop of the tab key. */
  function step(from, by) {
    var table = from.closest("table");
    var rows = Array.from(table.querySelectorAll("tbody tr")).filter(function (row) {
      return row.querySelector(".lb-value");
    });
    var cell = from.closest("td").cellIndex + by[1];
    var number = rows.indexOf(from.closest("tr")) + by[0];
    for (; rows[number] && rows[number].cells[cell]; number += by[0], cell += by[1]) {
      var next = rows[number].cells[cell].querySelector(".lb-value");
      if (next) {
        from.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
        return;
      }
    }
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
