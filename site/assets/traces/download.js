/* Hands the reader the trace of a game as the very file that `calbench verify` reads.
 *
 * calbench.download.trace(game, scenario, prompts, done): reads pagedata/traces/..., unpacks it and
 * saves it; done("") says that it was saved, done(text) why not. The file is the trace byte for byte,
 * so scenario and prompts are not needed. calbench.download.nameOf(game) is the name of the file.
 */
(function () {
  "use strict";

  var FORMAT = "gzip";

  function nameOf(game) { return game.team + "-" + game.scenario_id + ".json"; }

  function bytesOf(text) {
    return Uint8Array.from(atob(text), function (letter) { return letter.charCodeAt(0); });
  }

  /* The file as a blob; a packed file that was cut or changed is refused. */
  function unpacked(text) {
    var stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream(FORMAT));
    return new Response(stream).arrayBuffer().then(function (bytes) {
      return new Blob([bytes], { type: "application/json" });
    });
  }

  function save(blob, name) {
    var address = URL.createObjectURL(blob);
    var link = calbench.element("a", { href: address, download: name });
    link.click();
    setTimeout(function () { URL.revokeObjectURL(address); }, 1000);
  }

  function trace(game, scenario, prompts, done) {
    var tell = done || function () {};
    if (!window.DecompressionStream) {
      tell("This browser cannot unpack the trace; a newer one can.");
      return;
    }
    calbench.load("traces/" + [game.experiment, game.team, game.scenario_id].join("/"),
      function (text) {
        Promise.resolve(text).then(unpacked).then(function (blob) {
          save(blob, nameOf(game));
          tell("");
        }).catch(function () { tell("The trace could not be unpacked."); });
      }, function () { tell("The trace could not be read."); });
  }

  calbench.download = { trace: trace, nameOf: nameOf };
}());
