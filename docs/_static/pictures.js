// Pictures are as narrow as a phone: each leads to itself, to be seen large.
window.addEventListener("load", () => {
  for (const picture of document.querySelectorAll(".bd-article :is(p, figure) > img")) {
    const link = document.createElement("a");
    link.href = picture.src;
    picture.replaceWith(link);
    link.append(picture);
  }
});
