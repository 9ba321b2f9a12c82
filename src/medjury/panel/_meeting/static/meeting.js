// Keys on the forms of a meeting, as on those of a case: a digit chooses a grade and goes on. All of it is a
// convenience: without this file the form is filled in and sent as any other.
"use strict";
(() => {
  const questions = [...document.querySelectorAll("form.long fieldset.question")];
  if (!questions.length) return;
  const form = questions[0].closest("form");
  document.documentElement.classList.add("js");
  for (const each of document.querySelectorAll(".needs-script")) each.hidden = false;
  const radios = (question) => [...question.querySelectorAll("input[type=radio]")];
  for (const question of questions) question.tabIndex = -1;

  // The question that keys answer: where the focus is, else the first that is not answered.
  let current = null;
  function setCurrent(question) {
    if (current) current.classList.remove("current");
    current = question;
    current.classList.add("current");
  }
  function step(by) {
    const place = questions.indexOf(current) + by;
    if (place < 0) return;
    if (place >= questions.length) {
      form.querySelector(".row button")?.focus();
      return;
    }
    setCurrent(questions[place]);
    current.focus({ preventScroll: true });
    current.scrollIntoView({ block: "nearest" });
  }
  function answer(key) {
    const radio = radios(current).find((each) => each.dataset.key === key);
    if (!radio) return false;
    radio.checked = true;
    step(1);
    return true;
  }
  form.addEventListener("focusin", (event) => {
    const question = event.target.closest("fieldset.question");
    if (question) setCurrent(question);
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form.contains(target)) {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("textarea, select, input:not([type=radio])")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    let done = true;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "w") (current.querySelector("textarea") || form.querySelector("textarea"))?.focus();
    else if (event.key.length === 1) done = answer(event.key);
    else done = false;
    if (done) event.preventDefault();
  });
  setCurrent(questions.find((each) => !radios(each).some((radio) => radio.checked)) || questions[0]);
})();
