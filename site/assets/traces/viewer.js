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

  // ---------------------------------------------------------------- addresses

  function decoded(text) {
    try { return decodeURIComponent(text); } catch (error) { return ""; }
  }

  /* What an address asks for: names of the game, and options. */
  function parse(hash) {
    var halves = /^#?([^;?]*)[;?]?(.*)$/.exec(hash) || ["", "", ""];
    var names = halves[1].split("/").map(decoded);
    var options = { at: number(names[3]) || 0 };
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
    part.permalink.href = addressOf(view, view.at);
    clearTimeout(addressTimer);
    addressTimer = setTimeout(function () {
      if (current === view && !calbench.finder.owns(location.hash)) {
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
    part.overlays.hidden = part.download.hidden = part.inner.hidden = !isAll;
    part.about.hidden = !isAll;
    part.halted.hidden = !isAll || !part.halted.textContent;
    part.sightNote.textContent = sightText(view);
    drawInner();
    place.setAttribute("data-event", view.at);
    keepAddress();
  }

  function sightText(view) {
    if (view.who === sight.ALL) { return ""; }
    if (view.who === sight.OUTSIDER) {
      return "An outsider has no seat: it sees how large the game is, which meeting is under "
        + "discussion, and what is said to all agents.";
    }
    return "The content of the last question to this agent, and what it thought and answered "
      + "since: its own calendar at shown costs, the messages it sent or has read.";
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

  function open(experiment, team, scenario, wanted, failed) {
    var asked = typeof wanted === "object" && wanted ? wanted : { at: Number(wanted) || 0 };
    part.problem.textContent = "";
    function missing(key) {
      part.viewer.hidden = true;
      current = null;
      part.controls.stop();
      place.removeAttribute("data-game");
      part.problem.textContent = "There is no page data for " + words.visible(key) + ".";
      if (failed) { failed(key); }
    }
    var names = [experiment, team, scenario];
    if (!names.every(function (name) { return NAME.test(name || ""); })) {
      missing(names.join("/"));
      return;
    }
    frames.load(experiment, team, scenario, function (game, about) {
      opened(game, about, asked);
    }, missing);
  }

  function opened(game, scenario, asked) {
    var view = frames.viewOf(game, scenario, asked.at);
    part.controls.stop();
    current = view;
    view.go = go;
    view.jump = jumpNode;
    view.who = sight.isKnown(view, asked.view) ? asked.view : sight.ALL;
    view.scope = asked.talk === "game" ? "game" : "round";
    view.channel = /^[a-z' ]+[\d-]*$/.test(asked.channel || "") ? asked.channel : "";
    view.showBest = part.showBest.checked;
    view.showOptimum = part.showOptimum.checked;
    describe(view);
    part.viewer.hidden = false;
    place.setAttribute("data-game", [game.experiment, game.team, game.scenario_id].join("/"));
    part.second.close();
    draw();
    if (asked.beside) { openBeside(asked.beside, number(asked.event2)); } else { lookBeside(""); }
    calbench.finder.opened(game.experiment, game.team, game.scenario_id);
    place.dispatchEvent(new CustomEvent("calbench:game", { detail: {
      experiment: game.experiment, team: game.team, scenario: game.scenario_id
    } }));
  }

  function describe(view) {
    var game = view.game;
    var difficulty = view.scenario.difficulty || {};
    part.title.textContent = game.team + " on " + game.scenario_id;
    part.about.textContent = [
      game.kind,
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
    var halted = game.events.filter(function (event) { return event.type === "game_halted"; })[0];
    part.halted.textContent = halted ? "⚠ " + words.haltText(halted)
      : game.is_unfinished ? "⚠ Unfinished: the game was not played on after its last event here. "
      + "It is not scored." : "";
    part.whole.hidden = game.is_unfinished === true;
    part.file.textContent = "calbench verify " + calbench.download.nameOf(game);
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
    }, function (key) {
      lookBeside("");
      part.problem.textContent = "There is no page data for " + words.visible(key) + ".";
    });
  }

  function lookBeside(team) {
    part.beside.value = team;
    part.stages.className = "cb-stages" + (team ? " cb-stages--two" : "");
  }

  /* The trace of the game, handed to the reader as the file that `calbench verify` accepts. */
  function download() {
    calbench.download.trace(current.game, current.scenario, null, function (problem) {
      part.problem.textContent = problem;
    });
  }

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
    part.title = el("h2", { id: "cb-title" });
    part.about = el("p", { "class": "cb-quiet" });
    part.halted = el("p", { "class": "cb-bad", role: "note", hidden: true });
    part.who = el("select", { id: "cb-view" });
    part.beside = el("select", { id: "cb-beside" });
    part.scope = el("select", { id: "cb-scope" });
    options(part.scope, [["round", "of this round"], ["game", "of all rounds so far"]], "round");
    part.channel = el("select", { id: "cb-channel" });
    part.observer = el("select", { id: "cb-observer" });
    part.sightNote = el("p", { "class": "cb-quiet" });
    part.permalink = el("a", { href: "#", "class": "cb-permalink" }, "Link to this moment");
    part.downloadButton = el("button", { type: "button", "class": "md-button cb-small" },
      "Download the trace");
    part.file = el("code", {});
    part.whole = el("span", {}, " Check it with ", part.file, ".");
    part.download = el("p", { "class": "cb-quiet" }, part.downloadButton, part.whole);
    var best = check("cb-best", " mark each meeting's slot in the optimum", false);
    var optimum = check("cb-optimum", " show the optimum's calendars", true);
    part.showBest = best[0];
    part.showOptimum = optimum[0];
    part.overlays = el("p", { "class": "cb-overlays" }, best[1], optimum[1]);
    part.legend = el("div", {});
    part.exchange = calbench.prompts.panel(function () { return current; });
    part.stage = calbench.gameView.make("", part.legend, part.exchange.node);
    part.second = calbench.compare.make(keepAddress);
    part.stages = el("div", { "class": "cb-stages" }, part.stage.node, part.second.node);
    part.controls = calbench.play.make(function () { return current; }, go);
    buildInner();
    part.viewer = el("div", { "class": "cb-viewer", hidden: true }, part.title, part.about, part.halted,
      el("div", { "class": "cb-choose" }, field("Seen", part.who), field("Second game", part.beside),
        field("Messages", part.scope), field("Channel", part.channel), part.permalink),
      part.sightNote, part.controls.node, part.controls.help, part.overlays, part.stages,
      part.inner, part.download);
    part.choose = el("div", {});
    fill(place, part.choose, part.problem, part.viewer);
  }

  function buildInner() {
    part.heat = el("div", {});
    part.ledger = el("div", {});
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
    part.downloadButton.addEventListener("click", download);
    window.addEventListener("hashchange", openAddress);
  }

  function openAddress() {
    if (calbench.finder.owns(location.hash)) { return; }
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

  calbench.viewer = { open: open, parse: parse, start: start };

  document.addEventListener("DOMContentLoaded", function () {
    var node = document.getElementById("cb-traces");
    if (node) { start(node); }
  });
}());
