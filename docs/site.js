// A table that is wider than a phone scrolls by itself: the keyboard must reach it too.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const reach = () => table.closest(".md-typeset__scrollwrap")?.setAttribute("tabindex", "0");
    reach();
    requestAnimationFrame(reach);
    setTimeout(reach, 50);
  }
});
