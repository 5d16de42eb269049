/* Unpacks the page data of the trace browser: columns of its index, and games.
 *
 * The file games/<experiment>/<scenario>.js holds the games on a scenario: for each team gzip in
 * base64 of a line of JSON, what is told of the game, and of its trace, byte for byte the file that
 * `calbench verify` reads. Numbers too large for this language are only in the file.
 */
(function () {
  "use strict";

  var ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  var FORMAT = "gzip";
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

  function bytesOf(text) {
    return Uint8Array.from(atob(text), function (letter) { return letter.charCodeAt(0); });
  }

  /* A promise of the bytes; a packed file that was cut or changed is refused. */
  function unpacked(text) {
    var stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream(FORMAT));
    return new Response(stream).arrayBuffer();
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

  /* A game and its scenario, as scripts of the page use them. */
  function read(buffer, teams) {
    var bytes = new Uint8Array(buffer);
    var cut = bytes.indexOf(LINE_END);
    var file = bytes.subarray(cut + 1);
    var text = new TextDecoder();
    var about = JSON.parse(text.decode(bytes.subarray(0, cut)));
    var trace = JSON.parse(text.decode(file));
    var events = trace.events.map(eventOf);
    return {
      scenario: Object.assign({}, trace.scenario, { teams: teams }),
      game: Object.assign({}, about, {
        team: trace.config.team.team_id, scenario_id: trace.scenario.scenario_id,
        game_id: trace.game_id, channels: trace.config.channels, limits: trace.config.limits,
        has_prompts: events.some(isAsked), events: events,
        file: new Blob([file], { type: "application/json" })
      })
    };
  }

  /* A promise of a game and its scenario, among the games on it. */
  function opening(packed, games) {
    var teams = games.map(function (pair) { return pair[0]; });
    return Promise.resolve(packed).then(unpacked).then(function (buffer) {
      return read(buffer, teams);
    });
  }

  /* Find a game and its scenario; failed(key, why) says so if it is not there or broken. */
  function load(experiment, team, scenario, found, failed) {
    var name = "games/" + [experiment, team, scenario].join("/");
    calbench.load("games/" + [experiment, scenario].join("/"), function (games) {
      var packed = games.filter(function (pair) { return pair[0] === team; })[0];
      if (!packed) {
        failed(name);
        return;
      }
      if (!window.DecompressionStream) {
        failed(name, "This browser cannot unpack the game; a newer one can.");
        return;
      }
      if (!opened.has(name)) { opened.set(name, opening(packed[1], games)); }
      opened.get(name).then(function (made) { found(made.game, made.scenario); }, function () {
        failed(name, "The game could not be unpacked.");
      });
    }, function () { failed(name); });
  }

  function fileName(game) { return game.team + "-" + game.scenario_id + ".json"; }

  /* Hand the reader the file of a game. */
  function save(game) {
    var address = URL.createObjectURL(game.file);
    var link = calbench.element("a", { href: address, download: fileName(game) });
    link.click();
    setTimeout(function () { URL.revokeObjectURL(address); }, 1000);
  }

  calbench.column = column;
  calbench.ALPHABET = ALPHABET;
  calbench.games = { load: load, fileName: fileName, save: save };
}());
