// The page of a case: keys, drafts that save themselves, signs of life, and finding in the source. All of it is a
// convenience: without this file the form is filled in and sent as any other.
"use strict";
(() => {
  const form = document.getElementById("rate");
  if (!form) return;
  document.documentElement.classList.add("js");
  for (const each of document.querySelectorAll(".needs-script")) each.hidden = false;
  const closed = "closed" in form.dataset;
  const questions = [...form.querySelectorAll(".question")];
  const status = form.querySelector(".saved");
  const radios = (question) => [...question.querySelectorAll("input[type=radio]")];
  const isAnswered = (question) => radios(question).some((each) => each.checked);
  const isAsked = (question) => !question.disabled;
  for (const question of questions) question.tabIndex = -1;

  // Questions that another answer leaves out.
  function applySkips() {
    for (const question of questions) {
      const { skipOf, skipValue } = question.dataset;
      if (!skipOf || closed) continue;
      const ruling = form.querySelector(`input[name="grade.${skipOf}"]:checked`);
      question.disabled = !!ruling && ruling.value === skipValue;
      question.classList.toggle("left-out", question.disabled);
    }
  }

  // The question that keys answer: where the focus is, else the first that is not answered.
  let current = null;
  function setCurrent(question) {
    if (current) current.classList.remove("current");
    current = question;
    if (current) current.classList.add("current");
  }
  function goTo(question) {
    if (!question) {
      form.querySelector(".send button")?.focus();
      return;
    }
    setCurrent(question);
    question.focus({ preventScroll: true });
    question.scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    const asked = questions.filter(isAsked);
    const place = asked.indexOf(current) + by;
    if (place < 0) return;
    goTo(asked[place]);
  }
  function why(question) {
    const text = question.querySelector("textarea");
    const details = text.closest("details");
    if (details) details.open = true;
    text.focus();
  }
  function answer(key) {
    const radio = current && radios(current).find((each) => each.dataset.key === key);
    if (!radio || current.disabled) return false;
    const question = current;
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    const text = question.querySelector("textarea");
    if ((radio.value === "cannot" || question.dataset.why === "required") && !text.value.trim()) why(question);
    else step(1);
    return true;
  }

  const dialog = document.querySelector("dialog.keys");
  document.querySelector("[data-keys]")?.addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    const isText = target.matches("textarea, input:not([type=radio])");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form.contains(target)) {
      event.preventDefault();
      submit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (isText) {
      const question = target.closest(".question");
      if (event.key === "Escape") target.blur();
      else if (question && event.key === "Enter" && !event.shiftKey && matchMedia("(hover: hover)").matches) {
        event.preventDefault();
        setCurrent(question);
        step(1);
      }
      return;
    }
    let done = true;
    if (event.key === "?") dialog.showModal();
    else if (event.key === "/") document.getElementById("find")?.focus();
    else if (closed) done = false;
    else if (event.key === "j" || event.key === "ArrowDown") step(1);
    else if (event.key === "k" || event.key === "ArrowUp") step(-1);
    else if (event.key === "w" && current) why(current);
    else if (event.key === "m") form.dispatchEvent(new Event("mark"));
    else if (event.key === "Enter" && !target.closest("a, button, summary")) submit();
    else if (event.key.length === 1) done = answer(event.key);
    else done = false;
    if (done) event.preventDefault();
  });
  // Arrow keys scroll where a text has the focus.
  for (const pane of document.querySelectorAll("section.pane")) {
    pane.addEventListener("keydown", (event) => {
      if (event.target === pane && event.key.startsWith("Arrow")) event.stopPropagation();
    });
  }
  form.addEventListener("focusin", (event) => {
    const question = event.target.closest(".question");
    if (question) setCurrent(question);
  });

  // A grade is on its way the moment it is given, a text when its writer pauses or leaves. Until the panel has it, it is
  // kept in this browser. Each page has a name of its own and counts its turns, so the last word counts, whichever
  // arrives last.
  const words = status.dataset;
  const code = form.dataset.code;
  const named = [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
  let turn = 0;
  let answered = 0; // the last turn that the panel answered
  let isChanged = false;
  let isStopped = closed;
  let isSending = false;
  let isRestoring = false;
  let timer = 0;
  function tell(text, isBad) {
    status.textContent = text;
    status.classList.toggle("bad", !!isBad);
  }
  function fields() {
    form.elements.page.value = named;
    form.elements.turn.value = ++turn;
    return [...new FormData(form)];
  }
  function failed(text, sent) {
    unsent.keep(code, sent, true);
    isChanged = true;
    tell(text, true);
    plan(5000);
  }
  // What became of a draft; of two on their way only the later one is talked of.
  async function send(sent) {
    const own = Number(unsent.value(sent, "turn"));
    let answer = null;
    try {
      answer = await unsent.post(code, sent);
    } catch {
      // The connection is gone.
    }
    if (own < answered) return;
    if (answer) answered = own;
    if (answer?.status === 200) {
      unsent.forget(code, sent);
      form.elements.version.value = Math.max(form.elements.version.value, (await answer.json()).version);
      if (own === turn && !isChanged) tell(words.saved);
    } else if (answer?.status === 409) {
      isStopped = true;
      tell((await answer.json()).message, true);
    } else if (!answer) {
      if (own === turn) failed(words.offline, sent);
    } else if (answer.status >= 500) {
      if (own === turn) failed(words.unreachable, sent);
    } else {
      isStopped = true;
      tell(words.signedOut, true);
    }
  }
  function save() {
    clearTimeout(timer);
    if (isStopped || isSending || !isChanged) return;
    if (isRestoring) {
      unsent.keep(code, fields());
      return;
    }
    isChanged = false;
    const sent = fields();
    if (!unsent.keep(code, sent)) status.dataset.offline = status.dataset.unreachable = words.notKept;
    send(sent);
  }
  function plan(wait) {
    clearTimeout(timer);
    timer = setTimeout(save, wait);
  }
  // A question that was missing and is answered is no longer complained of.
  function settle() {
    for (const question of form.querySelectorAll(".question.missing")) {
      const text = question.querySelector("textarea").value.trim();
      const given = radios(question).find((each) => each.checked);
      const needsText = given?.value === "cannot" || question.dataset.why === "required";
      if (!question.disabled && (!given || (needsText && !text))) continue;
      question.classList.remove("missing");
      question.querySelector("p.bad")?.remove();
      const problem = document.querySelector(".problem.missing");
      problem?.querySelector(`[href="#${question.id}"]`)?.closest("li").remove();
      if (problem && !problem.querySelector("li")) problem.remove();
    }
  }
  // How many criteria are marked: a case may have dozens.
  const soFar = form.querySelector(".so-far");
  function count() {
    if (soFar) soFar.textContent = soFar.dataset.words.replace("{at}", questions.filter(isAnswered).length).replace("{of}", questions.length);
  }
  function changed(event) {
    isChanged = true;
    if (!isStopped) tell("");
    applySkips();
    count();
    settle();
    if (event.type === "change") save();
    else plan(800);
  }
  form.addEventListener("input", (event) => { if (event.target.type !== "radio") changed(event); });
  form.addEventListener("change", (event) => { if (["radio", "hidden"].includes(event.target.type)) changed(event); });
  function submit() {
    if (!closed) form.requestSubmit(form.querySelector(".send button"));
  }
  form.addEventListener("submit", (event) => {
    clearTimeout(timer);
    if (isSending) {
      event.preventDefault();
      return;
    }
    isSending = true;
    const sent = fields();
    if (isChanged) unsent.keep(code, sent);
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
  document.addEventListener("click", (event) => { if (event.target.closest("a[href]")) save(); }, { capture: true });

  // What an earlier page of this case could not send: it is filled in where nothing came after it; else the rater says.
  function fill(kept) {
    for (const [name, text] of kept.fields) {
      if (name === "version" || name === "page" || name === "turn") continue;
      const field = form.elements.namedItem(name);
      if (!field) continue;
      field.value = text;
      if (text && field.closest) field.closest("details")?.setAttribute("open", "");
    }
    applySkips();
    count();
    form.dispatchEvent(new Event("filled"));
  }
  function choose(kept, text) {
    const note = document.createElement("div");
    note.className = "note";
    note.setAttribute("role", "alert");
    const said = document.createElement("p");
    said.textContent = text;
    note.append(said);
    for (const [label, act] of [
      [words.use, () => { fill(kept); isChanged = true; tell(""); save(); }],
      [words.leave, () => unsent.drop(code)],
    ]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = label;
      button.addEventListener("click", () => { note.remove(); act(); });
      note.append(button, " ");
    }
    form.querySelector(".pane-head").after(note);
  }
  async function restore(kept) {
    const isLast = unsent.value(kept.fields, "version") === form.elements.version.value;
    if (isLast && !closed) fill(kept);
    isRestoring = true;
    let answer = null;
    try {
      answer = await unsent.post(code, kept.fields);
    } catch {
      // It is sent again below.
    }
    if (answer?.status === 200) {
      const { version } = await answer.json();
      unsent.forget(code, kept.fields);
      if (!isLast && version > Number(form.elements.version.value)) return location.reload();
      form.elements.version.value = Math.max(form.elements.version.value, version);
      if (isLast) tell(words.restored);
    } else if (answer?.status === 409) {
      choose(kept, (await answer.json()).message);
    } else if (answer && answer.status < 500) {
      isStopped = true;
      tell(words.signedOut, true);
    } else {
      tell(words.offline, true);
      setTimeout(() => restore(kept), 5000);
      return;
    }
    isRestoring = false;
    save();
  }
  const kept = unsent.all().find((each) => each.code === code);
  if (kept) restore(kept);

  // Signs of life: only while the page is seen and somebody does something.
  let lastActive = Date.now();
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove", "scroll"]) {
    addEventListener(kind, () => { lastActive = Date.now(); }, { capture: true, passive: true });
  }
  const token = form.elements.csrf.value;
  function here() {
    if (document.hidden || closed || Date.now() - lastActive > 1000 * Number(form.dataset.idle)) return;
    const body = new URLSearchParams({ csrf: token });
    fetch(`${form.getAttribute("action")}/here`, { method: "POST", body, redirect: "manual" }).catch(() => {});
  }
  here();
  setInterval(here, 1000 * Number(form.dataset.every));

  // Find in the source: marks every place, Enter goes to the next.
  const find = document.getElementById("find");
  const pane = document.getElementById("source");
  if (find && pane) {
    const found = pane.querySelector(".found");
    let marks = [];
    let at = -1;
    const clear = () => {
      for (const mark of marks) {
        const parent = mark.parentNode;
        mark.replaceWith(...mark.childNodes);
        parent.normalize();
      }
      marks = [];
      at = -1;
    };
    const show = (place) => {
      marks[at]?.classList.remove("here");
      at = (place + marks.length) % marks.length;
      marks[at].classList.add("here");
      for (let fold = marks[at].closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      marks[at].scrollIntoView({ block: "center" });
      found.textContent = found.dataset.place.replace("{at}", at + 1).replace("{of}", marks.length);
    };
    const search = () => {
      clear();
      const wanted = find.value.trim().toLowerCase();
      found.textContent = "";
      if (wanted.length < 2) return;
      const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT, (node) =>
        node.parentElement.closest(".said, h4") ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
      const nodes = [];
      while (walker.nextNode()) nodes.push(walker.currentNode);
      for (let node of nodes) {
        let place;
        while ((place = node.data.toLowerCase().indexOf(wanted)) >= 0 && marks.length < 2000) {
          const hit = node.splitText(place);
          node = hit.splitText(wanted.length);
          const mark = document.createElement("mark");
          mark.className = "found";
          hit.replaceWith(mark);
          mark.append(hit);
          marks.push(mark);
        }
      }
      if (marks.length) show(0);
      else found.textContent = found.dataset.none;
    };
    find.addEventListener("input", search);
    find.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        if (marks.length) show(at + (event.shiftKey ? -1 : 1));
      } else if (event.key === "Escape") {
        find.value = "";
        search();
      }
    });
  }

  applySkips();
  count();
  setCurrent(questions.find((each) => isAsked(each) && !isAnswered(each)) || questions[0]);
})();
