// Shows the items of one kind; without script all of them are there.
const cards = [...document.querySelectorAll("article.item")];
for (const line of document.querySelectorAll(".filters")) {
  line.hidden = false;
  for (const button of line.querySelectorAll("button")) {
    const kind = button.dataset.show;
    const count = kind === "all" ? cards.length : cards.filter((card) => card.dataset.kind === kind).length;
    button.textContent += ` (${count})`;
    button.disabled = count === 0;
    button.addEventListener("click", () => {
      line.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      cards.forEach((card) => { card.hidden = kind !== "all" && card.dataset.kind !== kind; });
    });
  }
}
