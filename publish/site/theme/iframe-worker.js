// From disk a browser starts no worker, and the search of the guides is one. A frame stands in for it there.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.ready = new Promise((done) => {
        const load = (source) => new Promise((loaded) => {
          const script = inside.document.createElement("script");
          Object.assign(script, { src: source, onload: loaded });
          inside.document.body.append(script);
        });
        inside.importScripts = (...sources) => sources.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
        inside.postMessage = (data) => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          this.onmessage?.(event);
        };
        load(url).then(done);
      });
      this.inside = inside;
      this.frame = frame;
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
