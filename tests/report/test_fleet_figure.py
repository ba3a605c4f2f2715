from __future__ import annotations

import numpy as np
import pytest

from axonad.alarms.event import AlarmEvent
from axonad.errors import InputError
from axonad.report.fleet_figure import VehicleScores, draw_fleet
from tests.report.figures import legend


def event(start, end, severity):
    return AlarmEvent(start=start, end=end, peak=start, score=3.0, channels=(), severity=severity)


def test_every_vehicle_has_a_lane_with_its_events(tmp_path, drawn):
    scores = np.linspace(0, 3, 100)
    fleet = {
        "car 1": VehicleScores(scores=scores, events=[event(80, 100, "critical")]),
        "car 2": VehicleScores(scores=scores[::-1] * 0.1),
    }
    draw_fleet(tmp_path / "fleet.png", fleet, threshold=2.0, title="two cars")
    (figure,) = drawn
    first, second = figure.axes
    assert [axis.get_ylabel() for axis in figure.axes] == ["car 1", "car 2"]
    assert [axis.texts[0].get_text() for axis in figure.axes] == ["1 event", "–"]
    assert first.lines[-1].get_xdata()[0] == pytest.approx(80, abs=0.5)
    assert len(second.lines) == 2, "score and threshold, no bar"
    assert first.get_ylim() == second.get_ylim()
    assert legend(figure) == ["score", "threshold", "event: critical"]
    with pytest.raises(InputError, match="at least one vehicle"):
        draw_fleet(tmp_path / "none.png", {}, threshold=2.0)
