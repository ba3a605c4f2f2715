"""The HTML file: escaped, self-contained, complete without scripts, the same for the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from axonad.report.page import resources
from axonad.report.page.document import render
from axonad.report.page.gather import keep_strongest
from tests.report.page import pages
from tests.report.page.pages import HOSTILE, largest, page, recording, usual

MOST_BYTES = 3_000_000


class Outline(HTMLParser):
    """Collects elements, attributes and text; fails on elements that are not closed."""

    VOID = frozenset({"meta", "link", "br", "hr"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.open = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def outline(made):
    return Outline(render(made).decode())


def data_of(content):
    text = content.decode()
    return json.loads(re.search(r'id="numbers">(.*?)</script>', text, flags=re.DOTALL)[1])


def test_same_content_same_bytes():
    assert render(usual()) == render(usual())


def test_hostile_names_stay_text():
    calm = replace(usual(), recordings=(recording("a", channels=len(HOSTILE)),))
    attacked, tags = outline(pages.hostile()), set(outline(calm).tags)
    assert attacked.tags.count("script") == 2, "the numbers and our own script"
    assert set(attacked.tags) <= tags | {"li", "ul", "p", "noscript"}
    assert not [name for name, _ in attacked.attributes if name.startswith("on")]
    assert all(str(value).startswith("#") for name, value in attacked.attributes
               if name == "href" and value != "data:,")  # fmt: skip
    shown = " ".join(attacked.text)
    assert "<script>window.broken=1</script>" in shown
    assert "x" * 4001 not in shown, "long names are cut"
    assert len(render(pages.hostile())) < 600_000
    (numbers,) = data_of(render(pages.hostile()))["recordings"]
    assert numbers["channels"][2]["name"] == HOSTILE[2]


def test_no_connection_and_no_script_but_ours():
    text = render(usual()).decode()
    (policy,) = [value for _, value in Outline(text).attributes if "default-src" in str(value)]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    links = [value for name, value in Outline(text).attributes if name in ("src", "href")]
    assert all(link.startswith(("#", "data:,")) for link in links)
    anchors = {value for name, value in Outline(text).attributes if name == "id"}
    assert {link[1:] for link in links if link.startswith("#")} <= anchors


def test_everything_is_told_in_words():
    text = " ".join(outline(usual()).text)
    for words in (
        "4 events (1 critical, 2 alarm, 1 warning) in 30 min",
        "The budget of 1 per hour accepts 0.5 false events in this time",
        "Nothing unusual in 18 min",
        "bad.csv is empty",
        "channel_00 no longer follows channel_01 and channel_02.",
        "What if? ",
        "yaw_rate given steering_angle, vehicle_speed",
        "7.4 times that of training",
        "axonad report model drive.csv --out report.html",
        "No self-test was given",
        "7 missing values held",
        "relation",
        "frozen",
    ):
        assert words in text


def test_the_licence_of_the_plots_is_in_the_file():
    text = render(usual()).decode()
    assert "Copyright (c) 2022 Leon Sorokin" in text
    assert "THE SOFTWARE IS PROVIDED" in text


def test_the_largest_page_stays_small():
    made = largest()
    content = render(made)
    assert len(content) <= MOST_BYTES
    events = data_of(content)["events"]
    assert len(events) == 30
    assert all(len(event["curves"]) == 6 for event in events)


@pytest.mark.parametrize("made", [page(), page(recording("quiet.csv", events=0))])
def test_pages_without_events(made):
    assert "No events." in outline(made).text


def test_weak_events_have_a_line_and_links_lead_there():
    (kept,), listed = keep_strongest([recording("a.csv", events=5)], 2)
    made = outline(page(kept, listed_only=listed))
    ids = [value for name, value in made.attributes if name == "id"]
    assert {"e1", "e2", "e3", "e4", "e5"} <= set(ids)
    assert len(ids) == len(set(ids))
    assert made.tags.count("article") == 2 + 1
    assert "3 others are in the table only." in " ".join(made.text)


def test_drift_is_told_where_it_was_judged():
    one = recording("a.csv", events=0)
    said = replace(one, drift=("coolant_temperature drifts by 3 units per hour.",))
    assert "coolant_temperature drifts" in " ".join(outline(page(said)).text)
    assert "No drift." in " ".join(outline(page(replace(one, drift=()))).text)


def test_scripts_and_styles_are_short_files():
    folder = resources.files("axonad.report.page").joinpath("assets")
    for name in (*resources.SCRIPTS, *resources.STYLES):
        lines = folder.joinpath(name).read_text(encoding="utf-8").splitlines()
        assert len(lines) < 300
        assert max(map(len, lines)) <= 120
    with pytest.raises(ValueError, match="end tag"):
        resources.inlined("script", "x </SCRIPT> y")
