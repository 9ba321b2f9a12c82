// What has not reached the panel yet is kept in this browser until it has, by case and for its rater alone, and every
// page of the rater sends it again. The panel knows what it has by the page's name and turn, so twice is once.
"use strict";
const unsent = (() => {
  const PREFIX = "medjury.unsent.";
  const DAYS = 14;
  const MOMENT = 3000; // younger than that it is most likely just on its way from the page before
  const LONGEST_KEPT_ALIVE = 50_000; // a browser refuses more from a page that is being left
  const notice = document.getElementById("unsent");
  const words = notice.dataset;

  function all() {
    const found = [];
    try {
      for (const name of Object.keys(localStorage).filter((each) => each.startsWith(PREFIX))) {
        const kept = JSON.parse(localStorage.getItem(name));
        if (Date.now() - kept.at > DAYS * 24 * 3600 * 1000) localStorage.removeItem(name);
        else if (kept.rater === words.rater) found.push(kept);
      }
    } catch {
      // A browser that keeps nothing: then there is nothing to send.
    }
    return found;
  }
  function keep(code, fields, hasFailed) {
    const own = fields.filter(([name]) => name !== "csrf");
    const before = all().find((each) => each.code === code);
    const kept = { code, rater: words.rater, at: Date.now(), hasFailed: hasFailed || before?.hasFailed, fields: own };
    try {
      localStorage.setItem(PREFIX + code, JSON.stringify(kept));
    } catch {
      return false;
    }
    return true;
  }
  const value = (fields, name) => new Map(fields).get(name);
  // What is kept of a case goes once the panel has it, unless something newer is kept by now.
  function forget(code, fields) {
    const kept = all().find((each) => each.code === code);
    const isSame = (name) => value(kept.fields, name) === value(fields, name);
    if (kept && isSame("page") && isSame("turn")) drop(code);
  }
  function drop(code) {
    try {
      localStorage.removeItem(PREFIX + code);
    } catch {
      // Nothing was kept.
    }
  }
  function post(code, fields) {
    const body = new URLSearchParams([["csrf", document.querySelector("input[name=csrf]").value], ...fields.filter(([name]) => name !== "csrf")]);
    const keepalive = body.toString().length < LONGEST_KEPT_ALIVE;
    const path = `/rate/${code}/draft`;
    return fetch(path, { method: "POST", body, keepalive, redirect: "manual", credentials: "same-origin" });
  }

  // The rater's other cases: sent again from here, and what came of it shown.
  function line(text, code) {
    const row = document.createElement("p");
    row.textContent = `${text} `;
    if (code) {
      const open = document.createElement("a");
      open.href = `/rate/${code}`;
      open.textContent = words.open;
      const away = document.createElement("button");
      away.type = "button";
      away.className = "quiet";
      away.textContent = words.drop;
      away.addEventListener("click", () => { drop(code); sendOthers(); });
      row.append(open, " ", away);
    }
    return row;
  }
  let timer = 0;
  async function sendOthers() {
    clearTimeout(timer);
    const own = document.getElementById("rate")?.dataset.code;
    const lines = [];
    let sent = 0;
    let isWaiting = false;
    for (const each of all().filter((kept) => kept.code !== own)) {
      const isOld = each.hasFailed || Date.now() - each.at > MOMENT;
      try {
        const answer = await post(each.code, each.fields);
        if (answer.status === 200) {
          forget(each.code, each.fields);
          sent += isOld ? 1 : 0;
        } else if (answer.status === 409) lines.push(line((await answer.json()).message, each.code));
        else if (answer.status === 404) lines.push(line(words.gone, each.code));
        else throw new Error(String(answer.status));
      } catch {
        if (isOld) lines.push(line(words.waiting));
        isWaiting = true;
        break;
      }
    }
    if (isWaiting) timer = setTimeout(sendOthers, 5000);
    if (sent) lines.push(line(words.sent.replace("{n}", sent)));
    if (lines.length || !notice.querySelector("[data-done]")) notice.replaceChildren(...lines);
    if (sent) notice.lastChild.dataset.done = "";
    notice.hidden = !notice.children.length;
  }
  sendOthers();
  addEventListener("online", sendOthers);
  return { all, keep, forget, drop, post, value };
})();
