// Keys for reading quickly, and how far a run has come. Every page works without this.
(() => {
  "use strict";
  const one = (selector) => document.querySelector(selector);
  const links = [...document.querySelectorAll(".answers a.answer, table a.answer")];
  let at = -1;

  const select = (place) => {
    if (!links.length) return;
    links[at]?.closest("tr").classList.remove("selected");
    at = Math.min(Math.max(place, 0), links.length - 1);
    links[at].closest("tr").classList.add("selected");
    links[at].focus({ preventScroll: true });
    links[at].scrollIntoView({ block: "nearest" });
  };
  const follow = (selector) => one(selector)?.click();
  const keys = {
    j: () => (links.length ? select(at + 1) : follow("a[rel=next]")),
    k: () => (links.length ? select(at - 1) : follow("a[rel=prev]")),
    u: () => follow("a[rel=up]"),
    "/": () => one("#q")?.focus(),
    f: () => one("#filters select")?.focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "Escape" && typing) typing.blur();
    if (typing || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  // A filter works at once; the button is for browsers without this.
  const filters = one("form#filters");
  filters?.addEventListener("change", () => filters.requestSubmit());

  const told = one("#so-far");
  const look = async () => {
    try {
      const answer = await fetch(told.dataset.address, { credentials: "same-origin" });
      if (!answer.ok) return;
      const now = await answer.json();
      told.textContent = now.words;
      if (String(now.ratings) !== told.dataset.ratings || !now.going_on) {
        const again = document.createElement("a");
        again.href = location.href;
        again.textContent = now.going_on ? "show the new ratings" : "the run has ended: show it";
        told.append(" · ", again);
      }
    } catch { /* the server has gone; the page stays readable */ }
  };
  if (told) setInterval(look, 3000);
})();
