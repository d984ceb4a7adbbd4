"""Links, anchors, titles and images of the built site, read from its HTML."""

import pytest
from site_pages import Page, leads_outside, target


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}


def said(page, site):
    return page.path.relative_to(site)


def test_links_lead_to_pages_and_to_anchors_in_them(pages, site):
    broken = set()
    for page in pages.values():
        for link in page.links:
            if leads_outside(link):
                continue
            file, anchor = target(page, link)
            if not file.exists() or file in pages and anchor and anchor not in pages[file].anchors:
                broken.add(f"{said(page, site)}: {link}")
    assert sorted(broken) == []


def test_what_a_page_is_made_of_is_local(pages, site):
    outside = {f"{said(p, site)}: {part}" for p in pages.values() for part in p.parts if leads_outside(part)}
    assert sorted(part for part in outside if ": data:" not in part) == []
    missing = {f"{said(p, site)}: {part}" for p in pages.values() for part in p.parts if not target(p, part)[0].exists()}
    assert sorted(part for part in missing if ": data:" not in part) == []


def test_images_say_what_they_show(pages, site):
    assert [f"{said(p, site)}: {image}" for p in pages.values() for image, text in p.images if not (text or "").strip()] == []


def test_every_page_has_a_title_and_one_first_heading(pages, site):
    assert [str(said(p, site)) for p in pages.values() if not p.title.strip()] == []
    assert {str(said(p, site)): p.headings for p in pages.values() if p.headings != 1} == {}
