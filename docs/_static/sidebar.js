// The sidebar keeps its place from page to page, which in a list of 200 densities is seldom where the page's own entry is.
window.addEventListener("load", () => {
  const sidebar = document.querySelector(".bd-sidebar-primary");
  const entry = sidebar?.querySelector(".bd-docs-nav li.current.active > a");
  if (!entry) return;
  const [frame, place] = [sidebar.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (place.top < frame.top || place.bottom > frame.bottom) sidebar.scrollTop += place.top - frame.top - frame.height / 2;
});
