// Sorts a table by the column whose title is pressed; without script the tables are as complete, only fixed.
for (const table of document.querySelectorAll("table.sortable")) {
  const titles = [...table.tHead.rows[0].cells];
  titles.forEach((title, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const rising = title.getAttribute("aria-sort") !== "ascending";
      titles.forEach((each) => each.removeAttribute("aria-sort"));
      title.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [one, two] = [value(a), value(b)];
        const [first, second] = [Number(one), Number(two)];
        const both = one !== "" && two !== "" && !Number.isNaN(first) && !Number.isNaN(second);
        const order = both ? first - second : one.localeCompare(two, undefined, { numeric: true });
        return rising ? order : -order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
// Who prints chooses the paper; `report.html#paper=letter` chooses it for a program that cannot, and `&whole` unfolds all.
const asked = /^#paper=(A4|letter)(&whole)?$/.exec(location.hash);
if (asked) document.head.append(Object.assign(document.createElement("style"), { textContent: `@page { size: ${asked[1]} }` }));
// Only what is unfolded is printed.
const unfold = (open) => document.querySelectorAll("details").forEach((each) => { each.open = open; });
if (asked?.[2]) unfold(true);
const place = document.querySelector("#unfold");
if (place) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Unfold everything" });
  button.addEventListener("click", () => unfold(true));
  place.append(button);
}
