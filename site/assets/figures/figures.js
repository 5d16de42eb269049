/* Draws every <div class="cb-figure" data-figure="key"> with Plotly, in the page's colours, once it
 * comes near the screen. On pages with several views of each figure, a switch shows one of them.
 */
(function () {
  "use strict";

  var NEAR = "400px 0px";
  var VIEW = /^#in-([\w.-]+)$/;
  var drawn = new Map();
  var template = null;

  function all(selector, root) {
    return Array.prototype.slice.call((root || document).querySelectorAll(selector));
  }

  /* Colours */

  function colours() {
    var style = getComputedStyle(document.body);
    return {
      text: style.getPropertyValue("--md-default-fg-color").trim() || style.color,
      line: style.getPropertyValue("--md-default-fg-color--lighter").trim() || "#888",
      grid: style.getPropertyValue("--md-default-fg-color--lightest").trim() || "#ddd",
      page: style.getPropertyValue("--md-default-bg-color").trim() || "transparent"
    };
  }

  /* Where nothing hovers, Plotly's buttons appear with a touch and stay: the title, which is that of
   * the vertical axis, then leaves them a row of pixels. */
  function buttons() { return window.matchMedia("(hover: none)").matches ? 30 : 0; }

  /* What all figures share (calbench/report/figures/style.py), in the page's colours. */
  function themed() {
    var colour = colours();
    var axis = { gridcolor: colour.grid, linecolor: colour.line,
                 zerolinecolor: colour.line, tickcolor: colour.line };
    var shared = Object.assign({}, template.layout, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: Object.assign({}, template.layout.font, { color: colour.text }),
      title: Object.assign({}, template.layout.title, {
        pad: Object.assign({}, template.layout.title.pad, { t: template.layout.title.pad.t + buttons() })
      }),
      hoverlabel: { bgcolor: colour.page, bordercolor: colour.line,
                    font: Object.assign({}, template.layout.font, { color: colour.text }) },
      xaxis: Object.assign({}, template.layout.xaxis, axis),
      yaxis: Object.assign({}, template.layout.yaxis, axis)
    });
    return Object.assign({}, template, { layout: shared });
  }

  /* Plotly writes into the layout that it is given. */
  function layout(figure) {
    var made = JSON.parse(JSON.stringify(figure.layout));
    made.margin.t += buttons();
    return Object.assign(made, { template: themed() });
  }

  /* Drawing */

  function draw(place, figure) {
    drawn.set(place, figure);
    window.Plotly.react(place, figure.data, layout(figure), {
      displaylogo: false, responsive: true, showTips: false,
      // The last would send the figure's data to Plotly's host.
      modeBarButtonsToRemove: ["select2d", "lasso2d", "sendChartToCloud"]
    }).then(function () { return makeRoom(place, figure); })
      .then(function () { place.setAttribute("data-drawn", ""); });
  }

  /* The legend is below the axis; its height depends on the screen. */
  function makeRoom(place, figure) {
    var legend = place.querySelector(".legend .bg");
    if (!legend) {
      return null;
    }
    var bottom = figure.layout.margin.b + Math.ceil(legend.getBBox().height) + 6;
    return window.Plotly.relayout(place, { "margin.b": bottom });
  }

  function redraw() {
    drawn.forEach(function (figure, place) {
      if (place.offsetParent) {
        draw(place, figure);
      } else {
        place.removeAttribute("data-drawn");
      }
    });
  }

  /* Only a new width moves a legend's lines; a phone's address bar changes the height. */
  function onResize() {
    var width = window.innerWidth;
    var timer = null;
    window.addEventListener("resize", function () {
      if (window.innerWidth !== width) {
        width = window.innerWidth;
        clearTimeout(timer);
        timer = setTimeout(redraw, 150);
      }
    });
  }

  function begin(place) {
    function fail() {
      place.textContent = "The figure's data could not be read; its numbers follow below.";
    }
    calbench.load("figures/template", function (found) {
      template = found;
      calbench.load(place.getAttribute("data-figure"), function (figure) {
        draw(place, figure);
      }, fail);
    }, fail);
  }

  function watch() {
    if (!("IntersectionObserver" in window)) {
      all(".cb-figure").forEach(begin);
      return;
    }
    var observer = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (entry.isIntersecting) {
          observer.unobserve(entry.target);
          begin(entry.target);
        }
      });
    }, { rootMargin: NEAR });
    all(".cb-figure").forEach(function (place) { observer.observe(place); });
  }

  /* Views */

  function show(key) {
    all(".cb-view").forEach(function (view) {
      view.classList.toggle("cb-shown", view.getAttribute("data-view") === key);
    });
    var select = document.getElementById("cb-view");
    if (select && select.value !== key) {
      select.value = key;
    }
    drawn.forEach(function (figure, place) {
      if (place.offsetParent && !place.hasAttribute("data-drawn")) {
        draw(place, figure);
      }
    });
  }

  /* The address names a view (#in-varied) or anything within one (#fairness-varied). */
  function follow() {
    var named = VIEW.exec(location.hash);
    var views = all(".cb-view");
    var target = document.getElementById(location.hash.slice(1));
    var inside = views.filter(function (view) {
      return named ? view.getAttribute("data-view") === named[1]
        : target && view.contains(target);
    })[0];
    if (inside) {
      show(inside.getAttribute("data-view"));
      if (!named) {
        target.scrollIntoView();
      }
    }
  }

  function addSwitch() {
    var titles = new Map();
    all(".cb-view").forEach(function (view) {
      titles.set(view.getAttribute("data-view"), view.getAttribute("data-title"));
    });
    var place = document.querySelector(".cb-switch");
    if (!place || !titles.size) {
      return;
    }
    var select = calbench.element("select", { id: "cb-view" });
    titles.forEach(function (title, key) {
      select.appendChild(calbench.element("option", { value: key }, title));
    });
    select.addEventListener("change", function () {
      show(select.value);
      history.replaceState(null, "", "#in-" + select.value);
    });
    calbench.fill(place, calbench.element("label", { "for": "cb-view" }, "Show"), select);
  }

  /* Folding and printing */

  function fold() {
    all("details.cb-data").forEach(function (each) {
      each.open = false;
      each.classList.add("cb-ready");
    });
  }

  function unfold(isOpen) {
    return function () {
      all("details.cb-data").forEach(function (each) { each.open = isOpen; });
    };
  }

  function start() {
    fold();
    addSwitch();
    follow();
    watch();
    window.addEventListener("hashchange", follow);
    window.addEventListener("beforeprint", unfold(true));
    window.addEventListener("afterprint", unfold(false));
    onResize();
    new MutationObserver(redraw).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
}());
