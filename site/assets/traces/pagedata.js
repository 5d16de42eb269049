/* Unpacks the page data of files: columns become events again.
 *
 * Data files call calbench.packed("key", value); calbench.load then finds what was packed. The form
 * is described in calbench/report/packing.py. A value that is not packed stays as it is.
 */
(function () {
  "use strict";

  var ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  var MOVES = "abcdefg";
  var WHOLE = -1;
  var CODES = new Map();
  ALPHABET.split("").forEach(function (letter, code) { CODES.set(letter, code); });

  /* The values of a column, one for each of so many events. */
  function column(packed, count) {
    var found = new Array(count);
    var index;
    if (Array.isArray(packed)) { return packed; }
    if (packed.rows) {
      return packed.rows.map(function (row) { return row && record(packed.names, row); });
    }
    for (index = 0; index < count; index += 1) {
      found[index] = packed.at === undefined
        ? packed.all : packed.of[CODES.get(packed.at.charAt(index))];
    }
    return found;
  }

  function record(names, row) {
    var made = {};
    names.forEach(function (name, place) { made[name] = row[place]; });
    return made;
  }

  /* Calendars from what each batch changed; slots and items take turns in a list of changes. */
  function calendars(changes, agents) {
    var last = new Map();
    return changes.map(function (change, index) {
      var calendar = change[0] === WHOLE ? change.slice(1) : last.get(agents[index]).slice();
      var place;
      if (change[0] !== WHOLE) {
        for (place = 0; place < change.length; place += 2) {
          calendar[change[place]] = change[place + 1];
        }
      }
      last.set(agents[index], calendar);
      return calendar;
    });
  }

  function movements(delta) {
    var made = {};
    Object.keys(delta).forEach(function (target) {
      made[target] = typeof delta[target] !== "string" ? delta[target]
        : delta[target].split("").map(function (letter) { return MOVES.indexOf(letter) - 3; });
    });
    return made;
  }

  /* The events of one group, in their order. */
  function eventsOf(group, count) {
    var names = Object.keys(group[2]);
    var columns = names.map(function (name) { return column(group[2][name], count); });
    var made = [];
    var calendar = names.indexOf("calendar");
    var moved = names.indexOf("delta_by_target");
    if (calendar >= 0) {
      columns[calendar] = calendars(columns[calendar], columns[names.indexOf("agent_id")]);
    }
    if (moved >= 0) { columns[moved] = columns[moved].map(movements); }
    for (var index = 0; index < count; index += 1) {
      made.push(eventOf(group, names, columns, index));
    }
    return made;
  }

  function eventOf(group, names, columns, index) {
    var event = { type: group[0] };
    if (group[1] !== null) { event.content = { kind: group[1] }; }
    names.forEach(function (name, place) {
      var value = columns[place][index];
      if (value === null || value === false) { return; }
      if (name.slice(0, 8) === "content.") {
        event.content[name.slice(8)] = value;
      } else {
        event[name] = value;
      }
    });
    return event;
  }

  function events(packed) {
    var order = typeof packed.order === "string"
      ? packed.order.split("").map(function (letter) { return CODES.get(letter); }) : packed.order;
    var counts = packed.groups.map(function () { return 0; });
    order.forEach(function (group) { counts[group] += 1; });
    var waiting = packed.groups.map(function (group, place) {
      return eventsOf(group, counts[place]);
    });
    var next = packed.groups.map(function () { return 0; });
    return order.map(function (group) {
      next[group] += 1;
      return waiting[group][next[group] - 1];
    });
  }

  /* Prompts as lines and runs of lines: here every prompt is one line. */
  function prompts(packed) {
    var made = { lines: [], prompts: {} };
    Object.keys(packed.prompts).forEach(function (event) {
      var runs = packed.prompts[event];
      var text = "";
      for (var place = 0; place < runs.length; place += 2) {
        text += packed.lines.slice(runs[place], runs[place] + runs[place + 1]).join("");
      }
      made.prompts[event] = [made.lines.length, 1];
      made.lines.push(text);
    });
    return made;
  }

  /* The content of a file of a game or its prompts, as scripts of the page use it. */
  function decode(value) {
    if (value.events && value.events.groups) {
      return Object.assign({}, value, { events: events(value.events) });
    }
    return value;
  }

  /* Called by data files. */
  function packed(key, value) {
    calbench.data(key, value.lines ? prompts(value) : decode(value));
  }

  calbench.packed = packed;
  calbench.decode = decode;
  calbench.column = column;
  calbench.ALPHABET = ALPHABET;
}());
