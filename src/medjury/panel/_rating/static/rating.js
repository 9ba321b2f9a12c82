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
  const address = form.getAttribute("action");
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

  // Drafts save themselves, one after another; a draft on its way is waited for before the answer is sent.
  let isChanged = false;
  let isStopped = closed;
  let isSending = false;
  let isOnItsWay = false;
  let isWaiting = false;
  let timer = 0;
  let running = Promise.resolve();
  async function post(path, fields) {
    const body = new URLSearchParams(fields);
    return fetch(path, { method: "POST", body, redirect: "manual", credentials: "same-origin" });
  }
  function tell(text, isBad) {
    status.textContent = text;
    status.classList.toggle("bad", !!isBad);
  }
  function later(words) {
    isChanged = true;
    tell(words, true);
    plan(5000);
  }
  async function saveDraft() {
    if (isStopped || isSending || !isChanged) return;
    isChanged = false;
    isOnItsWay = true;
    try {
      const answer = await post(`${address}/draft`, new FormData(form));
      if (answer.status === 200) {
        form.elements.version.value = (await answer.json()).version;
        if (!isChanged) tell("Draft saved");
      } else if (answer.status === 409) {
        isStopped = true;
        tell((await answer.json()).message, true);
      } else if (answer.status >= 500) {
        later("Not saved yet: the panel is out of reach for a moment. Trying again.");
      } else {
        isStopped = true;
        tell("Not saved: you are signed out. Sign in in another tab, then submit here.", true);
      }
    } catch {
      later("Not saved yet: no connection. Trying again.");
    } finally {
      isOnItsWay = false;
    }
  }
  function plan(wait) {
    clearTimeout(timer);
    timer = setTimeout(() => { running = running.then(saveDraft); }, wait);
  }
  function changed() {
    isChanged = true;
    if (!isStopped) tell("");
    applySkips();
    plan(800);
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  function submit() {
    if (!closed) form.requestSubmit(form.querySelector(".send button"));
  }
  form.addEventListener("submit", (event) => {
    clearTimeout(timer);
    const isSecond = isSending && !isWaiting;
    isSending = true;
    if (isSecond) event.preventDefault();
    if (isSecond || !isOnItsWay) return;
    // The draft's answer brings the version that this answer rests on.
    event.preventDefault();
    if (isWaiting) return;
    isWaiting = true;
    const button = event.submitter;
    running.then(() => setTimeout(() => form.requestSubmit(button), 0));
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  addEventListener("beforeunload", (event) => { if (isChanged && !isSending) event.preventDefault(); });
  document.addEventListener("visibilitychange", () => { if (document.hidden && isChanged) plan(0); });

  // Signs of life: only while the page is seen and somebody does something.
  let lastActive = Date.now();
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove", "scroll"]) {
    addEventListener(kind, () => { lastActive = Date.now(); }, { capture: true, passive: true });
  }
  const token = form.elements.csrf.value;
  function here() {
    if (document.hidden || closed || Date.now() - lastActive > 1000 * Number(form.dataset.idle)) return;
    post(`${address}/here`, { csrf: token }).catch(() => {});
  }
  here();
  setInterval(here, 1000 * Number(form.dataset.every));

  // Find in the source: marks every place, Enter goes to the next.
  const find = document.getElementById("find");
  const pane = document.getElementById("source");
  if (find && pane) {
    const told = pane.querySelector(".found");
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
      marks[at].scrollIntoView({ block: "center" });
      told.textContent = `${at + 1} of ${marks.length}`;
    };
    const search = () => {
      clear();
      const wanted = find.value.trim().toLowerCase();
      told.textContent = "";
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
      else told.textContent = "not found";
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
  setCurrent(questions.find((each) => isAsked(each) && !isAnswered(each)) || questions[0]);
})();
