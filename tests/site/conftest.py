"""The built site, a server of it, and a browser. `make docs-test` demands all of them by --site; else what lacks is skipped."""

import os
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "docs" / "_build" / "html"
SCREENS = {
    "phone": {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True},
    "desk": {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False},
}


def pytest_addoption(parser):
    parser.addoption("--site", type=Path, help="folder of the built site, which has to be there, and so has Chromium")


@pytest.fixture(scope="session")
def lacking(pytestconfig):
    """What is called with what lacks: an error where the site's test was asked for, else a reason to skip."""
    return pytest.fail if pytestconfig.getoption("--site", None) else pytest.skip


@pytest.fixture(scope="session")
def site(pytestconfig, lacking):
    folder = (pytestconfig.getoption("--site", None) or BUILT).resolve()
    if not (folder / "index.html").exists():
        lacking(f"the site is not in {folder}: make docs")
    built = (folder / "searchindex.js").stat().st_mtime
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")]
    newer = [page for page in pages if page.stat().st_mtime > built]
    if newer:
        lacking(f"the site in {folder} is older than {newer[0].relative_to(ROOT)}: make docs")
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Of the site on a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def chromium(site, lacking):
    """A browser that reaches this machine only, and keeps a log of its console and of its requests."""
    try:
        from selenium import webdriver
    except ImportError:
        lacking("selenium is not installed: pip install '.[docs-test]'")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if not browser or not driver:
        lacking("Chromium or its driver is not installed: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.add_argument("--headless=new")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    options.add_argument("--disable-dev-shm-usage")  # containers have little of it
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # root has none
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as chromium:
        chromium.set_page_load_timeout(120)
        yield chromium


@pytest.fixture(params=SCREENS)
def screen(chromium, request):
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SCREENS[request.param])
    yield chromium
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
