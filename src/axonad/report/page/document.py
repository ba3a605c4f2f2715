"""The whole page as one HTML document: same content, same bytes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from axonad.report.page import resources
from axonad.report.page.content import EventView, Page, RecordingView
from axonad.report.page.curves import points_within, thinned
from axonad.report.page.event_section import render_event
from axonad.report.page.markup import Child, Markup, element, join, shorten
from axonad.report.page.packing import Packed, number, pack, pack_band, pack_positions
from axonad.report.page.rest import (
    render_card,
    render_commands,
    render_data,
    render_recording,
    render_selftest,
)
from axonad.report.page.top import (
    render_event_table,
    render_fleet,
    render_timeline,
    render_verdicts,
    summary,
)

NO_SCRIPT = "Without JavaScript the plots are static; all text and tables are here."
KEYS = (
    ("j, k", "next, previous event"),
    ("+, −", "zoom the plots in focus"),
    ("←, →", "move along"),
    ("0", "whole plot"),
)


def render(page: Page) -> bytes:
    """Return the page as the bytes of an HTML file."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        resources.policy(),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content=f"axonad {page.version}"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{shorten(page.title)}: {summary(page)}"),
        resources.inlined("style", resources.style()),
    )
    body = element(
        "body",
        element("a", "Skip to the events", href="#events", class_="skip"),
        _header(page),
        element("main", _main(page)),
        _footer(page),
        data_block(page),
        resources.inlined("script", resources.script()),
    )
    text = f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
    return text.encode("utf-8")


def _header(page: Page) -> Markup:
    places = [("verdict", "Verdict"), ("timeline", "Timeline"), ("events", "Events"),
              ("selftest", "Self-test"), ("data", "Data"), ("model", "Model"),
              ("reproduce", "Reproduce")]  # fmt: skip
    links = [element("a", text, href=f"#{anchor}") for anchor, text in places]
    return element(
        "header",
        element("h1", element("bdi", shorten(page.title))),
        element("nav", links, aria_label="sections"),
        element("noscript", element("p", NO_SCRIPT, class_="note")),
    )


def _main(page: Page) -> list[Child]:
    few = (
        element("p", f"The strongest events have a section below; {page.listed_only:,} others are "
                "in the table only.", class_="note")
        if page.listed_only else None
    )  # fmt: skip
    details = [render_event(*pair) for pair in page.events if not pair[1].is_listed_only]
    whole = element(
        "section",
        element("h2", "Whole recordings"),
        [render_recording(recording) for recording in page.recordings],
        id="whole",
        class_="needs-script",
    )
    return [
        render_verdicts(page),
        render_timeline(page),
        render_fleet(page),
        render_event_table(page),
        few,
        element("section", details, class_="details") if details else None,
        whole if page.recordings else None,
        render_selftest(page),
        render_data(page),
        render_card(page),
        render_commands(page),
    ]


def _footer(page: Page) -> Markup:
    keys = [
        element("span", element("kbd", key), f" {what}", class_="shortcut") for key, what in KEYS
    ]
    return element(
        "footer",
        element("p", join(keys), class_="needs-script"),
        element("p", f"Written by axonad {page.version}. Plots: uPlot, MIT licence, in this file. "
                "This page requests nothing from anywhere."),
    )  # fmt: skip


def data_block(page: Page) -> Markup:
    """Return the numbers of the plots as JSON, in which no text can end the element."""
    most = points_within(curve for _, event in page.events for curve in event.curves)
    document = {
        "recordings": [_recording_data(recording) for recording in page.recordings],
        "events": [_event_data(*pair, most) for pair in page.events if pair[1].curves],
    }
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    opened = '<script type="application/json" id="numbers">'
    return Markup(f"{opened}{text}</script>")


def _recording_data(recording: RecordingView) -> Packed:
    view = recording.overview
    return {
        "key": recording.key,
        "axis": recording.axis,
        "threshold": number(recording.threshold),
        "x": pack_positions(view.x),
        "score": pack(view.score),
        "channels": [{"name": shorten(name), "v": pack(values)} for name, values in view.channels],
        "events": [[e.first, e.last] for e in recording.events],
    }


def _event_data(recording: RecordingView, event: EventView, most: int) -> Packed:
    curves: list[dict[str, Any]] = []
    for whole in event.curves:
        curve = thinned(whole, most)
        one: dict[str, Any] = {"name": shorten(curve.name), "actual": pack(curve.actual)}
        if not curves or not np.array_equal(whole.x, event.curves[0].x):
            one["x"] = pack_positions(curve.x)
        if curve.has_expectation:
            below, above = pack_band(curve.expected, curve.low, curve.high)
            one |= {"expected": pack(curve.expected), "below": below, "above": above}
        curves.append(one)
    return {
        "key": event.key,
        "axis": recording.axis,
        "during": [event.first, event.last],
        "curves": curves,
    }
