/* The theme makes its search worker on every page. This one is made when it first gets a message,
 * which is when somebody opens the search: 40 kB that most visits never need.
 * Browsers refuse workers in pages opened as files: there the script runs in an empty frame.
 */
(function () {
  "use strict";

  function Framed(url) {
    var outer = new EventTarget();
    var frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.appendChild(frame);
    var inner = frame.contentWindow;
    inner.postMessage = function (message) {
      outer.dispatchEvent(new MessageEvent("message", { data: message }));
    };
    var script = inner.document.createElement("script");
    var ready = new Promise(function (done) { script.onload = done; });
    script.src = url;
    inner.document.body.appendChild(script);
    outer.postMessage = function (message) {
      ready.then(function () {
        inner.dispatchEvent(new inner.MessageEvent("message", { data: message }));
      });
    };
    outer.terminate = function () { frame.remove(); };
    return outer;
  }

  var isFile = location.protocol === "file:";
  var Eager = isFile ? Framed : window.Worker;
  /* By its name the search's script knows that its address is not the frame's. */
  if (isFile) { window.IFrameWorker = Framed; }

  function Lazy(url, options) {
    if (!/\/workers\/search\.[^/]*$/.test(String(url))) {
      return new Eager(url, options);
    }
    this.url = url;
    this.worker = null;
    this.listeners = [];
    return this;
  }

  Lazy.prototype.addEventListener = function (type, listener, options) {
    this.listeners.push([type, listener, options]);
    if (this.worker) { this.worker.addEventListener(type, listener, options); }
  };

  Lazy.prototype.removeEventListener = function (type, listener, options) {
    this.listeners = this.listeners.filter(function (each) {
      return each[0] !== type || each[1] !== listener;
    });
    if (this.worker) { this.worker.removeEventListener(type, listener, options); }
  };

  Lazy.prototype.postMessage = function (message) {
    if (!this.worker) {
      var worker = new Eager(this.url);
      this.listeners.forEach(function (each) { worker.addEventListener(each[0], each[1], each[2]); });
      this.worker = worker;
    }
    this.worker.postMessage(message);
  };

  Lazy.prototype.terminate = function () {
    if (this.worker) { this.worker.terminate(); }
  };

  window.Worker = Lazy;
}());
