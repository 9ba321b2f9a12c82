// Filter, search, order and keys for the file; without this every answer is still there to open and read.
(() => {
  "use strict";
  const one = (selector) => document.querySelector(selector);
  const box = one("#answers");
  const all = [...box.querySelectorAll("details.case")];
  const words = new Map();
  const said = (each) => {
    if (!words.has(each)) words.set(each, each.textContent.toLowerCase());
    return words.get(each);
  };
  let shown = all;
  let at = -1;
  const value = (name) => one(name)?.value ?? "";
  const apply = () => {
    const wanted = value("#q").toLowerCase().split(/\s+/).filter(Boolean);
    const show = value("#by-show");
    const system = one("#by-system");
    const order = value("#by-sort");
    shown = all.filter((each) =>
      (!show || each.dataset.show.split(" ").includes(show)) &&
      (!system || system.selectedIndex === 0 || each.dataset.system === system.value) &&
      wanted.every((word) => said(each).includes(word)));
    if (order) shown.sort((left, right) => Number(right.dataset[order]) - Number(left.dataset[order]));
    const kept = new Set(shown);
    for (const each of all) each.hidden = !kept.has(each);
    box.append(...shown);
    one("#count").textContent = `${shown.length} of ${all.length} answers`;
    at = -1;
  };
  const select = (place) => {
    if (!shown.length) return;
    at = Math.min(Math.max(place, 0), shown.length - 1);
    const summary = shown[at].querySelector("summary");
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: "nearest" });
  };
  const keys = {
    j: () => select(at + 1),
    k: () => select(at - 1),
    "/": () => one("#q").focus(),
    f: () => one("#by-show").focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input, select");
    if (event.key === "Escape" && typing) typing.blur();
    if (typing || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  const filters = one("#filters");
  filters.hidden = false;
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("input", apply);
  apply();
  // A link into an answer opens it.
  const opened = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const holder = target && target.closest("details.case");
    if (holder) { holder.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", opened);
  opened();
})();
