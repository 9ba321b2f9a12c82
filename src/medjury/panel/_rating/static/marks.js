// Passages of the answer that the rater marks: words selected by mouse or finger, or whole sentences by their buttons.
// The form's field holds them as JSON; rating.js sends it as it sends a grade.
"use strict";
(() => {
  const form = document.getElementById("rate");
  const text = document.querySelector("#answer [data-letters]");
  if (!form || !text) return;
  const field = form.elements.marks;
  const list = form.querySelector(".marks");
  const sentences = form.querySelector(".sentences");
  const offer = document.querySelector(".mark-this");

  // The text's own nodes: what is there for screen readers alone is not part of it, and of a conversation only what
  // says so is.
  const own = text.querySelector("[data-part]") ? "[data-part]" : "[data-letters]";
  function nodes() {
    const found = [];
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const around = walker.currentNode.parentElement;
      if (around.closest(own) && !around.closest(".hidden-text")) found.push(walker.currentNode);
    }
    return found;
  }
  const whole = nodes().map((node) => node.data).join("");
  if ([...whole].length !== Number(text.dataset.letters)) return; // the browser has another text than the panel

  // A browser counts some letters twice; the panel counts every letter once.
  const toLetters = (place) => [...whole.slice(0, place)].length;
  const toPlace = (letters) => [...whole].slice(0, letters).join("").length;
  const marks = () => JSON.parse(field.value || "[]").map((each) => [toPlace(each.start), toPlace(each.end)]);
  function change(next) {
    const merged = [];
    for (const [from, to] of next.sort((one, other) => one[0] - other[0])) {
      const last = merged.at(-1);
      if (last && from <= last[1]) last[1] = Math.max(last[1], to);
      else merged.push([from, to]);
    }
    field.value = JSON.stringify(merged.map(([from, to]) => (
      { start: toLetters(from), end: toLetters(to), text: whole.slice(from, to) })));
    draw();
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  // The mark's ends without the white space around them; null where nothing else is in it.
  function trimmed(from, to) {
    const words = whole.slice(from, to);
    const start = from + words.length - words.trimStart().length;
    const end = from + words.trimEnd().length;
    return start < end ? [start, end] : null;
  }
  function without([from, to]) {
    return marks().flatMap(([start, end]) => (
      end <= from || start >= to ? [[start, end]] : [trimmed(start, from), trimmed(to, end)].filter(Boolean)));
  }

  // Highlights in the text, and the list below the comment.
  function highlight([from, to]) {
    let at = 0;
    for (const node of nodes()) {
      const [start, end] = [Math.max(from - at, 0), Math.min(to - at, node.length)];
      at += node.length;
      if (start >= end) continue;
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, end);
      const mark = document.createElement("mark");
      mark.className = "marked";
      range.surroundContents(mark);
    }
  }
  function row(place, number) {
    const item = document.createElement("li");
    const quoted = document.createElement("q");
    quoted.className = "said";
    quoted.textContent = whole.slice(...place);
    item.append(quoted);
    if (offer) {
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "quiet";
      remove.textContent = list.dataset.remove;
      remove.setAttribute("aria-label", `${list.dataset.remove}: ${quoted.textContent}`);
      remove.addEventListener("click", () => {
        change(without(place));
        (list.querySelectorAll("button")[Math.max(number - 1, 0)] ?? sentences.querySelector("summary")).focus();
      });
      item.append(" ", remove);
    }
    return item;
  }
  function draw() {
    for (const mark of text.querySelectorAll("mark.marked")) mark.replaceWith(...mark.childNodes);
    text.normalize();
    const own = marks();
    own.forEach(highlight);
    list.replaceChildren(...own.map(row));
    for (const [button, [from, to]] of buttons) {
      button.setAttribute("aria-pressed", String(own.some(([start, end]) => start <= from && to <= end)));
    }
  }

  // The headings of turns are no sentences.
  const silent = [];
  let passed = 0;
  for (const node of nodes()) {
    if (node.parentElement.hidden) silent.push([passed, passed + node.length]);
    passed += node.length;
  }
  const buttons = new Map();
  for (const found of sentences ? whole.matchAll(/\S[^\n]*?(?:[.!?](?=\s|$)|(?=\n|$))/g) : []) {
    const place = trimmed(found.index, found.index + found[0].length);
    if (silent.some(([from, to]) => from <= place[0] && place[1] <= to)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = whole.slice(...place);
    button.addEventListener("click", () => (
      change(button.getAttribute("aria-pressed") === "true" ? without(place) : [...marks(), place])));
    const item = document.createElement("li");
    item.append(button);
    sentences.querySelector("ul").append(item);
    buttons.set(button, place);
  }
  if (sentences) sentences.hidden = false;
  draw();
  form.addEventListener("filled", draw);
  if (!offer) return;

  function selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    let [at, from, to] = [0, -1, -1];
    for (const node of nodes()) {
      const start = node === range.startContainer ? range.startOffset : 0;
      const end = node === range.endContainer ? range.endOffset : node.length;
      if (range.intersectsNode(node) && start < end) {
        if (from < 0) from = at + start;
        to = at + end;
      }
      at += node.length;
    }
    return from < 0 ? null : trimmed(from, to);
  }
  let chosen = null;
  let timer = 0;
  document.addEventListener("selectionchange", () => {
    clearTimeout(timer);
    const found = selected();
    if (found) chosen = found;
    // A tap on the button ends the selection before it is a click, so the button stays a moment longer.
    timer = setTimeout(() => {
      if (!found) chosen = null;
      offer.classList.toggle("offered", !!found);
    }, found ? 0 : 400);
  });
  function mark() {
    if (!chosen) return;
    change([...marks(), chosen]);
    chosen = null;
    getSelection().removeAllRanges();
    offer.classList.remove("offered");
  }
  offer.addEventListener("mousedown", (event) => event.preventDefault());
  offer.addEventListener("click", mark);
  form.addEventListener("mark", () => {
    chosen = selected() || chosen; // a key may be quicker than the news of what was selected
    if (chosen) return mark();
    sentences.open = true;
    sentences.querySelector("button")?.focus();
  });
})();
