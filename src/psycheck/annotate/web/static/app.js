"use strict";
// Keys, marking of evidence, and the clock of an item. All else is plain HTML, and htmx fetches the next item.
(() => {
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const say = (words) => { const live = find("#live"); if (live) live.textContent = words; };
  const alarm = (words) => { const box = find("#alarm"); box.textContent = words; box.hidden = !words; };

  // Shortcuts of one character can be switched off (WCAG 2.1.4); the browser remembers the choice.
  const shortcuts = () => localStorage.getItem("shortcuts") !== "off";
  const showShortcuts = () => {
    document.body.classList.toggle("off", !shortcuts());
    all("[data-shortcuts]").forEach((button) => button.setAttribute("aria-pressed", String(shortcuts())));
  };

  let shownAt = performance.now();
  let hiddenAt = null;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = performance.now();
    else if (hiddenAt !== null) { shownAt += performance.now() - hiddenAt; hiddenAt = null; }
  });

  // The last choices on this page, newest last: undo takes back one of them before it takes back an answer.
  let changes = [];
  const state = (form) => all("input", form).map((input) => [input, input.checked, input.value]);
  const remember = (form) => changes.push(state(form));
  const undo = () => {
    const earlier = changes.pop();
    if (!earlier) { find("[data-undo]")?.click(); return; }
    earlier.forEach(([input, checked, value]) => { input.checked = checked; input.value = value; });
    drawSpans();
    say("Undone");
  };

  // Evidence: words carry their offsets in characters, so that both sides count alike.
  const words = () => all(".words [data-start]");
  const spans = () => JSON.parse(find("#spans")?.value || "[]");
  const purpose = () => find("input[name=evidence]:checked");
  let cursor = 0;
  let anchor = null;
  let choosing = false;

  const drawSpans = () => {
    const list = find("#span-list");
    if (!list) return;
    const marked = spans();
    words().forEach((word) => {
      const [start, end] = [Number(word.dataset.start), Number(word.dataset.end)];
      word.classList.toggle("marked", marked.some((span) => span.start < end && start < span.end));
    });
    list.replaceChildren(...marked.map((span, place) => {
      const row = document.createElement("li");
      const inside = words().filter((w) => span.start < Number(w.dataset.end) && Number(w.dataset.start) < span.end);
      const quoted = document.createElement("span");
      const title = find(`input[name=evidence][value="${CSS.escape(span.label)}"]`)?.dataset.title || span.label;
      quoted.textContent = `${title}: “${inside.map((w) => w.textContent).join(" ")}”`;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = "Remove";
      button.addEventListener("click", () => {
        remember(list.closest("form"));
        find("#spans").value = JSON.stringify(marked.filter((_, other) => other !== place));
        drawSpans();
        say("Evidence removed");
      });
      row.append(quoted, button);
      return row;
    }));
  };

  const drawCursor = (speak = true) => {
    const shown = words();
    const [low, high] = anchor === null ? [cursor, cursor] : [Math.min(anchor, cursor), Math.max(anchor, cursor)];
    shown.forEach((word, place) => {
      word.classList.toggle("at", place === cursor);
      word.classList.toggle("chosen", anchor !== null && place >= low && place <= high);
    });
    if (speak && shown[cursor]) say(shown.slice(low, high + 1).map((w) => w.textContent).join(" "));
  };

  const mark = (first, last) => {
    const shown = words();
    const label = purpose();
    if (!shown[first] || !label) return;
    remember(label.form);
    const span = { label: label.value, start: Number(shown[first].dataset.start), end: Number(shown[last].dataset.end) };
    const others = spans().filter((one) => one.label !== span.label || one.start >= span.end || span.start >= one.end);
    find("#spans").value = JSON.stringify([...others, span].sort((a, b) => a.start - b.start));
    anchor = null;
    drawSpans();
    say(`Marked as evidence for ${label.dataset.title}`);
  };

  const markSelection = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return false;
    const range = selection.getRangeAt(0);
    const places = words().map((word, place) => (range.intersectsNode(word) ? place : -1)).filter((place) => place >= 0);
    if (!places.length) return false;
    selection.removeAllRanges();
    mark(places[0], places[places.length - 1]);
    return true;
  };

  // The word above or below: in the next line, and nearest to the same column.
  const across = (step) => {
    const places = words().map((word, place) => ({ place, box: word.getBoundingClientRect() }));
    const here = places[cursor].box;
    const beyond = places.filter(({ box }) => (step > 0 ? box.top > here.top + 2 : box.top < here.top - 2));
    if (!beyond.length) return cursor;
    const top = Math[step > 0 ? "min" : "max"](...beyond.map(({ box }) => box.top));
    const line = beyond.filter(({ box }) => Math.abs(box.top - top) < 4);
    return line.sort((a, b) => Math.abs(a.box.left - here.left) - Math.abs(b.box.left - here.left))[0].place;
  };

  // Left and right, or the key t, begin to choose words; before that, up and down scroll the page.
  const inText = (event) => {
    const last = words().length - 1;
    const steps = {
      ArrowRight: () => cursor + 1, ArrowLeft: () => cursor - 1, Home: () => 0, End: () => last,
      ArrowDown: () => across(1), ArrowUp: () => across(-1),
    };
    if (event.key in steps) {
      if (!choosing && !["ArrowRight", "ArrowLeft"].includes(event.key)) return false;
      choosing = true;
      if (event.shiftKey && anchor === null) anchor = cursor;
      if (!event.shiftKey) anchor = null;
      cursor = Math.max(0, Math.min(last, steps[event.key]()));
      drawCursor();
    } else if (event.key === "m") {
      if (!markSelection()) mark(Math.min(anchor ?? cursor, cursor), Math.max(anchor ?? cursor, cursor));
      drawCursor(false);
    } else if (event.key === "Escape") {
      choosing = false;
      anchor = null;
      words().forEach((word) => word.classList.remove("at", "chosen"));
    } else return false;
    return true;
  };

  const press = (key, shift) => {
    const target = all(shift ? "[data-shift]" : "[data-key]")
      .find((one) => (shift ? one.dataset.shift : one.dataset.key) === key && one.offsetParent !== null);
    if (!target) return false;
    if (target.matches("input, button, a")) target.click();
    else { target.focus(); choosing = true; drawCursor(); }
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const at = event.target;
    const typing = at.matches("textarea, select, input:not([type=checkbox]):not([type=radio])");
    if (typing || !find("#work")) return;
    if (at.matches(".words") && inText(event)) { event.preventDefault(); return; }
    if (event.key === "Enter") {
      if (at.matches("button, a, summary")) return;
      find("[data-next]")?.click();
    } else if (!shortcuts()) return;
    else if (event.key === "u") undo();
    else if (event.key === "e" && purpose()) {
      const choices = all("input[name=evidence]");
      const next = choices[(choices.indexOf(purpose()) + 1) % choices.length];
      next.checked = true;
      say(`Evidence for ${next.dataset.title}`);
    }
    // A shifted digit is another character on each keyboard, so its place is read.
    else if (event.shiftKey && !press(event.code.replace(/^(Digit|Key)/, "").toLowerCase(), true)) return;
    else if (!event.shiftKey && !press(event.key.toLowerCase(), false)) return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.about) {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      document.getElementById(button.dataset.about).hidden = !open;
      if (event.detail) button.blur(); // opened by mouse: Enter goes on to the next item
    }
    if (button && "shortcuts" in button.dataset) {
      localStorage.setItem("shortcuts", shortcuts() ? "off" : "on");
      showShortcuts();
    }
    if (button && "mark" in button.dataset && !markSelection()) say("Select words in the text first");
    const word = event.target.closest(".words [data-start]");
    if (word) { cursor = words().indexOf(word); drawCursor(false); }
  });
  document.addEventListener("mouseup", (event) => {
    if (event.target.closest?.(".words")) markSelection();
  });
  // The state before a change is kept; a radio that goes off fires no event of its own.
  let before = null;
  const keep = () => { const form = find("#answer"); before = form && state(form); };
  document.addEventListener("pointerdown", keep, true);
  document.addEventListener("keydown", keep, true);
  document.addEventListener("change", (event) => {
    if (!event.target.closest?.("#answer")) return;
    if (before) changes.push(before);
    keep();
    if (event.target.dataset.answer === "yes") {
      const evidence = find(`input[name=evidence][value="${CSS.escape(event.target.dataset.label)}"]`);
      if (evidence) evidence.checked = true;
    }
  });
  const clock = () => { const field = find("#seconds"); if (field) field.value = ((performance.now() - shownAt) / 1000).toFixed(1); };
  document.addEventListener("submit", clock, true);

  const begin = (swapped) => {
    shownAt = performance.now();
    changes = []; cursor = 0; anchor = null; choosing = false;
    alarm("");
    drawSpans();
    showShortcuts();
    if (!swapped) return;
    say(find("#work")?.dataset.say || "");
    (find("#work [data-focus]") || find("h1"))?.focus();
    scrollTo(0, 0);
  };
  document.addEventListener("htmx:afterSettle", (event) => { if (event.target.id === "work" || find("#work", event.target)) begin(true); });
  document.addEventListener("htmx:sendError", () => alarm("The server cannot be reached. Your answer is not saved yet: try again."));
  document.addEventListener("htmx:responseError", () => alarm("Your answer was not saved. Load this page again."));
  begin(false);
})();
