// Ranks follow the choice of candidates and benchmarks. Win rates and averages are computed here as `medjury rank`
// computes them; intervals are not, and stand only beside the whole table.
"use strict";
const SAME = 1e-12; // two scores closer than this are the same score
const data = JSON.parse(document.getElementById("leaderboard-data").textContent);

function mean(values) { return values.reduce((sum, each) => sum + each, 0) / values.length; }
function deviation(values) {
  if (values.length < 2) return null;
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, each) => sum + (each - middle) ** 2, 0) / (values.length - 1));
}

// The scores of the candidates on one benchmark, on the items that all of them have: null for one that lacks too many.
function compared(candidates, place, parts) {
  const there = candidates.filter((candidate) => parts.whole[candidate][place] !== null);
  const more = parts.partly[place].filter((item) => there.every((candidate) => item[candidate] !== null));
  const found = {};
  for (const candidate of candidates) {
    const own = there.includes(candidate) ? [parts.whole[candidate][place], ...more.map((item) => item[candidate])] : [];
    const weight = own.reduce((sum, each) => sum + each[1], 0);
    found[candidate] = weight > 0 ? own.reduce((sum, each) => sum + each[0], 0) / weight : null;
  }
  return found;
}

// The standings of the candidates over the benchmarks, both by their places in the data. A candidate that lacks a score
// on one of the benchmarks has no rank; a benchmark on which nobody has one does not count.
function standings(candidates, chosen, hard) {
  const table = Object.fromEntries(candidates.map((candidate) => [candidate, {}]));
  for (const place of chosen)
    for (const [candidate, score] of Object.entries(compared(candidates, place, hard ? data.hard : data.all)))
      table[candidate][place] = score;
  const benchmarks = chosen.filter((place) => candidates.some((candidate) => table[candidate][place] !== null));
  const known = (candidate) => benchmarks.length > 0 && benchmarks.every((place) => table[candidate][place] !== null);
  const ranked = candidates.filter(known);
  const rows = ranked.map((candidate) => {
    const own = benchmarks.map((place) => table[candidate][place]);
    const row = { candidate, macro: mean(own), macro_sd: deviation(own), win_half: null, win_or_tie: null, win_sd: null };
    if (ranked.length > 1) {
      const shares = { half: [], whole: [] };
      benchmarks.forEach((place, number) => {
        let beaten = 0, tied = 0;
        for (const rival of ranked) {
          if (rival === candidate) continue;
          if (own[number] > table[rival][place] + SAME) beaten += 1;
          else if (Math.abs(own[number] - table[rival][place]) <= SAME) tied += 1;
        }
        shares.half.push((beaten + tied / 2) / (ranked.length - 1));
        shares.whole.push((beaten + tied) / (ranked.length - 1));
      });
      Object.assign(row, { win_half: mean(shares.half), win_or_tie: mean(shares.whole), win_sd: deviation(shares.half) });
    }
    return row;
  });
  for (const measure of ["win_half", "win_or_tie", "macro"]) {
    for (const row of rows) {
      const above = rows.filter((other) => other[measure] > row[measure] + SAME).length;
      row[`${measure}_rank`] = ranked.length > 1 ? 1 + above : null;
    }
  }
  return { rows, unranked: candidates.filter((candidate) => !known(candidate)) };
}

const form = document.getElementById("chooser");
const body = document.querySelector("#overall tbody");
const byCandidate = new Map([...body.rows].filter((row) => row.dataset.candidate !== undefined)
  .map((row) => [Number(row.dataset.candidate), row]));
const written = new Map([...byCandidate].map(([place, row]) => [place, [...row.cells].map((cell) => cell.innerHTML)]));
const trivial = body.querySelector("tr.baseline");

function checked(name) {
  return [...form.querySelectorAll(`input[name="${name}"]`)].filter((box) => box.checked).map((box) => Number(box.value));
}

