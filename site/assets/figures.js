/* Draws every <div class="cb-figure" data-figure="key"> with Plotly, in the page's colours. */
(function () {
  "use strict";

  function colours() {
    var style = getComputedStyle(document.body);
    return {
      text: style.getPropertyValue("--md-default-fg-color").trim() || style.color,
      line: style.getPropertyValue("--md-default-fg-color--lighter").trim() || "#888",
      grid: style.getPropertyValue("--md-default-fg-color--lightest").trim() || "#ddd",
      page: style.getPropertyValue("--md-default-bg-color").trim() || "transparent"
    };
  }

  function layout(figure) {
    var colour = colours();
    var result = JSON.parse(JSON.stringify(figure.layout));
    result.paper_bgcolor = "rgba(0,0,0,0)";
    result.plot_bgcolor = "rgba(0,0,0,0)";
    result.font = Object.assign({}, result.font, { color: colour.text });
    result.hoverlabel = { bgcolor: colour.page, bordercolor: colour.line,
                          font: { color: colour.text } };
    Object.keys(result).forEach(function (name) {
      if (/^[xy]axis/.test(name)) {
        Object.assign(result[name], { gridcolor: colour.grid, linecolor: colour.line,
                                      zerolinecolor: colour.line, tickcolor: colour.line });
      }
    });
    return result;
  }

  function draw(place, figure) {
    window.Plotly.react(place, figure.data, layout(figure), {
      displaylogo: false, responsive: true, showTips: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d"]
    }).then(function () { place.setAttribute("data-drawn", ""); });
  }

  function start() {
    Array.prototype.forEach.call(document.querySelectorAll(".cb-figure"), function (place) {
      var key = place.getAttribute("data-figure");
      calbench.load(key, function (figure) {
        draw(place, figure);
        new MutationObserver(function () { draw(place, figure); }).observe(
          document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
      }, function () {
        place.textContent = "The figure's data could not be read; the table holds its numbers.";
      });
    });
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
}());
