/* CalBench page scripts: page data by key, loaded once and only when asked for.
 *
 * Classic scripts without modules, so that the site works on http and from a folder alike.
 * Data files call calbench.data("key", value); pages call calbench.load("key", found, failed).
 * One global: calbench.
 */
(function () {
  "use strict";

  var values = new Map();
  var waiting = new Map();
  var root = new URL("../..", document.currentScript.src).href;

  function tell(key) {
    var listeners = waiting.get(key) || [];
    waiting.delete(key);
    listeners.forEach(function (listener) {
      if (values.has(key)) {
        listener.found(values.get(key));
      } else {
        listener.failed(key);
      }
    });
  }

  /* Called by data files. */
  function data(key, value) {
    values.set(key, value);
    tell(key);
  }

  /* Names as the tables have them. A key may come from an address that somebody else wrote: with
   * `..` in it, it would run any script of this host, or of the reader's own disk. */
  var KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

  /* Find a value, reading its file `pagedata/<key>.js` the first time. */
  function load(key, found, failed) {
    if (!KEY.test(key)) {
      failed(key);
      return;
    }
    if (values.has(key)) {
      found(values.get(key));
      return;
    }
    var listeners = waiting.get(key);
    if (listeners) {
      listeners.push({ found: found, failed: failed });
      return;
    }
    waiting.set(key, [{ found: found, failed: failed }]);
    var script = document.createElement("script");
    script.src = root + "pagedata/" + key.split("/").map(encodeURIComponent).join("/") + ".js";
    script.addEventListener("load", function () { script.remove(); tell(key); });
    script.addEventListener("error", function () { script.remove(); tell(key); });
    document.head.appendChild(script);
  }

  /* A promise of the bytes of gzip in base64; packed data that was cut or changed is refused. */
  function unpacked(text) {
    var bytes = Uint8Array.from(atob(text), function (letter) { return letter.charCodeAt(0); });
    var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  /* Hand the reader a file. */
  function save(blob, name) {
    var address = URL.createObjectURL(blob);
    element("a", { href: address, download: name }).click();
    setTimeout(function () { URL.revokeObjectURL(address); }, 1000);
  }

  /* Hand out the table that a link names; failed() if this browser or this site cannot. */
  function saveTable(path, failed) {
    var cut = path.indexOf("/");
    var key = cut < 0 ? "tables" : "tables/" + path.slice(0, cut);
    load(key, function (tables) {
      Promise.resolve(tables[path.slice(cut + 1)]).then(unpacked).then(function (buffer) {
        save(new Blob([buffer], { type: "text/csv" }), path.slice(path.lastIndexOf("/") + 1));
      }).catch(failed);
    }, failed);
  }

  /* A link to a table leads to where all tables are if it cannot be handed out. */
  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[data-table]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) { return; }
    event.preventDefault();
    saveTable(link.dataset.table, function () { location.href = link.href; });
  });

  /* Make an element. Text goes in as text nodes and is never read as HTML. */
  function element(name, attributes) {
    var node = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (attribute) {
      var value = attributes[attribute];
      if (value !== null && value !== undefined && value !== false) {
        node.setAttribute(attribute, value === true ? "" : String(value));
      }
    });
    for (var index = 2; index < arguments.length; index += 1) {
      var child = arguments[index];
      if (child instanceof Node) {
        node.appendChild(child);
      } else if (child !== null && child !== undefined) {
        node.appendChild(document.createTextNode(String(child)));
      }
    }
    return node;
  }

  /* Replace what a node holds. */
  function fill(node) {
    while (node.firstChild) {
      node.removeChild(node.firstChild);
    }
    for (var index = 1; index < arguments.length; index += 1) {
      node.appendChild(arguments[index]);
    }
  }

  /* Round a decimal as the pages' own tables do: half to even, of the digits as they are written, not
   * of the binary number next to them. */
  function rounded(text, digits) {
    var end = text.indexOf(".") + 1 + digits;
    var isHalf = digits > 0 && end > digits && /^50*$/.test(text.slice(end));
    var number = Number(isHalf ? text.slice(0, end) : text);
    if (isHalf && Number(text[end - 1]) % 2) {
      number += (text[0] === "-" ? -1 : 1) * Math.pow(10, -digits);
    }
    return number.toFixed(digits);
  }

  /* The decimals with which two numbers print differently, at least `digits`. */
  function apart(low, high, digits) {
    if (digits === null || Number(low) === Number(high)) { return digits; }
    while (rounded(low, digits) === rounded(high, digits)) { digits += 1; }
    return digits;
  }

  window.calbench = { data: data, load: load, unpacked: unpacked, save: save, element: element,
                      fill: fill, rounded: rounded, apart: apart };
}());
