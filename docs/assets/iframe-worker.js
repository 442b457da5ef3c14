// The search runs in a worker, and browsers start no worker for a page that was opened from a folder.
// There, and only there, this one runs the same script in a hidden frame. It loads nothing from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const element = this.inner.document.createElement("script");
      element.src = script;
      element.onload = () => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      this.inner.document.body.append(element);
    }
    postMessage(data) {
      if (this.ready) this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