function put(row, key, words, open) {
  const cell = row.querySelector(`[data-key="${key}"]`);
  cell.textContent = words;
  if (!open) return;
  const span = document.createElement("span");
  span.className = "interval";
  span.textContent = open;
  cell.append(" ", span);
}

const shown = (value) => (value === null ? "–" : value.toFixed(3));

function update() {
  const candidates = checked("candidate"), benchmarks = checked("benchmark");
  const hard = form.querySelector('input[name="hard"]')?.checked ?? false;
  const measure = form.querySelector('input[name="measure"]:checked').value;
  const whole = candidates.length === data.candidates.length && benchmarks.length === data.benchmarks.length && !hard;
  const found = standings(candidates, benchmarks, hard);
  const order = [...found.rows].sort((one, two) =>
    Math.abs(one[measure] - two[measure]) > SAME ? two[measure] - one[measure]
      : data.candidates[one.candidate] < data.candidates[two.candidate] ? -1 : 1);
  for (const [place, row] of byCandidate) {
    row.hidden = !candidates.includes(place);
    [...row.cells].forEach((cell, number) => { cell.innerHTML = written.get(place)[number]; });
  }
  for (const each of order) {
    const row = byCandidate.get(each.candidate);
    const there = whole ? data.places[data.candidates[each.candidate]]?.[measure] : undefined;
    const rank = each[`${measure}_rank`];
    put(row, "rank", rank === null ? "–" : String(rank), there ? `(${there.low} to ${there.high})` : "");
    put(row, "letters", there ? there.tie_group : "–");
    if (!whole) {
      for (const key of ["win_half", "win_or_tie", "win_sd", "macro", "macro_sd"]) put(row, key, shown(each[key]));
      row.querySelector("th .flag")?.remove();
    }
  }
  const rest = [...byCandidate.keys()].filter((place) => !order.some((each) => each.candidate === place));
  if (!whole) for (const place of found.unranked)
    for (const cell of byCandidate.get(place).querySelectorAll("[data-key]")) cell.textContent = "–";
  body.append(...order.map((each) => byCandidate.get(each.candidate)), ...rest.map((place) => byCandidate.get(place)));
  if (trivial) { body.append(trivial); trivial.hidden = !whole; }
  for (const part of document.querySelectorAll("#heat [data-candidate]"))
    part.hidden = !candidates.includes(Number(part.dataset.candidate));
  for (const row of document.querySelectorAll("#heat tbody tr[data-benchmark]"))
    row.hidden = !benchmarks.includes(Number(row.dataset.benchmark));
  for (const row of document.querySelectorAll("#heat tbody tr.category"))
    row.hidden = ![...document.querySelectorAll("#heat tbody tr[data-benchmark]")]
      .some((each) => !each.hidden && each.dataset.category === row.dataset.category);
  document.getElementById("chosen").textContent = whole ? ""
    : `${candidates.length} of ${data.candidates.length} candidates, ${benchmarks.length} of ${data.benchmarks.length} ` +
      `benchmarks${hard ? ", without items that a trivial answer gets right" : ""}. ` +
      "Intervals and tie groups belong to the whole table and are left out.";
}

form.addEventListener("change", (event) => {
  const box = event.target;
  if (box.name === "category" || box.name === "everybody")
    for (const each of box.closest("fieldset").querySelectorAll('input[name="benchmark"], input[name="candidate"]'))
      each.checked = box.checked;
  for (const group of form.querySelectorAll("details fieldset")) {
    const boxes = [...group.querySelectorAll('input[name="benchmark"], input[name="candidate"]')];
    const head = group.querySelector("legend input");
    head.checked = boxes.every((each) => each.checked);
    head.indeterminate = !head.checked && boxes.some((each) => each.checked);
  }
  update();
});
form.addEventListener("submit", (event) => event.preventDefault());
if (data.candidates.length > 0) { form.hidden = false; update(); }
window.leaderboard = { standings, update };

