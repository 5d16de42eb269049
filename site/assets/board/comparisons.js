/* Comparisons: every pair of teams on the same scenarios, chosen by setting, measure and team. */
(function () {
  "use strict";

  var element = calbench.element;
  var MINUS = "\u2212";
  var ANY = "";
  var place, data, index, state, parts;

  function at(row, name) {
    return row[index[name]] || "";
  }

  function group() {
    return data.groups[state.group];
  }

  function measure() {
    return data.measures.find(function (each) { return each.name === state.measure; });
  }

  function teams() {
    var found = new Set();
    group().rows.forEach(function (row) { found.add(at(row, "team_a")).add(at(row, "team_b")); });
    return Array.from(found);
  }

  function isOpen(row) {
    return at(row, "verdict") === "not told apart";
  }

  function groupName(each) {
    return each.experiment === each.setting ? each.setting : each.experiment + ", " + each.setting;
  }

  function verdict(row) {
    var word = at(row, "verdict");
    var remark = at(row, "remark");
    var found = at(row, "minimum_detectable_difference");
    if (isOpen(row) && found) { return word + "; " + calbench.rounded(found, 2) + " would have been found"; }
    if (word !== "different") { return remark ? word + ": " + remark : word; }
    var isFirst = (Number(at(row, "difference")) > 0) === (measure().better === "higher");
    return at(row, isFirst ? "team_a" : "team_b") + " is better" + (remark ? ", " + remark : "");
  }

  function shownRows() {
    return group().rows.filter(function (row) {
      var pair = [at(row, "team_a"), at(row, "team_b")];
      return at(row, "measure") === state.measure && (!state.open || isOpen(row)) &&
        [state.team, state.other].every(function (name) {
          return name === ANY || pair.indexOf(name) >= 0;
        });
    });
  }

  function readAddress() {
    var words = new URLSearchParams(location.hash.slice(1));
    var found = data.groups.findIndex(function (each) {
      return each.experiment === words.get("experiment") && each.setting === words.get("setting");
    });
    state = { group: Math.max(found, 0), measure: data.first, team: ANY, other: ANY,
              open: words.get("verdict") === "open" };
    if (data.measures.some(function (each) { return each.name === words.get("measure"); })) {
      state.measure = words.get("measure");
    }
    ["team", "other"].forEach(function (name) {
      if (teams().indexOf(words.get(name)) >= 0) { state[name] = words.get(name); }
    });
  }

  function writeAddress() {
    var words = new URLSearchParams({ experiment: group().experiment, setting: group().setting,
                                      measure: state.measure });
    if (state.team) { words.set("team", state.team); }
    if (state.other) { words.set("other", state.other); }
    if (state.open) { words.set("verdict", "open"); }
    history.replaceState(null, "", "#" + words);
  }

  function number(text, digits) {
    if (text === "") { return element("span", { title: "does not apply" }, "\u2013"); }
    var shown = digits === null ? text : calbench.rounded(text, digits);
    shown = Number(shown) === 0 ? shown.replace("-", "") : shown;
    return element("data", { value: text }, shown.replace("-", MINUS));
  }

  function difference(row) {
    var node = element("td", {}, number(at(row, "difference"), 3));
    if (at(row, "difference_low") !== "") {
      var ends = [at(row, "difference_low"), at(row, "difference_high")];
      var digits = calbench.apart(ends[0], ends[1], 3);
      node.appendChild(element("span", { "class": "cb-range" }, number(ends[0], digits), " to ",
        number(ends[1], digits)));
    } else if (data.no_interval[at(row, "difference_interval")]) {
      node.appendChild(element("span", { "class": "cb-range" },
        data.no_interval[at(row, "difference_interval")]));
    }
    return node;
  }

  /* A team's name, which leads to its page if it has one. */
  function team(name) {
    if (data.players.indexOf(name) < 0) { return name; }
    return element("a", { href: "../players/" + encodeURIComponent(name) + ".html" }, name);
  }

  function tableRow(row) {
    var word = verdict(row);
    return element("tr", {},
      element("th", { scope: "row" }, team(at(row, "team_a")), " " + MINUS + " ", team(at(row, "team_b"))),
      element("td", {}, number(at(row, "scenarios"), null)), difference(row),
      element("td", {}, number(at(row, "p"), 4)), element("td", {}, number(at(row, "p_adjusted"), 4)),
      element("td", {}, number(at(row, "margin"), 2)),
      element("td", {}, number(at(row, "p_equivalent_adjusted"), 4)),
      element("td", { "class": "cb-word" }, word),
      element("td", {}, number(at(row, "minimum_detectable_difference"), 3)),
      element("td", {}, number(at(row, "required_scenarios"), null)));
  }

  function draw() {
    writeAddress();
    drawFields();
    var rows = shownRows();
    var head = element("tr", {});
    [["Teams", "first less second"], ["Scenarios", "that count for both"],
     ["Difference", measure().unit + ", " + group().confidence + " interval"], ["p", "permutation test"],
     ["p corrected", "Benjamini\u2013Hochberg"], ["Margin", "of equality"],
     ["p of equality, corrected", "two one-sided tests"], ["Verdict", "p below " + group().level],
     ["Minimum detectable difference", group().power + " power"], ["Required sample size", "scenarios"]
    ].forEach(function (title) {
      head.appendChild(element("th", { scope: "col" }, title[0],
        element("span", { "class": "cb-unit" }, title[1])));
    });
    var body = element("tbody", {});
    rows.forEach(function (row) { body.appendChild(tableRow(row)); });
    var name = groupName(group()) + ": " + measure().title;
    calbench.fill(parts.scroll, element("table", { "class": "cb-numbers lb-table" },
      element("caption", {}, name + ", " + measure().better + " is better"),
      element("thead", {}, head), body));
    parts.scroll.setAttribute("aria-label", name);
    var counts = data.verdicts.map(function (word) {
      return [rows.filter(function (row) { return at(row, "verdict") === word; }).length, word];
    }).filter(function (count) { return count[0]; });
    parts.status.textContent = rows.length + (rows.length === 1 ? " pair: " : " pairs: ") +
      counts.map(function (count) { return count.join(" "); }).join(", ");
    parts.about.setAttribute("href", measure().link);
    parts.about.textContent = "What " + measure().title + " means";
    place.setAttribute("data-ready", state.measure);
  }

  function fillSelect(select, values, chosen) {
    calbench.fill(select);
    values.forEach(function (pair) {
      select.appendChild(element("option", { value: pair[0], selected: pair[0] === chosen }, pair[1]));
    });
  }

  function drawFields() {
    var names = teams().map(function (name) { return [name, name]; });
    fillSelect(parts.group, data.groups.map(function (each, number) {
      return [String(number), groupName(each)];
    }), String(state.group));
    fillSelect(parts.measure, data.measures.filter(function (each) {
      return group().rows.some(function (row) { return at(row, "measure") === each.name; });
    }).map(function (each) { return [each.name, each.title]; }), state.measure);
    fillSelect(parts.team, [[ANY, "any team"]].concat(names), state.team);
    fillSelect(parts.other, [[ANY, "any other"]].concat(names), state.other);
    parts.open.checked = state.open;
  }

  function select(id, change) {
    var node = element("select", { id: id });
    node.addEventListener("change", function () {
      change(node.value);
      draw();
    });
    return node;
  }

  function field(label, node) {
    return element("label", { "class": "cb-field" }, label, node);
  }

  function build() {
    parts = {
      group: select("lb-group", function (value) {
        state.group = Number(value);
        ["team", "other"].forEach(function (name) {
          if (teams().indexOf(state[name]) < 0) { state[name] = ANY; }
        });
      }),
      measure: select("lb-measure", function (value) { state.measure = value; }),
      team: select("lb-team", function (value) { state.team = value; }),
      other: select("lb-other", function (value) { state.other = value; }),
      open: element("input", { type: "checkbox", id: "lb-open" }),
      about: element("a", { href: "../method.html#measures" }, "Method"),
      status: element("p", { "class": "cb-quiet", role: "status" }),
      scroll: element("div", { "class": "cb-scroll", tabindex: "0", role: "region" })
    };
    parts.open.addEventListener("change", function () {
      state.open = parts.open.checked;
      draw();
    });
    calbench.fill(place, element("div", { "class": "lb-bar" },
      field("Games", parts.group), field("Measure", parts.measure), field("Team", parts.team),
      field("Against", parts.other),
      element("label", { "class": "lb-check" }, parts.open, "not told apart only")),
      element("p", { "class": "cb-quiet" }, parts.about), parts.status, parts.scroll);
  }

  function start() {
    place = document.getElementById("lb-comparisons");
    if (!place) { return; }
    calbench.load("comparisons", function (value) {
      data = value;
      if (!data.groups.length) { return; }
      index = {};
      data.columns.forEach(function (name, number) { index[name] = number; });
      readAddress();
      build();
      draw();
      window.addEventListener("hashchange", function () {
        readAddress();
        draw();
      });
    }, function () { place.setAttribute("data-failed", ""); });  // the plain table stays
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
}());
