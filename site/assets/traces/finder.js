/* The finder of the trace browser: which games there are, and where something was said.
 *
 * calbench.finder.mount(node, open) fills a node; open(experiment, team, scenario, event) is
 * called when a reader chooses a game. The address #find?... keeps every state of the finder.
 * Text from data reaches the page through text nodes only; words never become keys or paths.
 */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var ROWS = 25;
  var ROWS_WITH_TEXT = 10;
  var SENTENCES = 3;
  var PAUSE_MS = 60;
  var ABSENT = "–";

  /* What the address holds, in its order. Empty is everything. */
  var KEYS = ["e", "t", "k", "s", "d", "o", "xmin", "xmax", "vmin", "vmax", "told", "passed", "tier",
              "p", "q", "sort", "page"];
  /* Fields that are folded until somebody wants them, or an address has one. */
  var FOLDED = ["e", "k", "s", "d", "o", "xmin", "xmax", "vmin", "vmax", "told", "passed", "tier", "p"];
  var OUTCOMES = [["all", "all scheduled"], ["failed", "some failed"],
                  ["halted", "halted, not scored"]];
  /* Columns of the results: key, heading, whether the games can be sorted by it. */
  var COLUMNS = [
    ["game", "Game"], ["team", "Team"], ["about", "Setting"], ["outcome", "Scheduled"],
    ["excess", "Excess cost", true], ["cost", "Cost", true], ["messages", "Messages", true],
    ["vps", "VPS", true], ["told", "Labels told", true],
    ["patterns", "Patterns"]
  ];

  var index = null;
  var games = [];
  var buckets = new Set();
  var state = {};
  var part = {};
  var openGame = null;
  var shown = 0;
  var current = "";
  var pause = 0;

  // ---------------------------------------------------------------- words

  /* As calbench/report/games/index.py has them. */
  var WORD = /[\p{L}\p{N}]+/gu;
  var TOKEN = /[\p{L}\p{N}\p{M}]+/gu;
  var LONGEST = 32;
  var BUCKETS = 128;
  var FACTOR = 31;
  var HEAD = 2;
  var NUMBER_OF = new Uint8Array(128);
  calbench.ALPHABET.split("").forEach(function (letter, number) {
    NUMBER_OF[letter.charCodeAt(0)] = number;
  });

  function wordsOf(text) {
    return (text.normalize("NFKC").toLowerCase().match(WORD) || []).map(function (word) {
      return Array.from(word.slice(0, 2 * LONGEST)).slice(0, LONGEST).join("");
    });
  }

  function bucketOf(word) {
    return Array.from(word.slice(0, 2 * HEAD)).slice(0, HEAD).reduce(function (number, letter) {
      return (number * FACTOR + letter.codePointAt(0)) % BUCKETS;
    }, 0);
  }

  /* The words of a question. The last one may be incomplete, unless something follows it. */
  function termsOf(question) {
    var words = Array.from(new Set(wordsOf(question)));
    var goesOn = /[\p{L}\p{N}]$/u.test(question);
    return words.map(function (word, place) {
      var isOpen = goesOn && place === words.length - 1 && Array.from(word).length >= HEAD;
      return { word: word, isOpen: isOpen };
    });
  }

  function fits(term, word) {
    return word === term.word || (term.isOpen && word.startsWith(term.word));
  }

  /* Set a mark for every message of a word that has all marks of the words before. */
  function mark(marks, letters, before) {
    var message = -1;
    var number = 0;
    var shift = 0;
    for (var place = 0; place < letters.length; place += 1) {
      var code = NUMBER_OF[letters.charCodeAt(place)];
      number += (code & 31) << shift;
      if (code & 32) {
        shift += 5;
      } else {
        message += number + 1;
        if (marks[message] === before) { marks[message] = before + 1; }
        number = shift = 0;
      }
    }
  }

  /* Find the messages that hold all words; `done` gets their number of marks and the marks. */
  function search(question, done, failed) {
    var terms = termsOf(question);
    var needed = Array.from(new Set(terms.map(function (term) { return bucketOf(term.word); })))
      .filter(function (bucket) { return buckets.has(bucket); });
    var left = needed.length;
    var files = new Map();
    function finish() {
      var last = games.length ? games[games.length - 1] : { first: 0, texts: 0 };
      var marks = new Uint8Array(last.first + last.texts);
      terms.slice(0, 255).forEach(function (term, before) {
        var file = files.get(bucketOf(term.word));
        (file ? file.words : []).forEach(function (word, place) {
          if (fits(term, word)) { mark(marks, file.messages[place], before); }
        });
      });
      done({ terms: terms, marks: marks, wanted: Math.min(terms.length, 255) });
    }
    if (!left) { finish(); }
    needed.forEach(function (bucket) {
      calbench.load("search/" + bucket, function (file) {
        files.set(bucket, file);
        left -= 1;
        if (!left) { finish(); }
      }, failed);
    });
  }

  function hitsOf(game, found) {
    var hits = [];
    for (var number = 0; number < game.texts; number += 1) {
      if (found.marks[game.first + number] === found.wanted) { hits.push(number); }
    }
    return hits;
  }

  // ---------------------------------------------------------------- the games

  function read(found) {
    var first = 0;
    index = found;
    buckets = new Set(found.buckets);
    found.experiments.forEach(function (entry) {
      var about = columnsOf(entry.scenarios, entry.scenarios.id.length);
      var width = entry.teams.length;
      var missing = new Set(entry.missing);
      var count = about.id.length * width - missing.size;
      var columns = columnsOf(entry.games, count);
      var row = 0;
      for (var place = 0; place < about.id.length * width; place += 1) {
        if (missing.has(place)) { continue; }
        var scenario = Math.floor(place / width);
        var team = entry.teams[place % width];
        var game = {
          number: games.length, experiment: entry.name, team: team[0], kind: team[1],
          scenario: about.id[scenario], setting: about.setting[scenario],
          third: about.third[scenario], meetings: about.meetings[scenario],
          optimum: about.optimum[scenario], first: first, hits: []
        };
        take(game, columns, row);
        first += game.texts;
        row += 1;
        games.push(game);
      }
    });
  }

  function take(game, columns, row) {
    Object.keys(columns).forEach(function (name) { game[name] = columns[name][row]; });
  }

  function columnsOf(packed, count) {
    var made = {};
    Object.keys(packed).forEach(function (name) {
      made[name] = calbench.column(packed[name], count);
    });
    return made;
  }

  function isWithin(value, least, most) {
    if (least === "" && most === "") { return true; }
    return value !== null && (least === "" || value >= Number(least))
      && (most === "" || value <= Number(most));
  }

  function outcomeOf(game) {
    if (game.halted) { return "halted"; }
    return game.scheduled < game.meetings ? "failed" : "all";
  }

  function isChosen(game) {
    var pattern = index.patterns.indexOf(state.p);
    return (!state.e || game.experiment === state.e) && (!state.t || game.team === state.t)
      && (!state.k || game.kind === state.k) && (!state.s || game.setting === state.s)
      && (!state.d || game.third === state.d) && (!state.o || outcomeOf(game) === state.o)
      && isWithin(game.excess, state.xmin, state.xmax)
      && isWithin(game.vps, state.vmin, state.vmax)
      && isWithin(game.told, state.told, "") && isWithin(game.passed, state.passed, "")
      && (!state.tier || game.tier >= index.tiers.indexOf(state.tier) + 1)
      && (!state.p || (pattern >= 0 && (game.patterns & (1 << pattern)) !== 0));
  }

  function sorted(rows) {
    var name = state.sort.replace(/^-/, "");
    var sign = state.sort.charAt(0) === "-" ? -1 : 1;
    if (!name) { return rows; }
    return rows.sort(function (one, other) {
      if (one[name] === null || other[name] === null) {
        return (one[name] === null) - (other[name] === null) || one.number - other.number;
      }
      return sign * (one[name] - other[name]) || one.number - other.number;
    });
  }

  // ---------------------------------------------------------------- the address

  function owns(hash) { return /^(#?|#find(\?.*)?|#[^/?]+)$/.test(hash || ""); }

  function addressOf(game, event) {
    return "#" + [game.experiment, game.team, game.scenario, event || 0]
      .map(encodeURIComponent).join("/");
  }

  function stateOf(hash) {
    var found = {};
    var given = new URLSearchParams((/^#find\?(.*)$/.exec(hash) || ["", ""])[1]);
    KEYS.forEach(function (key) { found[key] = (given.get(key) || "").slice(0, 1000); });
    index.experiments.forEach(function (entry) {
      if (hash === "#" + encodeURIComponent(entry.name)) { found.e = entry.name; }
    });
    ["xmin", "xmax", "vmin", "vmax", "told", "passed"].forEach(function (key) {
      if (!/^-?\d{1,9}(\.\d{1,9})?$/.test(found[key])) { found[key] = ""; }
    });
    if (!COLUMNS.some(function (column) {
      return column[2] && column[0] === found.sort.replace(/^-/, "");
    })) { found.sort = ""; }
    if (!/^\d{1,6}$/.test(found.page)) { found.page = ""; }
    return found;
  }

  function keep() {
    var kept = new URLSearchParams();
    KEYS.forEach(function (key) { if (state[key]) { kept.set(key, state[key]); } });
    var text = kept.toString();
    history.replaceState(null, "", text ? "#find?" + text : "#find");
  }

  // ---------------------------------------------------------------- the results

  function update() {
    shown += 1;
    var turn = shown;
    part.again.hidden = !has(KEYS);
    if (!termsOf(state.q).length) {
      list(null);
      return;
    }
    search(state.q, function (found) {
      if (turn === shown) { list(found); }
    }, function () {
      if (turn === shown) { part.count.textContent = "The words could not be read."; }
    });
  }

  function list(found) {
    var rows = games.filter(isChosen);
    var messages = 0;
    if (found) {
      rows = rows.filter(function (game) {
        game.hits = hitsOf(game, found);
        messages += game.hits.length;
        return game.hits.length > 0;
      });
    }
    sorted(rows);
    var size = found ? ROWS_WITH_TEXT : ROWS;
    var pages = Math.max(1, Math.ceil(rows.length / size));
    var page = Math.min(pages, Math.max(1, Number(state.page || 1)));
    part.count.textContent = (found ? plural(messages, "message") + " in " : "")
      + plural(rows.length, "game");
    part.page.textContent = "Page " + page + " of " + pages;
    part.back.disabled = page === 1;
    part.forth.disabled = page === pages;
    part.at = page;
    part.turns.hidden = pages === 1;
    part.table.hidden = !rows.length;
    headings();
    fill(part.rows);
    rows.slice((page - 1) * size, page * size).forEach(function (game) {
      part.rows.appendChild(rowOf(game));
      if (found) { part.rows.appendChild(sentencesOf(game, found)); }
    });
    var entry = index.experiments.filter(function (each) { return each.name === state.e; })[0];
    fill(part.note, document.createTextNode(entry && entry.note ? entry.note + " " : ""));
    if (entry) { sources(entry); }
    part.node.setAttribute("data-found", rows.length);
    part.node.setAttribute("data-state", stateText());
    markOpen();
  }

  /* Where the numbers of an experiment are from. */
  function sources(entry) {
    var isAudited = games.some(function (game) {
      return game.experiment === entry.name && game.told !== null;
    });
    part.note.appendChild(document.createTextNode("Tables:"));
    ["games.csv"].concat(isAudited ? ["audit_games.csv"] : []).forEach(function (name) {
      part.note.appendChild(document.createTextNode(" "));
      part.note.appendChild(el("a", { href: "data.html#downloads",
        "data-table": entry.name + "/" + name }, name));
    });
  }

  function stateText() {
    return KEYS.filter(function (key) { return state[key]; }).map(function (key) {
      return key + "=" + state[key];
    }).join("&");
  }

  function plural(count, word) { return count + " " + word + (count === 1 ? "" : "s"); }
  /* At most two decimals; the table of games has them all. */
  function shownNumber(value) {
    return value === null ? ABSENT : String(Math.round(value * 100) / 100);
  }

  function link(game, event, content) {
    var node = el("a", { href: addressOf(game, event) }, content);
    node.addEventListener("click", function (click) {
      if (click.ctrlKey || click.metaKey || click.shiftKey) { return; }
      click.preventDefault();
      history.pushState(null, "", addressOf(game, event));
      openGame(game.experiment, game.team, game.scenario, event);
    });
    return node;
  }

  function number(value) { return el("td", { "class": "cb-number" }, shownNumber(value)); }

  function rowOf(game) {
    var outcome = game.scheduled + "/" + game.meetings;
    var names = index.patterns.filter(function (name, place) {
      return (game.patterns & (1 << place)) !== 0;
    }).map(words);
    var told = game.told ? game.told + " (" + index.tiers[game.tier - 1] + ")"
      : shownNumber(game.told);
    var node = el("tr", { "data-game": [game.experiment, game.team, game.scenario].join("/") },
      el("th", { scope: "row" }, link(game, 0, game.scenario), el("small", {}, game.experiment)),
      el("td", {}, game.team, el("small", {}, game.kind)),
      el("td", {}, game.setting, game.third ? el("small", {}, game.third) : null),
      el("td", { "class": "cb-number" }, outcome,
        game.halted ? el("small", { "class": "cb-bad" },
          outcomeOf(game) + ", not scored") : null),
      number(game.excess), number(game.cost), number(game.messages), number(game.vps),
      el("td", { "class": "cb-number" }, told,
        game.passed ? el("small", {}, game.passed + " of others") : null),
      el("td", {}, game.patterns === null ? ABSENT : names.length ? names.join(", ") : "none"));
    return node;
  }

  function words(name) { return name.replace(/_/g, " "); }

  /* The messages of one game that were found; texts come with the game. */
  function sentencesOf(game, found) {
    var items = el("ul", {});
    var cell = el("td", { colspan: COLUMNS.length }, items);
    calbench.games.load(game.experiment, game.team, game.scenario,
      function (data) {
        var texts = [];
        data.events.forEach(function (event, place) {
          if (event.content && event.content.kind === "text") { texts.push(place); }
        });
        game.hits.slice(0, SENTENCES).forEach(function (hit) {
          if (texts[hit] === undefined) { return; }  // the file is of another build
          items.appendChild(sentence(game, texts[hit], data.events[texts[hit]], found.terms));
        });
        if (game.hits.length > SENTENCES) {
          items.appendChild(el("li", { "class": "cb-quiet" },
            "and " + plural(game.hits.length - SENTENCES, "more message")));
        }
      }, function () { items.appendChild(el("li", {}, "Its messages could not be read.")); });
    return el("tr", { "class": "cb-hits" }, cell);
  }

  function sentence(game, place, event, terms) {
    var quote = link(game, place, "");
    quote.className = "cb-text";
    cut(event.content.text, terms).forEach(function (piece) {
      quote.appendChild(piece.isFound ? el("mark", {}, visible(piece.text))
        : document.createTextNode(visible(piece.text)));
    });
    return el("li", {}, "agent " + event.from_agent + " → "
      + event.to_agents.map(function (id) { return "agent " + id; }).join(", ") + ": ", quote);
  }

  /* The sentence around the first word that was found, in pieces. */
  function cut(text, terms) {
    var first = pieces(text, terms, 1).filter(function (piece) { return piece.isFound; })[0];
    var at = first ? first.start : 0;
    var before = text.slice(Math.max(0, at - 160), at);
    var from = at - before.length + Math.max(0, before.search(/[^.!?\n]*$/));
    var end = text.slice(at).search(/[.!?](?=\s|$)|\n/);
    var to = Math.min(text.length, end < 0 ? at + 240 : Math.min(at + end + 1, at + 240));
    var found = pieces(text.slice(from, to).replace(/^\s+/, ""), terms, 1000);
    if (from > 0 && before.length === at - from) { found.unshift({ text: "… " }); }
    if (to < text.length) { found.push({ text: " …" }); }
    return found;
  }

  /* Cut a text at words that were found, until there are enough of them. */
  function pieces(text, terms, enough) {
    var made = [];
    var end = 0;
    var token;
    TOKEN.lastIndex = 0;
    while (made.length < 2 * enough && (token = TOKEN.exec(text)) !== null) {
      if (wordsOf(token[0].slice(0, 256)).some(function (word) {
        return terms.some(function (term) { return fits(term, word); });
      })) {
        made.push({ text: text.slice(end, token.index) });
        end = token.index + token[0].length;
        made.push({ text: token[0].slice(0, 200), isFound: true, start: token.index });
      }
    }
    made.push({ text: text.slice(end) });
    return made;
  }

  /* Show control and bidirectional characters instead of obeying them. */
  function visible(text) {
    return text.replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu,
      function (character) {
        return "\\u" + ("0000" + character.charCodeAt(0).toString(16)).slice(-4);
      });
  }

  // ---------------------------------------------------------------- the form

  function field(words, node) {
    return el("label", { "class": "cb-field" }, el("span", {}, words), node);
  }

  function select(key, id, all) {
    var node = el("select", { id: id });
    node.addEventListener("change", function () { change(key, node.value); });
    part[key] = node;
    node.setAttribute("data-all", all);
    return node;
  }

  function input(key, id, attributes) {
    var node = el("input", Object.assign({ id: id, autocomplete: "off" }, attributes));
    node.addEventListener("input", function () {
      state[key] = node.value;
      clearTimeout(pause);
      pause = setTimeout(function () { change(key, state[key]); }, PAUSE_MS);
    });
    part[key] = node;
    return node;
  }

  function range(words, least, most) {
    return el("fieldset", { "class": "cb-field cb-range" }, el("legend", {}, words),
      input(least, "cb-" + least, { type: "number", step: "any", "aria-label": words + ", least",
                                    placeholder: "least" }),
      input(most, "cb-" + most, { type: "number", step: "any", "aria-label": words + ", most",
                                  placeholder: "most" }));
  }

  function change(key, value) {
    state[key] = value;
    if (key !== "page") { state.page = ""; }
    if (key === "e" && !teamsOf().some(function (pair) { return pair[0] === state.t; })) {
      state.t = "";
    }
    keep();
    choices();
    update();
  }

  function options(key, pairs) {
    var node = part[key];
    fill(node, el("option", { value: "" }, node.getAttribute("data-all")));
    if (state[key] && !pairs.some(function (pair) { return pair[0] === state[key]; })) {
      pairs = pairs.concat([[state[key], state[key] + " (unknown)"]]);
    }
    pairs.forEach(function (pair) {
      node.appendChild(el("option", { value: pair[0] }, visible(pair[1])));
    });
    node.value = state[key];
  }

  function different(name) {
    return Array.from(new Set(games.map(function (game) { return game[name]; })))
      .filter(Boolean).map(function (value) { return [value, value]; });
  }

  function teamsOf() {
    var kinds = new Map();
    index.experiments.forEach(function (entry) {
      if (!state.e || entry.name === state.e) {
        entry.teams.forEach(function (team) { kinds.set(team[0], team[1]); });
      }
    });
    return Array.from(kinds).map(function (pair) {
      return [pair[0], pair[0] + " (" + pair[1] + ")"];
    });
  }

  /* Fill the fields with what there is to choose, and with the state. */
  function choices() {
    options("e", index.experiments.map(function (entry) { return [entry.name, entry.name]; }));
    options("t", teamsOf());
    options("k", different("kind"));
    options("s", different("setting"));
    options("d", different("third"));
    options("o", OUTCOMES);
    options("p", index.patterns.map(function (name) { return [name, words(name)]; }));
    options("tier", index.tiers.map(function (name, place) {
      return [name, place + 1 < index.tiers.length ? name + " or more private" : name];
    }));
    ["xmin", "xmax", "vmin", "vmax", "told", "passed", "q"].forEach(function (key) {
      if (part[key].value !== state[key]) { part[key].value = state[key]; }
    });
  }

  function headings() {
    fill(part.head);
    COLUMNS.forEach(function (column) {
      var isSorted = column[2] && state.sort.replace(/^-/, "") === column[0];
      var isDown = isSorted && state.sort.charAt(0) === "-";
      var node = el("th", { scope: "col", "aria-sort":
        isSorted ? (isDown ? "descending" : "ascending") : null });
      if (column[2]) {
        var sign = el("span", { "aria-hidden": "true" }, isSorted ? (isDown ? " ▾" : " ▴") : " ▵");
        var press = el("button", { type: "button", "data-sort": column[0] }, column[1], sign);
        press.addEventListener("click", function () {
          change("sort", isDown ? column[0] : isSorted ? "" : "-" + column[0]);
          part.head.querySelector("[data-sort=" + column[0] + "]").focus();
        });
        node.appendChild(press);
      } else {
        node.textContent = column[1];
      }
      part.head.appendChild(node);
    });
  }

  function turner(words, step) {
    var node = el("button", { type: "button", "class": "md-button" }, words);
    node.addEventListener("click", function () { change("page", String(part.at + step)); });
    return node;
  }

  function build(node) {
    part.node = node;
    part.count = el("p", { "class": "cb-count", role: "status" });
    part.note = el("p", { "class": "cb-quiet" });
    part.head = el("tr", {});
    part.rows = el("tbody", {});
    part.table = el("div", { "class": "cb-scroll", tabindex: 0, role: "region",
                             "aria-label": "Games found" },
      el("table", { "class": "cb-found" }, el("thead", {}, part.head), part.rows));
    part.back = turner("‹ Before", -1);
    part.forth = turner("Next ›", 1);
    part.page = el("span", {});
    part.turns = el("p", { "class": "cb-turns" }, part.back, part.page, part.forth);
    part.again = el("button", { type: "button", "class": "md-button" }, "Show all games");
    part.again.addEventListener("click", function () {
      state = stateOf("");
      keep();
      choices();
      update();
      unfold();
      part.q.focus();
    });
    part.featured = document.getElementById("cb-featured") || el("div", {});
    part.intro = document.getElementById("cb-intro") || el("div", {});
    part.details = el("details", { "class": "cb-finder", open: true },
      el("summary", {}, "Find a game"), part.featured, form(), part.count, part.note, part.table,
      part.turns);
    fill(node, part.details);
  }

  function form() {
    part.more = el("details", { "class": "cb-more" }, el("summary", {}, "More filters"),
      el("div", { "class": "cb-form" },
        field("Experiment", select("e", "cb-experiment", "all")),
        field("Kind of player", select("k", "cb-kind", "all")),
        field("Setting", select("s", "cb-setting", "all")),
        field("Difficulty", select("d", "cb-third", "all")),
        field("Outcome", select("o", "cb-outcome", "any")),
        range("Excess cost", "xmin", "xmax"),
        range("VPS (privacy loss)", "vmin", "vmax"),
        field("Private labels told, at least", least("told", "cb-told")),
        field("Labels of others passed on, at least", least("passed", "cb-passed")),
        field("Most private label told", select("tier", "cb-tier", "any or none")),
        field("Pattern of behaviour", select("p", "cb-pattern", "any or none"))));
    return el("div", { role: "search", "aria-label": "Games" },
      el("div", { "class": "cb-line" },
        field("Words in messages", input("q", "cb-words", {
          type: "search", placeholder: "all of these words", maxlength: 1000, spellcheck: "false"
        })),
        field("Team", select("t", "cb-team", "all")),
        part.again),
      part.more);
  }

  function least(key, id) { return input(key, id, { type: "number", min: 0, step: 1 }); }

  function has(keys) { return keys.some(function (key) { return state[key]; }); }

  /* What an address asks for is in sight: its fields, and results instead of featured games. */
  function unfold() {
    if (has(FOLDED)) { part.more.open = true; }
    part.featured.hidden = has(KEYS);
  }

  // ---------------------------------------------------------------- beside the viewer

  function follow() {
    if (!owns(location.hash)) { return; }
    state = stateOf(location.hash);
    part.details.open = true;
    part.intro.hidden = false;
    choices();
    update();
    unfold();
  }

  function opened(experiment, team, scenario) {
    current = [experiment, team, scenario].join("/");
    if (part.details) {
      part.details.open = false;
      part.intro.hidden = true;
      markOpen();
    }
  }

  function markOpen() {
    part.rows.querySelectorAll("tr[data-game]").forEach(function (row) {
      if (row.getAttribute("data-game") === current) {
        row.setAttribute("aria-current", "true");
      } else {
        row.removeAttribute("aria-current");
      }
    });
  }

  function mount(node, open) {
    openGame = open;
    build(node);
    part.details.open = owns(location.hash);
    calbench.load("index", function (found) {
      read(found);
      state = stateOf(owns(location.hash) ? location.hash : "");
      choices();
      update();
      unfold();
      window.addEventListener("hashchange", follow);
      if (!games.length) { part.count.textContent = "This site has no games."; }
    }, function () { part.count.textContent = "The list of games could not be read."; });
  }

  calbench.finder = { mount: mount, owns: owns, opened: opened, wordsOf: wordsOf };
}());
