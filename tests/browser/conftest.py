"""A real browser: Chromium, headless, driven by Playwright over its debugging protocol."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from axonad.report.page.document import render
from tests.report.page import pages

INSTALL = "install it (apt-get install chromium) or set AXONAD_CHROMIUM to its path"


def find_chromium() -> str | None:
    """Return the path of Chromium, None if there is none."""
    given = os.environ.get("AXONAD_CHROMIUM")
    return given or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    """A running browser, or a skip that says what is missing."""
    path = find_chromium()
    if path is None:
        pytest.skip(f"no Chromium to test the page in: {INSTALL}")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as driver:
        # Chromium refuses its sandbox to root, as in a container; the pages are our own files.
        options = ["--no-sandbox"] if os.getuid() == 0 else []
        running = driver.chromium.launch(executable_path=path, args=options)
        yield running
        running.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Return the file of an invented page."""
    folder, files = tmp_path_factory.mktemp("pages"), {}

    def write(name: str) -> Path:
        if name not in files:
            files[name] = folder / f"{name}.html"
            files[name].write_bytes(render(getattr(pages, name)()))
        return files[name]

    return write


class Opened:
    """A page in the browser, with everything it requested and complained about."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def show(self, selector):
        """Scroll to an element and wait until its plots are drawn."""
        self.page.locator(selector).scroll_into_view_if_needed()
        self.page.locator(f"{selector} .canvas.live canvas").first.wait_for()

    def range(self, selector, place=0):
        """Return the times that a plot shows: the labels of its axis cannot be read, so its state.

        Plots publish the stretch they show as attributes.
        """
        figure = self.page.locator(f"{selector} figure.plot").nth(place)
        return [float(figure.get_attribute(f"data-{name}")) for name in ("from", "to")]


@pytest.fixture
def open_page(browser, written):
    """Open an invented page from disk; it must neither request nor complain about anything."""
    opened = []

    def open_it(name: str = "usual", *, width: int = 1100, **options) -> Opened:
        one = Opened(browser, viewport={"width": width, "height": 900}, **options)
        file = written(name).as_uri()
        one.page.goto(file)
        opened.append((one, file))
        return one

    yield open_it
    for one, file in opened:
        assert one.requests == [file]
        assert one.complaints == []
        one.context.close()
