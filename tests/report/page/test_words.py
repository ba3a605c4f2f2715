"""What a counterfactual is said to show."""

from __future__ import annotations

import pytest

from axonad.explain import Counterfactual
from axonad.report.page.words import describe_counterfactual, telling
from tests.report.page.pages import recording


@pytest.mark.parametrize(
    ("channels", "words"),
    [
        (("a",), "If a had been as expected, there would be no event"),
        (("a", "b"), "If a and b had been as expected"),
        ((), "No small set of channels explains the event alone (7 sets tried)"),
    ],
)
def test_counterfactuals(channels, words):
    said = describe_counterfactual(Counterfactual(channels, bool(channels), 5.0, 1.5, 7))
    assert words in said
    assert "peak at 1.5 instead of 5." in said


def test_an_event_without_an_explanation_names_its_channels():
    from dataclasses import replace

    event = replace(recording("a").events[0], sentence="", channels=("a", "b"))
    assert telling(event) == "a and b: unlike anything in training."
    assert "does not say" in telling(replace(event, channels=()))
