// Browsers refuse workers to pages that are opened from the file system. There the search runs in a hidden frame instead,
// which takes and sends messages as a worker does.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = [
        `<script>self.postMessage = answer => parent.postMessage({ fromSearch: answer }, "*")</script>`,
        `<script src="${address}"></script>`,
      ].join("");
      this.frame.onload = () => {
        this.ready = true;
        this.waiting.splice(0).forEach(message => this.postMessage(message));
      };
      window.addEventListener("message", event => {
        const isOurs = event.source === this.frame.contentWindow && event.data.fromSearch !== undefined;
        if (isOurs && this.onmessage) this.onmessage(new MessageEvent("message", { data: event.data.fromSearch }));
      });
      document.documentElement.append(this.frame);
    }
    postMessage(message) {
      if (!this.ready) return this.waiting.push(message);
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: message }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
