/* Unpacks the page data of the trace browser: columns of its index, and games.
 *
 * The file games/<experiment>/<scenario>.js holds the games on a scenario as gzip in base64: lines of
 * the scenario and, for each team, of what is told of its game and of its trace without the scenario.
 * Put together it is byte for byte the file that `calbench verify` reads. Numbers too large for this
 * language are only in the file.
 */
(function () {
  "use strict";

  var ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  var LINE_END = 10;
  var CODES = new Map();
  var opened = new Map();
  ALPHABET.split("").forEach(function (letter, code) { CODES.set(letter, code); });

  /* The values of a column, one for each of so many things. */
  function column(packed, count) {
    var found = new Array(count);
    var index;
    if (Array.isArray(packed)) { return packed; }
    for (index = 0; index < count; index += 1) {
      found[index] = packed.at === undefined
        ? packed.all : packed.of[CODES.get(packed.at.charAt(index))];
    }
    return found;
  }

  /* A value without the fields that are absent. */
  function present(value) {
    var made = {};
    Object.keys(value).forEach(function (name) {
      if (value[name] !== null && value[name] !== false) { made[name] = value[name]; }
    });
    return made;
  }

  function eventOf(event) {
    var made = present(event);
    if (made.content) { made.content = present(made.content); }
    return made;
  }

  function isAsked(event) { return event.prompt !== undefined || event.system_prompt !== undefined; }

  function linesOf(buffer) {
    var bytes = new Uint8Array(buffer);
    var lines = [];
    var start = 0;
    var end = bytes.indexOf(LINE_END);
    while (end >= 0) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
      end = bytes.indexOf(LINE_END, start);
    }
    return lines.concat([bytes.subarray(start)]);
  }

  function textOf(bytes) { return new TextDecoder().decode(bytes); }

  /* The pieces of a game's file: its trace around the scenario, which is at a place if not its own. */
  function piecesOf(trace, scenario, place) {
    return place === null
      ? [trace] : [trace.subarray(0, place), scenario, trace.subarray(place)];
  }

  /* A game and its scenario, as scripts of the page use them. */
  function read(lines, number, teams) {
    var about = JSON.parse(textOf(lines[2 * number + 1]));
    var file = piecesOf(lines[2 * number + 2], lines[0], about[0]);
    var trace = JSON.parse(file.map(textOf).join(""));
    var events = trace.events.map(eventOf);
    return {
      scenario: Object.assign({}, trace.scenario, { teams: teams }),
      game: Object.assign({}, about[1], {
        team: trace.config.team.team_id, scenario_id: trace.scenario.scenario_id,
        game_id: trace.game_id, channels: trace.config.channels, limits: trace.config.limits,
        has_prompts: events.some(isAsked), events: events,
        file: new Blob(file.concat(["\n"]), { type: "application/json" })
      })
    };
  }

  /* A promise of a game and its scenario, among the games on it. */
  function opening(held, number) {
    return Promise.resolve(held.games).then(calbench.unpacked).then(function (buffer) {
      return read(linesOf(buffer), number, held.teams);
    });
  }

  /* Find a game and its scenario; failed(key, why) says so if it is not there or broken. */
  function load(experiment, team, scenario, found, failed) {
    var name = "games/" + [experiment, team, scenario].join("/");
    calbench.load("games/" + [experiment, scenario].join("/"), function (held) {
      var number = held.teams.indexOf(team);
      if (number < 0) {
        failed(name);
        return;
      }
      if (!window.DecompressionStream) {
        failed(name, "This browser cannot unpack the game; a newer one can.");
        return;
      }
      if (!opened.has(name)) { opened.set(name, opening(held, number)); }
      opened.get(name).then(function (made) { found(made.game, made.scenario); }, function () {
        failed(name, "The game could not be unpacked.");
      });
    }, function () { failed(name); });
  }

  function fileName(game) { return game.team + "-" + game.scenario_id + ".json"; }

  /* Hand the reader the file of a game. */
  function save(game) { calbench.save(game.file, fileName(game)); }

  calbench.column = column;
  calbench.ALPHABET = ALPHABET;
  calbench.games = { load: load, fileName: fileName, save: save };
}());
