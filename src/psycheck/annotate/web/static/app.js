"use strict";
// Keys, marking of evidence, drafts, and the clock of a text. All else is plain HTML, and htmx fetches the next text.
(() => {
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const say = (words) => { const live = find("#live"); if (live) live.textContent = words; };
  const alarm = (words) => { const box = find("#alarm"); box.textContent = words; box.hidden = !words; };

  // The words of this page's language; {name} is filled in.
  const dictionary = JSON.parse(document.body.dataset.words || "{}");
  const words = (key, values = {}) =>
    (dictionary[key] || key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

  // A browser may refuse storage (private windows): the page works without it.
  const storage = {
    get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
    set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } },
    remove: (key) => { try { localStorage.removeItem(key); } catch { /* not kept */ } },
    keys: () => { try { return Object.keys(localStorage); } catch { return []; } },
  };

  // Shortcuts of one character can be switched off (WCAG 2.1.4); the browser remembers the choice.
  const shortcuts = () => storage.get("shortcuts") !== "off";
  const showShortcuts = () => {
    document.body.classList.toggle("off", !shortcuts());
    all("[data-shortcuts]").forEach((button) => button.setAttribute("aria-pressed", String(shortcuts())));
  };

  // Times come in UTC; readers see their own.
  const showTimes = () => all("time[data-seconds]").forEach((time) => {
    const moment = new Date(1000 * Number(time.dataset.seconds));
    const clock = { hour: "2-digit", minute: "2-digit" };
    time.textContent = "date" in time.dataset
      ? moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" })
      : moment.toLocaleTimeString(document.documentElement.lang, clock);
  });

  let shownAt = performance.now();
  let hiddenAt = null;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = performance.now();
    else if (hiddenAt !== null) { shownAt += performance.now() - hiddenAt; hiddenAt = null; }
  });

  // The last choices on this page, newest last: undo takes back one of them before it takes back an answer.
  let changes = [];
  const fields = (form) => all("input, textarea", form).filter((input) => !["csrf", "token", "assignment", "seconds", "queue"].includes(input.name));
  const state = (form) => fields(form).map((input) => [input, input.checked, input.value]);
  const remember = (form) => changes.push(state(form));
  const undo = () => {
    const earlier = changes.pop();
    if (!earlier) { find("[data-undo]")?.click(); return; }
    earlier.forEach(([input, checked, value]) => { input.checked = checked; input.value = value; });
    alarm("");
    drawSpans();
    keepDraft();
    say(words("undone"));
  };

  // Drafts: what was chosen and not saved stays in this browser until it is saved. They hold no text of a post.
  const draftKey = () => { const place = find("#work[data-assignment]"); return place && `draft ${location.pathname} ${place.dataset.assignment}`; };
  const keepDraft = () => {
    const form = find("#answer");
    if (!form || !draftKey()) return;
    const chosen = fields(form).map((input) => [input.name, input.value, input.checked]);
    storage.set(draftKey(), JSON.stringify({ chosen, kept: Date.now() }));
  };
  const forgetDrafts = () => storage.keys().filter((key) => key.startsWith("draft ")).forEach(storage.remove);
  const restoreDraft = () => {
    const form = find("#answer");
    const kept = draftKey() && storage.get(draftKey());
    if (!form || !kept) return;
    try {
      JSON.parse(kept).chosen.forEach(([name, value, checked]) => {
        fields(form).filter((input) => input.name === name).forEach((input) => {
          if (["radio", "checkbox"].includes(input.type)) { if (input.value === value) input.checked = checked; }
          else input.value = value;
        });
      });
    } catch { storage.remove(draftKey()); return; }
    drawSpans();
    alarm("");
    say(words("draft"));
    const marking = find("#marking");
    if (marking) marking.textContent = words("draft");
  };

  // Evidence: words carry their offsets in characters, so that both sides count alike.
  const pieces = () => all(".words [data-start]");
  const spans = () => JSON.parse(find("#spans")?.value || "[]");
  const setSpans = (marked) => { find("#spans").value = JSON.stringify(marked); drawSpans(); keepDraft(); };
  const purpose = () => find("input[name=evidence]:checked");
  const labelInput = (name) => find(`input[name=evidence][value="${CSS.escape(name)}"]`);
  const answerInput = (name, answer) => find(`input[data-label="${CSS.escape(name)}"][data-answer=${answer}]`);
  let cursor = 0;
  let anchor = null;
  let choosing = false;
  let tapped = null; // the first word of a passage that is being tapped

  // A word in the colour and line of each label that it is evidence for.
  const painted = (text, labels) => labels.reduce((inner, label) => {
    const mark = document.createElement("mark");
    mark.className = `e${labelInput(label)?.dataset.pattern || 0}`;
    mark.append(inner);
    return mark;
  }, document.createTextNode(text));

  const drawSpans = () => {
    const list = find("#span-list");
    if (!list) return;
    const marked = spans();
    pieces().forEach((word) => {
      const [start, end] = [Number(word.dataset.start), Number(word.dataset.end)];
      const labels = marked.filter((span) => span.start < end && start < span.end).map((span) => span.label);
      word.replaceChildren(painted(word.textContent, [...new Set(labels)]));
    });
    list.replaceChildren(...marked.map((span, place) => {
      const row = document.createElement("li");
      const inside = pieces().filter((w) => span.start < Number(w.dataset.end) && Number(w.dataset.start) < span.end);
      const quoted = document.createElement("span");
      const title = labelInput(span.label)?.dataset.title || span.label;
      quoted.append(painted(title, [span.label]), `: “${inside.map((w) => w.textContent).join(" ")}”`);
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = words("remove");
      button.addEventListener("click", () => {
        remember(list.closest("form"));
        setSpans(marked.filter((_, other) => other !== place));
        say(words("removed"));
      });
      row.append(quoted, button);
      return row;
    }));
  };

  const drawCursor = (speak = true) => {
    const shown = pieces();
    const [low, high] = anchor === null ? [cursor, cursor] : [Math.min(anchor, cursor), Math.max(anchor, cursor)];
    shown.forEach((word, place) => {
      word.classList.toggle("at", place === cursor);
      word.classList.toggle("chosen", anchor !== null && place >= low && place <= high);
    });
    if (speak && shown[cursor]) say(shown.slice(low, high + 1).map((w) => w.textContent).join(" "));
  };

  // Whoever marks evidence for a label has answered yes to it.
  const add = (span) => {
    const label = labelInput(span.label);
    remember(label.form);
    const yes = answerInput(span.label, "yes");
    if (yes) yes.checked = true;
    const others = spans().filter((other) => other.label !== span.label || other.start >= span.end || span.start >= other.end);
    setSpans([...others, span].sort((a, b) => a.start - b.start));
    const told = words("marked", { title: label.dataset.title });
    say(told);
    const marking = find("#marking");
    if (marking) marking.textContent = told;
  };

  const mark = (first, last) => {
    const shown = pieces();
    const label = purpose();
    if (!shown[first] || !label) return;
    anchor = null;
    tapped = null;
    add({ label: label.value, start: Number(shown[first].dataset.start), end: Number(shown[last].dataset.end) });
    drawCursor(false);
  };

  const markSelection = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return false;
    const range = selection.getRangeAt(0);
    const places = pieces().map((word, place) => (range.intersectsNode(word) ? place : -1)).filter((place) => place >= 0);
    if (!places.length) return false;
    selection.removeAllRanges();
    mark(places[0], places[places.length - 1]);
    return true;
  };

  // On a touch screen: the first tap chooses a word, the second marks from there.
  const tap = (place) => {
    if (tapped !== null) { mark(Math.min(tapped, place), Math.max(tapped, place)); return; }
    tapped = place;
    cursor = place;
    anchor = place;
    drawCursor(false);
    const told = words("first_word", { word: pieces()[place].textContent, title: purpose()?.dataset.title });
    find("#marking").textContent = told;
    say(told);
  };

  // Nothing that was marked goes without a word: an answer of no removes evidence, says so, and can be undone.
  const dropEvidence = (name) => {
    const lost = spans().filter((span) => span.label === name);
    if (!lost.length) return;
    setSpans(spans().filter((span) => span.label !== name));
    alarm(words("lost", { n: lost.length, title: labelInput(name)?.dataset.title || name }));
  };

  // The word above or below: in the next line, and nearest to the same column.
  const across = (step) => {
    const places = pieces().map((word, place) => ({ place, box: word.getBoundingClientRect() }));
    const here = places[cursor].box;
    const beyond = places.filter(({ box }) => (step > 0 ? box.top > here.top + 2 : box.top < here.top - 2));
    if (!beyond.length) return cursor;
    const top = Math[step > 0 ? "min" : "max"](...beyond.map(({ box }) => box.top));
    const line = beyond.filter(({ box }) => Math.abs(box.top - top) < 4);
    return line.sort((a, b) => Math.abs(a.box.left - here.left) - Math.abs(b.box.left - here.left))[0].place;
  };

  // Left and right, or the key t, begin to choose words; before that, up and down scroll the page.
  const inText = (event) => {
    const last = pieces().length - 1;
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
      tapped = null;
      pieces().forEach((word) => word.classList.remove("at", "chosen"));
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

  // A digit is a place on the keyboard: with and without Shift it is another character on each layout.
  const keyOf = (event) => (/^Digit\d$/.test(event.code) ? event.code.slice(5) : event.key.toLowerCase());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const at = event.target;
    const typing = at.matches("textarea, select, input:not([type=checkbox]):not([type=radio])");
    if (event.key === "Escape" && !find("#guide")?.hidden) { guide(false); event.preventDefault(); return; }
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
      say(words("evidence_for", { title: next.dataset.title }));
    }
    else if (!press(keyOf(event), event.shiftKey)) return;
    event.preventDefault();
  });

  const guide = (open) => {
    const drawer = find("#guide");
    if (!drawer) return;
    drawer.hidden = !open;
    document.body.classList.toggle("guided", open);
    all("[data-guide][aria-expanded]").forEach((button) => button.setAttribute("aria-expanded", String(open)));
    if (open) find("button", drawer).focus();
    else find("#work [data-focus]")?.focus();
  };

  // How a press began: a tap marks words in another way than a mouse.
  let pointer = "mouse";
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.about) {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      document.getElementById(button.dataset.about).hidden = !open;
      if (event.detail) button.blur(); // opened by mouse: Enter goes on to the next text
    }
    if (button && "shortcuts" in button.dataset) {
      storage.set("shortcuts", shortcuts() ? "off" : "on");
      showShortcuts();
    }
    if (button && "guide" in button.dataset) guide(find("#guide").hidden);
    if (button && "take" in button.dataset) add(JSON.parse(button.dataset.take));
    if (button && "mark" in button.dataset && !markSelection()) {
      if (tapped !== null || anchor !== null) mark(Math.min(anchor ?? tapped, cursor), Math.max(anchor ?? tapped, cursor));
      else { find("#marking").textContent = words("select_first"); say(words("select_first")); }
    }
    const word = event.target.closest(".words [data-start]");
    if (!word) return;
    const place = pieces().indexOf(word);
    if (pointer === "touch") tap(place);
    else { cursor = place; drawCursor(false); }
  });
  document.addEventListener("mouseup", (event) => {
    if (pointer !== "touch" && event.target.closest?.(".words")) markSelection();
  });

  // The state before a change is kept; a radio that goes off fires no event of its own.
  let before = null;
  const keep = () => { const form = find("#answer"); before = form && state(form); };
  document.addEventListener("pointerdown", (event) => { pointer = event.pointerType; keep(); }, true);
  document.addEventListener("keydown", keep, true);
  document.addEventListener("change", (event) => {
    if (!event.target.closest?.("#answer") || event.target.name === "evidence") return;
    if (before) changes.push(before);
    keep();
    const { label, answer } = event.target.dataset;
    if (answer === "no") dropEvidence(label);
    if (answer === "yes" && labelInput(label)) { labelInput(label).checked = true; alarm(""); }
    keepDraft();
  });
  document.addEventListener("input", (event) => { if (event.target.matches?.("#answer textarea")) keepDraft(); });
  const clock = () => { const field = find("#seconds"); if (field) field.value = ((performance.now() - shownAt) / 1000).toFixed(1); };
  document.addEventListener("submit", (event) => {
    clock();
    // Whoever logs out leaves nothing on a computer that others use, too.
    if (event.target.id === "logout") forgetDrafts();
    // Without htmx the answer is on its way; a failure shows the form's page again, with nothing lost but this draft.
    else if (event.target.id === "answer" && !event.target.hasAttribute("hx-post")) storage.remove(draftKey());
  }, true);

  const begin = (swapped) => {
    shownAt = performance.now();
    changes = []; cursor = 0; anchor = null; choosing = false; tapped = null;
    alarm("");
    drawSpans();
    showShortcuts();
    showTimes();
    document.body.classList.remove("guided");
    if (swapped) {
      say(find("#work")?.dataset.say || "");
      (find("#work [data-focus]") || find("h1"))?.focus();
      scrollTo(0, 0);
    }
    restoreDraft();
  };
  // The key is read before the answer's page is replaced by the next one.
  let sentDraft = null;
  document.addEventListener("htmx:beforeRequest", (event) => { if (event.target.id === "answer") sentDraft = draftKey(); });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && sentDraft && event.target.id === "answer") storage.remove(sentDraft);
  });
  document.addEventListener("htmx:afterSettle", (event) => { if (event.target.id === "work" || find("#work", event.target)) begin(true); });
  document.addEventListener("htmx:sendError", () => alarm(words("unreachable")));
  document.addEventListener("htmx:responseError", () => alarm(words("not_saved")));
  begin(false);
})();
