"""One event on the page: what, when, how long; its curves, relations, counterfactual and score."""

from __future__ import annotations

import numpy as np

from axonad.report.page.axis import position_text
from axonad.report.page.content import Curve, EventView, RecordingView, Scatter
from axonad.report.page.markup import Markup, element, name, names, sentence
from axonad.report.page.pictures import curve_picture, scatter_picture, share_bar
from axonad.report.page.top import badge
from axonad.report.page.words import heading, telling


def render_event(recording: RecordingView, event: EventView) -> Markup:
    """Return the section of an event."""
    title = element(
        "h3",
        element("a", f"#{event.number}", href=f"#{event.key}", class_="anchor"),
        " ",
        badge(event.severity),
        " ",
        element("span", heading(event), class_="kind"),
    )
    return element(
        "article",
        title,
        element("p", sentence(telling(event)), class_="telling"),
        _facts(recording, event),
        _plots(recording, event) if event.curves else None,
        element(
            "div",
            [_relation(scatter) for scatter in event.relations],
            _score(event) if np.isfinite(event.score) else None,
            class_="beside",
        ),
        id=event.key,
        class_=f"event {event.severity or 'alarm'}",
        tabindex="-1",
    )


def _facts(recording: RecordingView, event: EventView) -> Markup:
    facts = [
        ("recording", name(recording.source.name)),
        ("from", element("span", event.begins)),
        ("to", element("span", event.ends)),
        ("duration", element("span", event.duration)),
        ("channels", names(event.channels)),
    ]
    pairs = [
        element("div", element("dt", what), element("dd", value)) for what, value in facts if value
    ]
    return element("dl", pairs, class_="facts")


def _plots(recording: RecordingView, event: EventView) -> Markup:
    x = event.curves[0].x
    ends = [position_text(float(place), recording.axis) for place in (x[0], x[-1])]
    figures = [_figure(event, curve, place) for place, curve in enumerate(event.curves)]
    return element(
        "div",
        element("p", f"From {ends[0]} to {ends[1]}; the event is shaded.", class_="still note"),
        figures,
        class_="plots",
        data_group=event.key,
        tabindex="0",
        role="group",
        aria_label=f"curves of event {event.number}",
    )


def _figure(event: EventView, curve: Curve, place: int) -> Markup:
    return element(
        "figure",
        element(
            "figcaption",
            element("strong", name(curve.name)),
            " ",
            element("span", _describe(event, curve), class_="reading"),
        ),
        element("div", curve_picture(curve, first=event.first, last=event.last), class_="canvas"),
        class_="plot",
        data_curve=f"{place}",
    )


def _describe(event: EventView, curve: Curve) -> str:
    """Return the range of a channel during an event, and what was expected of it."""
    during = (curve.x >= event.first) & (curve.x < event.last)
    actual = curve.actual[during & np.isfinite(curve.actual)]
    if len(actual) == 0:
        return ""
    words = f"was {_range(actual)}"
    low, high = curve.low[during], curve.high[during]
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        words += f", expected {_number(low[known].min())} to {_number(high[known].max())}"
    return words


def _relation(scatter: Scatter) -> Markup:
    ratio = (
        f"The error is {scatter.ratio:.2g} times that of training."
        if np.isfinite(scatter.ratio)
        else ""
    )
    legend = element(
        "span", element("span", "training", class_="key then"),
        element("span", "now", class_="key now"), class_="legend",
    )  # fmt: skip
    return element(
        "figure",
        element("figcaption", element("strong", sentence(scatter.words)), " ", legend),
        scatter_picture(scatter),
        element("p", "Across: predicted from the other channels. Up: measured. ", ratio),
        class_="relation",
    )


def _score(event: EventView) -> Markup:
    """Return the score, its parts at its peak, and the counterfactual."""
    total = sum(max(0.0, value) for _, value in event.parts) or 1.0
    rows = [
        element(
            "tr",
            element("th", part, scope="row"),
            element("td", f"{value:.3g}", class_="number"),
            element("td", share_bar(value / total), class_="barcell"),
        )
        for part, value in event.parts
    ]
    what_if = element(
        "p", element("strong", "What if? "), sentence(event.counterfactual), class_="whatif"
    )
    return element(
        "div",
        element(
            "p",
            element("strong", f"Score {event.score:.3g}"),
            f", {event.score / event.threshold:.2g} times the threshold of {event.threshold:.3g}"
            if event.threshold > 0
            else f", threshold {event.threshold:.3g}",
            ". Its parts at the peak:" if rows else ".",
        ),
        element("table", element("tbody", rows), class_="parts") if rows else None,
        what_if if event.counterfactual else None,
        class_="score",
    )


def _range(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    low, high = _number(values.min()), _number(values.max())
    return low if low == high else f"{low} to {high}"


def _number(value: float) -> str:
    """Return a number with four digits.

    >>> _number(-2724.7), _number(0.0012345)
    ('−2725', '0.001234')
    """
    text = f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"
    return text.replace("-", "−")
