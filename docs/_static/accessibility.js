// What screen readers say of the theme's buttons that are signs alone, or show more words than their label has, and of references;
// and long formulas, which the keys of arrows are to move.
window.addEventListener("load", () => {
  for (const toggle of document.querySelectorAll(".bd-docs-nav summary"))
    toggle.ariaLabel = `Pages of ${toggle.closest("li").querySelector("a").textContent.trim()}`;
  for (const button of document.querySelectorAll(".search-button-field"))
    button.ariaLabel = button.textContent.trim().replace(/\s+/g, " ");
  for (const reference of document.querySelectorAll(".citation-list > .citation")) reference.role = "listitem";
  for (const formula of document.querySelectorAll(".math-block"))
    if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
});
