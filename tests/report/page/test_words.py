"""What a counterfactual is said to show."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from axonad.report.page.words import describe_counterfactual, telling
from tests.report.page.pages import recording


@pytest.mark.parametrize(
    ("channels", "vanishes", "words"),
    [
        (("a",), True, "If a had been as expected, there would be no event"),
        (("a", "b"), True, "If a and b had been as expected"),
        (("a",), False, "Even if a had been as expected, the event would remain"),
        ((), False, "No small set of channels explains the event alone (7 sets of channels tried)"),
    ],
)
def test_counterfactuals(channels, vanishes, words):
    found = SimpleNamespace(
        channels=channels, vanishes=vanishes, score_before=5.0, score_after=1.5, tried=7
    )
    said = describe_counterfactual(found)
    assert words in said
    assert ("instead of 5" in said) == bool(channels)


def test_an_event_without_an_explanation_names_its_channels():
    from dataclasses import replace

    event = replace(recording("a").events[0], sentence="", channels=("a", "b"))
    assert telling(event) == "a and b: unlike anything in training."
    assert "does not say" in telling(replace(event, channels=()))
