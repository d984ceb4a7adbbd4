"""The built site in Chromium, on a phone and on a desk, without a network."""

import json
from urllib.parse import urlsplit

import pytest

SEEN = """
const frames = [document.documentElement, ...document.querySelectorAll(".bd-article-container")];
const wide = Math.max(...frames.map(f => f.scrollWidth - f.clientWidth));
const unseen = [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src);
const within = e => {  // whether something around an element scrolls, and is itself on the screen
  for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
    if (getComputedStyle(p).overflowX !== "visible" && p.getBoundingClientRect().right <= innerWidth + 1) return true;
  return false;
};
const out = [...document.querySelectorAll(".bd-article-container *")].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !within(e);
}).map(e => e.tagName);
const cut = [...document.querySelectorAll(".bd-article :is(pre, table, img)")].filter(e => {
  const frame = e.closest("pre, .pst-scrollable-table-container, .sd-card") ?? e.parentElement;
  return e.tagName === "IMG" ? e.getBoundingClientRect().right > innerWidth + 1
    : frame.scrollWidth > frame.clientWidth + 1 && !["auto", "scroll"].includes(getComputedStyle(frame).overflowX);
}).map(e => e.tagName);
return [wide, unseen, [...out, ...cut]];
"""


def requests(chromium):
    """The addresses that the browser has asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def test_every_page_fits(screen, site, address):
    """It shows all of its images, fits the screen, has nothing to say on the console, and asks no other machine.

    Code and tables that are wider scroll within themselves; pictures are as narrow as the page.
    """
    errors, unseen, wide, asked, cut = [], {}, {}, set(), {}
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.parts:
            continue
        name = path.relative_to(site).as_posix()
        screen.get(f"{address}/{name}")
        too_wide, images, parts = screen.execute_script(SEEN)
        errors += [f"{name}: {said['message']}" for said in screen.get_log("browser") if said["level"] in ("WARNING", "SEVERE")]
        cut |= {name: parts} if parts else {}
        wide |= {name: too_wide} if too_wide > 0 else {}
        unseen |= {name: images} if images else {}
        asked |= {*requests(screen)}
    assert errors == []
    assert unseen == {}
    assert wide == {}, "wider than the screen, by so many pixels"
    assert cut == {}, "these parts end beyond the screen"
    hosts = {urlsplit(url).netloc for url in asked if urlsplit(url).scheme not in ("data", "blob")}
    assert hosts == {urlsplit(address).netloc}


FOUND = {
    "negative_binomial": "distributions/negative_binomial", "Cholesky": "api/_generated/gpustats.linalg.cholesky",
    "Vecchia": "decisions/vecchia",
}  # fmt: skip


@pytest.mark.parametrize("words", FOUND)
def test_search(chromium, address, words):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    chromium.get(f"{address}/search.html?q={words}")
    link = f'#search-results li a[href^="{FOUND[words]}.html"]'
    WebDriverWait(chromium, 60).until(lambda c: c.find_elements(By.CSS_SELECTOR, link), f"search does not find {FOUND[words]}")


FIRST = {
    "standard errors": "api/_generated/gpustats.fits.estimates.Estimates",
    "random effects": "api/_generated/gpustats.mixed.estimates.MixedEstimates",
    "logistic regression": "api/_generated/gpustats.GLM", "model comparison": "api/_generated/gpustats.loo",
}  # fmt: skip


@pytest.mark.parametrize("words", FIRST)
def test_search_by_other_words(chromium, address, words):
    """What has another name is among the first five results."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    chromium.get(f"{address}/search.html?q={words.replace(' ', '+')}")
    WebDriverWait(chromium, 60).until(lambda c: len(c.find_elements(By.CSS_SELECTOR, "#search-results li")) >= 5)
    links = "return [...document.querySelectorAll('#search-results li > a')].map(a => a.href)"
    first = chromium.execute_script(links)[:5]
    assert any(FIRST[words] in link for link in first), first


@pytest.mark.parametrize("link", ["guides/glm.html#groups", "distributions/index.html#the-real-line"])
def test_anchors_are_scrolled_to(chromium, address, link):
    chromium.get(f"{address}/{link}")
    top = chromium.execute_script("return document.querySelector(':target').getBoundingClientRect().top")
    assert 0 <= top < 300 and chromium.execute_script("return window.scrollY") > 0


def test_formulas_have_their_font(chromium, address):
    """Without one for formulas, braces stay as small as the letters."""
    chromium.get(f"{address}/distributions/laplace.html")
    loaded = "return document.fonts.ready.then(fonts => [...fonts].map(font => [font.family, font.status]))"
    assert ["STIX Two Math", "loaded"] in [[family.strip('"'), status] for family, status in chromium.execute_script(loaded)]


def test_the_sidebar_shows_the_entry_of_a_page(chromium, address):
    """Also where it was scrolled to something else on the page before."""
    for name in ("anglit", "zipf"):
        chromium.get(f"{address}/distributions/{name}.html")
        entry = "return document.querySelector('.bd-docs-nav li.current.active > a').getBoundingClientRect().top"
        assert 0 < chromium.execute_script(entry) < chromium.execute_script("return window.innerHeight")
