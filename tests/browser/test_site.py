"""The documentation in a browser: search works, and nothing is asked of other servers."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.docs.building import build_site

pytestmark = pytest.mark.browser


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = build_site(tmp_path_factory.mktemp("site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_search_leads_to_a_page_without_asking_other_servers(browser, address):
    page = browser.new_page()
    asked, broken = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.goto(f"{address}/index.html")
    search = page.get_by_role("textbox", name="Search").first
    found = page.locator("a.md-search-result__link").first
    for turn in range(200):
        if turn % 20 == 0:  # what is typed before the page's scripts have started is not searched
            search.fill("")
            search.fill("commit_every")
        page.wait_for_timeout(300)
        if found.is_visible():
            break
    found.click()
    page.wait_for_url("**/reference/configuration.html*")
    assert "commit_every" in page.locator("article").inner_text()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert broken == []
    page.close()
