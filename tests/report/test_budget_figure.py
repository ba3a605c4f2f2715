from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.report.budget_figure import budget_curve, draw_budget
from tests.report.figures import legend


def scored():
    """An hour of rows at 1 Hz: two faults of scores 5 and 2, false peaks of 3 and 1."""
    scores, labels = np.zeros(3_720), np.zeros(3_720, dtype=np.int8)
    for row, score, label in ((500, 5, 1), (1_500, 3, 0), (2_500, 2, 1), (3_000, 1, 0)):
        scores[row : row + 60] = score
        labels[row : row + 60] = label
    return scores, labels


def test_a_curve_trades_faults_found_for_false_events():
    curve = budget_curve(*scored(), seconds_per_step=1.0)
    assert curve.found_at(0.5) == 0.5, "the strong fault, above the first false peak"
    assert curve.found_at(1.0) == 1.0
    assert curve.false_per_hour.max() == pytest.approx(2.0)
    assert (np.diff(curve.thresholds) < 0).all()


def test_an_alarm_that_is_always_on_finds_nothing():
    flickering = np.where(np.arange(3_720) % 2, 1.0, 0.5)
    curve = budget_curve(flickering, scored()[1], seconds_per_step=1.0, gap=1)
    assert curve.found.max() == 0
    assert curve.false_per_hour.max() == pytest.approx(1.0), "one event that never ends"


def test_faults_within_the_budget_are_in_the_legend(tmp_path, drawn):
    curve = budget_curve(*scored(), seconds_per_step=1.0)
    draw_budget(tmp_path / "budget.png", {"ours": curve}, budget=0.5, title="trade-off")
    assert legend(drawn[0]) == ["ours: 50 %"]
    with pytest.raises(InputError, match="at least one labelled fault"):
        budget_curve(np.zeros(9), np.zeros(9), seconds_per_step=1.0)
