// What a screen reader or a reader with poor sight would stumble over; an empty list is a good page.
(() => {
  const found = [];
  const say = (rule, element) => found.push(`${rule}: ${(element?.outerHTML ?? "").slice(0, 160)}`);
  if (!document.documentElement.lang) say("the page has no language");
  if (!document.title.trim()) say("the page has no title");
  for (const name of ["main", "h1"]) {
    if (document.querySelectorAll(name).length !== 1) say(`there must be one ${name}`);
  }
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) say("a heading skips a level", heading);
    level = next;
  }
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  if (new Set(ids).size !== ids.length) say("ids are not unique");
  for (const each of document.querySelectorAll("[aria-labelledby]")) {
    if (!document.getElementById(each.getAttribute("aria-labelledby"))) say("a label is missing", each);
  }
  for (const each of document.querySelectorAll("svg")) {
    if (each.getAttribute("role") !== "img" || !(each.getAttribute("aria-label") ?? "").trim()) say("a figure has no words", each);
  }
  for (const each of document.querySelectorAll("table")) {
    if (!each.caption?.textContent.trim()) say("a table has no caption", each);
    for (const cell of each.querySelectorAll("th")) if (!cell.scope) say("a heading cell has no scope", cell);
  }
  for (const each of document.querySelectorAll("a, button, summary")) if (!each.textContent.trim()) say("a control has no name", each);
  for (const each of document.querySelectorAll("*")) {
    const style = getComputedStyle(each);
    if (["auto", "scroll"].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 1 && each.tabIndex < 0) {
      say("a scrolling part cannot be reached by keyboard", each);
    }
  }
  const channel = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const parts = colour(getComputedStyle(each).backgroundColor);
      if (parts.length === 3 || parts[3] > 0) return parts;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, script, style")) continue;
    const style = getComputedStyle(element);
    const [one, two] = [light(colour(style.color)), light(behind(element))].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if ((one + 0.05) / (two + 0.05) < (large ? 3 : 4.5)) say("too little contrast", element);
  }
  return found;
})()
