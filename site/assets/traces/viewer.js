/* The trace browser's view of one game.
 *
 * Every text from a trace reaches the page through text nodes. The address keeps the place:
 * #experiment/team/scenario/event;name=value..., where event is the index of the event in the
 * trace file, and the names are view, beside, event2, talk and channel.
 */
(function () {
  "use strict";

  var el = calbench.element;
  var fill = calbench.fill;
  var frames = calbench.frames;
  var sight = calbench.privateView;
  var words = calbench.text;
  /* Names become part of a file's address: no slash, and no name of dots alone. */
  var NAME = /^[\w.-]*\w[\w.-]*$/;
  /* How agents of a game may talk, as the leaderboard says it. */
  var OPEN = new Map([
    ["dm", "private messages"], ["participant_groupchat", "to all participants"],
    ["all_agent_groupchat", "to all agents"], ["sealed", "to a mediator"]
  ]);
  var place = null;
  var part = {};
  var current = null;
  var addressTimer = null;
  /* How many games were asked for: one that comes later than the next is not shown. */
  var asking = 0;
  /* Where "All games" leads: to the search that a reader came from. */
  var lastSearch = "#find";
  var ownTitle = document.title;

  // ---------------------------------------------------------------- addresses

  function decoded(text) {
    try { return decodeURIComponent(text); } catch (error) { return ""; }
  }

  /* What an address asks for: names of the game, and options. */
  function parse(hash) {
    var halves = /^#?([^;?]*)[;?]?(.*)$/.exec(hash) || ["", "", ""];
    var names = halves[1].split("/").map(decoded);
    var options = { at: number(names[3]) };
    halves[2].split(/[;&]/).forEach(function (pair) {
      var cut = pair.indexOf("=");
      if (cut > 0) { options[decoded(pair.slice(0, cut))] = decoded(pair.slice(cut + 1)); }
    });
    return { names: names.slice(0, 3), options: options };
  }

  function number(text) {
    return /^\d{1,9}$/.test(text || "") ? Number(text) : null;
  }

  function addressOf(view, at) {
    var game = view.game;
    var options = [
      ["view", view.who === sight.ALL ? "" : view.who], ["beside", part.second.team()],
      ["event2", part.second.at() === null ? "" : part.second.at()],
      ["talk", view.scope === "game" ? "game" : ""], ["channel", view.channel]
    ].filter(function (option) { return option[1] !== ""; });
    return "#" + [game.experiment, game.team, game.scenario_id].map(encodeURIComponent).join("/")
      + "/" + at + options.map(function (option) {
        return ";" + option[0] + "=" + encodeURIComponent(option[1]);
      }).join("");
  }

  function keepAddress() {
    if (!current) { return; }
    var view = current;
    var before = location.hash;
    part.permalink.href = addressOf(view, view.at);
    clearTimeout(addressTimer);
    addressTimer = setTimeout(function () {
      /* Another address by now: somebody followed a link, and its event is on the way. */
      if (current === view && location.hash === before && (!calbench.finder.owns(before) || isAnchor(before))) {
        history.replaceState(null, "", addressOf(view, view.at));
      }
    }, 120);
  }

  // ---------------------------------------------------------------- showing

  function go(at) {
    if (!current) { return; }
    current.at = frames.within(current, at);
    draw();
  }

  function jumpNode(index, text) {
    var link = el("a", { href: addressOf(current, index) }, text);
    link.addEventListener("click", function (click) {
      click.preventDefault();
      go(index);
    });
    return link;
  }

  function draw() {
    var view = current;
    var isAll = view.who === sight.ALL;
    chooseChannels(view);
    calbench.gameView.draw(part.stage, view);
    fill(part.legend, calbench.grid.legendNode(view));
    part.exchange.show(view);
    part.controls.draw(view);
    part.second.draw(view);
    part.overlays.hidden = part.downloadButton.hidden = part.inner.hidden = !isAll;
    part.summary.textContent = isAll && typeof view.game.summary === "string"
      ? words.visible(view.game.summary) : "";
    part.summary.hidden = !part.summary.textContent;
    part.about.textContent = isAll ? aboutText(view) : "";
    part.about.hidden = !isAll;
    part.halted.hidden = !isAll || !part.halted.textContent;
    part.sight.hidden = isAll;
    part.sightNote.textContent = sightText(view);
    drawInner();
    place.setAttribute("data-event", view.at);
    fit();
    keepAddress();
  }

  /* Let both panes fill what is left of the screen below the title and the controls. */
  function fit() {
    var above = part.stages.getBoundingClientRect().top + window.scrollY;
    place.style.setProperty("--cb-above", Math.round(above) + "px");
    [part.stage.talk, part.ledger.querySelector(".cb-lane")].forEach(calbench.gameView.follow);
  }

  function sightText(view) {
    if (view.who === sight.ALL) { return ""; }
    if (view.who === sight.OUTSIDER) {
      return "Point of view: an outsider. An outsider has no seat: it sees how large the game is, which meeting is under "
        + "discussion, and what is said to all agents.";
    }
    return "Point of view: " + words.agent(sight.agentOf(view.who)) + ". What the last question to "
      + "it contained, and what it thought and answered since: its own calendar at shown costs, the "
      + "messages it sent or has read.";
  }

  /* Heat map and ledger, if they are open: they belong to nobody's view but everything. */
  function drawInner() {
    var view = current;
    fill(part.heat);
    fill(part.ledger);
    if (view.who !== sight.ALL || !view.ledger) { return; }
    if (part.heatDetails.open) {
      var chosen = part.observer.value === "" ? calbench.beliefs.lastObserver(view)
        : Number(part.observer.value);
      fill(part.heat, calbench.beliefs.heatNode(view, chosen));
    }
    if (part.ledgerDetails.open) {
      fill(part.ledger, calbench.ledger.ledgerNode(view));
      calbench.gameView.follow(part.ledger.querySelector(".cb-lane"));
    }
  }

  function options(select, pairs, chosen) {
    fill(select);
    pairs.forEach(function (pair) {
      select.appendChild(el("option", { value: pair[0] }, pair[1]));
    });
    select.value = chosen;
  }

  function chooseChannels(view) {
    var channels = [["", "all channels"]].concat(calbench.talk.channelsOf(view));
    var isThere = channels.some(function (channel) { return channel[0] === view.channel; });
    if (!isThere) { channels.push([view.channel, view.channel]); }
    options(part.channel, channels, view.channel);
  }

  // ---------------------------------------------------------------- opening

  function open(experiment, team, scenario, wanted) {
    var asked = typeof wanted === "object" && wanted ? wanted : { at: Number(wanted) || null };
    part.problem.textContent = "";
    function missing(key, why) {
      close();
      part.problem.textContent = noGame(key, why);
    }
    var names = [experiment, team, scenario];
    if (!names.every(function (name) { return NAME.test(name || ""); })) {
      missing("games/" + names.join("/"));
      return;
    }
    asking += 1;
    var number = asking;
    calbench.games.load(experiment, team, scenario, function (game, about) {
      if (number === asking) { opened(game, about, asked); }
    }, function (key, why) {
      if (number === asking) { missing(key, why); }
    });
  }

  /* Leave the game for the list of games. */
  function close() {
    part.viewer.hidden = true;
    asking += 1;
    current = null;
    part.controls.stop();
    part.second.close();
    place.removeAttribute("data-game");
    place.removeAttribute("data-event");
    document.title = ownTitle;
  }

  /* Keys of page data begin with the kind of file. */
  function noGame(key, why) {
    return why || "This site does not have the game " + words.visible(key.slice(key.indexOf("/") + 1)) + ".";
  }

  function opened(game, scenario, asked) {
    var view = frames.viewOf(game, scenario, asked.at || 0);
    part.controls.stop();
    current = view;
    view.go = go;
    view.jump = jumpNode;
    view.who = sight.isKnown(view, asked.view) ? asked.view : sight.ALL;
    view.scope = asked.talk === "game" ? "game" : "round";
    view.channel = /^[a-z' ]+[\d-]*$/.test(asked.channel || "") ? asked.channel : "";
    view.showBest = part.showBest.checked;
    view.showOptimum = part.showOptimum.checked;
    if (asked.at === null || asked.at === undefined) { view.at = sight.firstMoment(view); }
    describe(view);
    if (part.viewer.hidden) { window.scrollTo(0, 0); }
    part.viewer.hidden = false;
    part.back.href = lastSearch;
    document.title = part.title.textContent + " - " + ownTitle;
    place.setAttribute("data-game", [game.experiment, game.team, game.scenario_id].join("/"));
    part.second.close();
    draw();
    if (asked.beside) { openBeside(asked.beside, number(asked.event2)); } else { lookBeside(""); }
    calbench.finder.opened(game.experiment, game.team, game.scenario_id);
    place.dispatchEvent(new CustomEvent("calbench:game", { detail: {
      experiment: game.experiment, team: game.team, scenario: game.scenario_id
    } }));
  }

  function aboutText(view) {
    var game = view.game;
    var difficulty = view.scenario.difficulty || {};
    return [
      difficulty.tertile ? difficulty.tertile + " third" : null,
      typeof difficulty.feasible_fraction === "number"
        ? "feasible fraction " + difficulty.feasible_fraction.toPrecision(3) : null,
      difficulty.estimate
        ? "feasible fraction estimated at " + difficulty.estimate.fraction.toPrecision(3)
          + " (95%: " + difficulty.estimate.low.toPrecision(3) + " to "
          + difficulty.estimate.high.toPrecision(3) + ")" : null,
      "channel: " + game.channels.map(function (name) { return OPEN.get(name) || name; })
        .join(" and "),
      "at most " + game.limits.max_turns_per_round + " sweeps",
      "game " + game.game_id
    ].filter(Boolean).join(" · ");
  }

  function describe(view) {
    var game = view.game;
    part.title.textContent = game.team + " on " + game.scenario_id;
    part.kind.textContent = game.kind;
    var halted = game.events.filter(function (event) { return event.type === "game_halted"; })[0];
    part.halted.textContent = halted ? "⚠ " + words.haltText(halted) : "";
    part.file.textContent = "calbench verify " + calbench.games.fileName(game);
    options(part.who, sight.choices(view), view.who);
    part.scope.value = view.scope;
    options(part.beside, [["", "no other game"]].concat((view.scenario.teams || []).filter(
      function (team) { return team !== game.team; }
    ).map(function (team) { return [team, team]; })), "");
    options(part.observer, [["", "who learnt last"]].concat(view.scenario.calendars.map(
      function (_, id) { return [id, words.agent(id)]; })), "");
  }

  function openBeside(team, at) {
    if ((current.scenario.teams || []).indexOf(team) < 0) { team = ""; }
    lookBeside(team);
    if (!team) {
      part.second.close();
      keepAddress();
      return;
    }
    var view = current;
    part.second.open(view, team, at, function () {
      return current === view && part.beside.value === team;
    }, function (key, why) {
      part.second.close();
      lookBeside("");
      part.problem.textContent = noGame(key, why);
      keepAddress();
    });
  }

  function lookBeside(team) {
    part.beside.value = team;
    part.stages.className = "cb-stages" + (team ? " cb-stages--two" : "");
    part.firstName.textContent = team ? current.game.team + " (" + current.game.kind + ")" : "";
    fit();
  }

  /* Hand the reader the file that `calbench verify` accepts. */
  function download() { calbench.games.save(current.game); }

  // ---------------------------------------------------------------- building the page

  function field(text, node) {
    return el("label", { "class": "cb-field" }, el("span", {}, text), node);
  }

  function check(id, text, isOn) {
    var box = el("input", { type: "checkbox", id: id, checked: isOn });
    box.addEventListener("change", function () {
      if (current) {
        current.showBest = part.showBest.checked;
        current.showOptimum = part.showOptimum.checked;
        draw();
      }
    });
    return [box, el("label", {}, box, text)];
  }

  function build() {
    part.problem = el("p", { "class": "cb-bad", role: "alert" });
    part.legend = el("div", {});
    part.exchange = calbench.prompts.panel(function () { return current; });
    part.stage = calbench.gameView.make("", part.legend, part.exchange.node);
    part.second = calbench.compare.make(keepAddress);
    part.firstName = el("h3", { "class": "cb-first-name" });
    part.stages = el("div", { "class": "cb-stages" },
      el("div", { "class": "cb-first" }, part.firstName, part.stage.node), part.second.node);
    part.menu = calbench.menu.make("cb-more", "More");
    part.controls = calbench.play.make(function () { return current; }, go, part.menu, part.stage.place);
    buildMenu();
    buildInner();
    part.about = el("p", { "class": "cb-quiet" });
    part.viewer = el("div", { "class": "cb-viewer", hidden: true }, headNode(), part.controls.node,
      part.stages, part.inner, part.about);
    part.choose = el("div", { "class": "cb-chooser" });
    fill(place, part.choose, part.problem, part.viewer);
  }

  /* Which game it is, what happened in it, and whose view this is. */
  function headNode() {
    part.back = el("a", { "class": "cb-back", href: lastSearch }, "‹ All games");
    part.title = el("h2", { id: "cb-title" });
    part.kind = el("span", { "class": "cb-quiet" });
    part.summary = el("p", { "class": "cb-summary" });
    part.halted = el("p", { "class": "cb-bad", role: "note", hidden: true });
    part.sightNote = el("span", {});
    part.everything = el("button", { type: "button", "class": "cb-link" }, "Show everything");
    part.sight = el("p", { "class": "cb-sight", hidden: true }, part.sightNote, " ", part.everything);
    return el("div", { "class": "cb-head" },
      el("div", { "class": "cb-name" }, part.back, part.title, part.kind),
      part.summary, part.halted, part.sight);
  }

  function buildMenu() {
    var best = check("cb-best", " mark each meeting's slot in the optimum", false);
    var optimum = check("cb-optimum", " show the optimum's calendars", true);
    part.who = el("select", { id: "cb-view" });
    part.beside = el("select", { id: "cb-beside" });
    part.scope = el("select", { id: "cb-scope" });
    options(part.scope, [["round", "of this round"], ["game", "of all rounds so far"]], "round");
    part.channel = el("select", { id: "cb-channel" });
    part.permalink = el("a", { href: "#", "class": "cb-permalink" }, "Link to this moment");
    part.copied = el("span", { "class": "cb-quiet", role: "status" });
    part.downloadButton = el("button", { type: "button", "class": "md-button cb-small" },
      "Download the trace");
    part.file = el("code", {});
    part.whole = el("span", { "class": "cb-quiet" }, "Check it with ", part.file, ".");
    part.controls.helpButton.classList.add("cb-small");
    part.showBest = best[0];
    part.showOptimum = optimum[0];
    part.overlays = el("p", { "class": "cb-overlays" }, optimum[1], best[1]);
    fill(part.menu.panel,
      el("div", { "class": "cb-menu-fields" }, field("Point of view", part.who),
        field("Second game", part.beside), field("Messages", part.scope), field("Channel", part.channel),
        field("Step by", part.controls.unit), field("Speed", part.controls.speed)),
      part.overlays,
      el("p", { "class": "cb-acts" }, part.permalink, part.copied, part.downloadButton,
        part.whole, part.controls.helpButton),
      part.controls.help);
  }

  function buildInner() {
    part.heat = el("div", {});
    part.ledger = el("div", {});
    part.observer = el("select", { id: "cb-observer" });
    part.heatDetails = el("details", { "class": "cb-details", id: "cb-heat" },
      el("summary", {}, "Beliefs: what one agent learnt about the others"),
      field("Observer", part.observer), part.heat);
    part.ledgerDetails = el("details", { "class": "cb-details", id: "cb-ledger" },
      el("summary", {}, "Ledger: what each message disclosed, and to whom"), part.ledger);
    part.inner = el("div", {}, part.heatDetails, part.ledgerDetails);
    [part.heatDetails, part.ledgerDetails].forEach(function (each) {
      each.addEventListener("toggle", function () { if (current) { drawInner(); } });
    });
    part.observer.addEventListener("change", function () { if (current) { drawInner(); } });
  }

  function listen() {
    part.who.addEventListener("change", function () {
      current.who = part.who.value;
      draw();
    });
    part.scope.addEventListener("change", function () {
      current.scope = part.scope.value;
      draw();
    });
    part.channel.addEventListener("change", function () {
      current.channel = part.channel.value;
      draw();
    });
    part.beside.addEventListener("change", function () { openBeside(part.beside.value, null); });
    part.everything.addEventListener("click", function () {
      part.who.value = current.who = sight.ALL;
      draw();
      part.controls.node.querySelector("button").focus();
    });
    part.permalink.addEventListener("click", copyAddress);
    part.downloadButton.addEventListener("click", download);
    /* Before the finder follows its own link, the address is still that of the search. */
    part.choose.addEventListener("click", function () {
      if (calbench.finder.owns(location.hash)) { lastSearch = location.hash || "#find"; }
    }, true);
    window.addEventListener("hashchange", openAddress);
    window.addEventListener("resize", function () { if (current) { fit(); } });
  }

  function copyAddress() {
    if (!navigator.clipboard) { return; }
    navigator.clipboard.writeText(new URL(part.permalink.href, location.href).href).then(function () {
      part.copied.textContent = "copied";
      setTimeout(function () { part.copied.textContent = ""; }, 2000);
    }, function () { /* The address bar has it too. */ });
  }

  /* Whether the address names a place of this page, as "skip to content" does. */
  function isAnchor(hash) {
    return hash.length > 1 && hash !== "#find" && document.getElementById(decoded(hash.slice(1))) !== null;
  }

  function openAddress() {
    if (calbench.finder.owns(location.hash)) {
      if (current && isAnchor(location.hash)) { keepAddress(); } else { close(); }
      return;
    }
    var asked = parse(location.hash);
    open(asked.names[0], asked.names[1], asked.names[2], asked.options);
  }

  function start(node) {
    place = node;
    build();
    listen();
    calbench.finder.mount(part.choose, open);
    openAddress();
  }

  document.addEventListener("DOMContentLoaded", function () {
    var node = document.getElementById("cb-traces");
    if (node) { start(node); }
  });
}());
