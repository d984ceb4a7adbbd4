"""The built site in Chromium, on a phone and on a desk, without a network."""

import json
from urllib.parse import urlsplit

import pytest

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
SEEN = """
const frames = [document.documentElement, ...document.querySelectorAll(".bd-article-container")];
const wide = Math.max(...frames.map(f => f.scrollWidth - f.clientWidth));
const unseen = [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src);
return [wide, unseen];
"""


@pytest.fixture
def phone(chromium):
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    yield chromium
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def requests(chromium):
    """The addresses that the browser has asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def test_every_page_on_a_phone(phone, site, address):
    """It shows all of its images, fits the screen, has nothing to say on the console, and asks no other machine."""
    errors, unseen, wide, asked = [], {}, {}, set()
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.parts:
            continue
        name = path.relative_to(site).as_posix()
        phone.get(f"{address}/{name}")
        too_wide, images = phone.execute_script(SEEN)
        errors += [f"{name}: {said['message']}" for said in phone.get_log("browser") if said["level"] in ("WARNING", "SEVERE")]
        wide |= {name: too_wide} if too_wide > 0 else {}
        unseen |= {name: images} if images else {}
        asked |= {*requests(phone)}
    assert errors == []
    assert unseen == {}
    assert wide == {}, "wider than the screen, by so many pixels"
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
