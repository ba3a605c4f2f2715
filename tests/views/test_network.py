"""The network view: units of each channel, held-out windows, both places."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.views.network import PLACES, Network, Units
from tests.conftest import waves

SIZES = {"window": 16, "d_model": 16, "heads": 2, "epochs": 2, "device": "cpu", "verbose": False}


@pytest.fixture(scope="module")
def fitted():
    return Network(**SIZES).fit(waves(400))


def naive_score(errors, mismatch, units):
    """Return the scores of windows by the formula, one after another."""
    scores = []
    for window, missed in zip(errors, mismatch, strict=True):
        worst = max(e / u for e, u in zip(window, units.channels, strict=True))
        above = max((worst - units.error.median) / units.error.unit, 0)
        surprise = max((missed - units.mismatch.median) / units.mismatch.unit, 0)
        scores.append(np.log1p(above) + 0.25 * np.log1p(surprise))
    return scores


@pytest.mark.parametrize("align", PLACES)
def test_scores_follow_the_formula_at_both_places(fitted, align):
    X = waves(80, seed=1)
    found, units = fitted._measure(X, [align]), fitted._units[align]
    naive = naive_score(found.errors[0], found.mismatch, units)
    fitted.align = align
    first = 15 if align == "end" else 8
    np.testing.assert_allclose(fitted.decision_function(X)[first : first + 65], naive, rtol=1e-9)
    fitted.align = "center"


def test_units_come_from_windows_that_end_in_validation_rows(fitted):
    X = waves(400)
    found = fitted._measure(X)
    held_out = found.errors[0, 320 - 16 + 1 :]
    high = np.quantile(held_out.astype(float), 0.99, axis=0)
    np.testing.assert_allclose(fitted._units["center"].channels, high, rtol=1e-9)


def test_learned_windows_are_measured_by_themselves(fitted):
    """Their scores reach as high as those of held-out windows, though their errors are smaller."""
    scores = fitted.decision_scores_
    learned, held_out = scores[20:300], scores[330:380]
    assert np.quantile(learned, 0.99) == pytest.approx(np.log(2), abs=0.5)
    assert np.quantile(held_out, 0.99) == pytest.approx(np.log(2), abs=0.5)


def test_a_channel_without_error_gets_the_smallest_unit():
    errors = np.column_stack([np.linspace(0, 1, 101), np.zeros(101)])
    units = Units.fit(errors, np.linspace(0, 1, 101))
    np.testing.assert_allclose(units.channels, [0.99, 0.99e-3])


def test_the_worst_channel_is_blamed_first(fitted):
    X = waves(120, seed=2)
    X[60:70, 1] += 3
    found = fitted.explain(X)
    assert np.argmax(found.blame[65]) == 1
    assert set(found.components) == {"error", "mismatch"}
    np.testing.assert_allclose(sum(found.components.values()), found.scores)


def test_a_series_too_short_for_validation_is_measured_by_its_own_windows():
    detector = Network(**SIZES).fit(waves(18))
    assert np.isfinite(detector.decision_scores_).all()
