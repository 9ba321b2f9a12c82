// Buttons that copy a link; without scripts the link is selected and copied by hand.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    let isCopied = false;
    try {
      await navigator.clipboard.writeText(field.value);
      isCopied = true;
    } catch {
      isCopied = document.execCommand("copy"); // over http there is no clipboard but this
    }
    button.parentElement.querySelector("[role=status]").textContent = isCopied ? button.dataset.done : button.dataset.failed;
  });
}
