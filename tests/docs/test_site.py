"""The built site: no warnings, no dead links, nothing from elsewhere, and a search that finds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.building import build_site

pytestmark = pytest.mark.site
LOADING = {
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}


class Page(HTMLParser):
    """Collects ids, links and what a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        for name, value in attrs:
            if (tag, name) in LOADING and value and found.get("rel") not in NOT_LOADED:
                self.loaded.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built as `make site` does."""
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_link_leads_somewhere(site, pages):
    dead = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of the server
            continue
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids | {"__top", ""}
            ):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for path, page in pages.items():
        away = [link for link in page.loaded if "//" in link]
        assert away == [], path.relative_to(site)
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", text), sheet.name


def test_search_finds_commands_keys_and_names(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    texts = {entry["location"]: f"{entry['title']} {entry['text']}" for entry in index["docs"]}
    for word, page in {
        "axonad recalibrate": "reference/commands.html",
        "commit_every": "reference/configuration.html",
        "Fleet": "reference/api.html",
        "CrossChannelRidge": "reference/detectors.html",
        "Affiliation-F1": "reference/metric-list.html",
        "Ranks of detectors": "gallery.html",
    }.items():
        places = [place for place, text in texts.items() if word in text]
        assert any(place.startswith(page) for place in places), (word, places)


def test_the_configuration_page_has_every_key_with_its_meaning(site):
    text = (site / "reference" / "configuration.html").read_text(encoding="utf-8")
    assert "samples scored and stored together at most" in text
    assert "<code>8757</code>" in text
    assert "<code>20000</code>" in text
    assert "<td></td>" not in text, "each key has a comment in live/config.py"
