/* Follows a run: asks the server of this page how far it is, and adds the games that ended. */
(function () {
  "use strict";

  var EVERY_MS = 1000;  /* as often as a run writes its status */
  var known = 0;

  function find(id) { return document.getElementById(id); }

  function element(name, text) {
    var made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function shown(value, digits, unit) {
    return value === null || value === undefined ? "–" : value.toFixed(digits) + (unit || "");
  }

  function left(seconds) {
    var isLong = typeof seconds === "number" && seconds >= 90;
    return isLong ? shown(seconds / 60, 0, " min") : shown(seconds, 0, " s");
  }

  function list(status) {
    var share = status.unreadable_share;
    var values = [
      ["Games", status.games_finished + " of " + status.games],
      ["Calls", status.calls + " of about " + shown(status.calls_expected, 0)],
      ["Calls a second", shown(status.calls_per_second, 1)],
      ["Time left", left(status.seconds_left)],
      ["Unreadable replies", shown(share === null ? null : 100 * share, 0, "%")],
      ["Retries", shown(status.retries, 0)],
      ["Calls that failed", shown(status.calls_failed, 0)],
      ["Spent", status.spent || "–"],
    ];
    find("status").replaceChildren.apply(find("status"), values.map(function (pair) {
      var group = document.createElement("div");
      group.append(element("dt", pair[0]), element("dd", pair[1]));
      return group;
    }));
    find("done").max = status.games;
    find("done").value = status.games_finished;
  }

  function add(game) {
    var row = document.createElement("tr");
    row.append(
      element("td", game.team),
      element("td", game.scenario + (game.replicate ? ", game " + (game.replicate + 1) : "")),
      element("td", game.scheduled + " of " + game.meetings),
      element("td", game.messages),
      element("td", game.is_excluded ? "cut short: excluded" : "whole")
    );
    find("games").prepend(row);
  }

  function show(news) {
    document.title = find("run").textContent = news.run;
    find("state").textContent = news.state;
    if (news.status) { list(news.status); }
    news.games.forEach(add);
    known += news.games.length;
    if (news.pages) {
      var link = element("a", "Tables, and every step of " + news.pages + " games");
      link.href = "../";
      find("pages").replaceChildren(link);
    }
    return !news.is_playing && news.pages >= known;
  }

  function ask() {
    fetch("news?after=" + known)
      .then(function (answer) { return answer.json(); })
      .then(show)
      .catch(function () {
        find("state").textContent = "calbench view has ended: start it again to go on";
      })
      .then(function (isOver) { if (!isOver) { setTimeout(ask, EVERY_MS); } });
  }

  ask();
}());
