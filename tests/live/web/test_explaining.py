"""Bands and explanations of a real detector, on the pages."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.baselines.pca import PCA
from axonad.data.series import Series
from axonad.live.engine.contract import Model
from axonad.live.record import Course
from axonad.live.web.expected import expect_of
from axonad.live.web.explaining import Explainer
from tests.live.web.client import make_client
from tests.live.web.fake_engine import SECOND, START, FakeEngine

NAMES = ("load", "heat", "current", "noise")


def drive(rows, *, seed):
    """Return rows in which heat and current follow the load."""
    rng = np.random.default_rng(seed)
    load = np.sin(np.arange(rows) / 25) + 0.3 * np.sin(np.arange(rows) / 7)
    columns = [load, 2 * load + 1, -load + 3, rng.normal(0, 1, rows)]
    return np.stack(columns, axis=1) + rng.normal(0, 0.03, (rows, 4))


@pytest.fixture(scope="module")
def detector():
    times = np.arange(3_000) * 0.1
    return PCA().fit(Series(values=drive(3_000, seed=1), channels=NAMES, times=times))


@pytest.fixture
def engine(detector):
    """A vehicle whose heat is stuck from second 40 to 50."""
    made = FakeEngine(channels=NAMES)
    made.model = Model("PCA", "f", NAMES, 0.1, float(detector.threshold_))
    made.add("car", rows=800)
    values = drive(800, seed=2)
    values[400:500, 1] = values[400, 1] + 3.0
    values[10:12, 3] = np.nan
    values = values.astype(np.float32)
    old = made.courses["car"]
    made.courses["car"] = Course(old.times, values, old.scores, old.alarms)
    begins = START + 40 * SECOND
    made.fired = made.fire(
        "car", begins=begins, ends=begins + 9_900_000, peak=begins + 5 * SECOND, channels=("heat",)
    )
    return made


def test_the_band_holds_normal_values_and_not_a_fault(detector, engine):
    values = engine.courses["car"].values.astype(float)
    low, high = expect_of(detector)(values)
    inside = (values >= low) & (values <= high)
    assert inside[20:380, 1].mean() > 0.85
    assert inside[420:480, 1].mean() < 0.05
    assert np.isfinite(low[20:]).all(), "a missing value leaves no hole in the other channels"
    assert np.isnan(expect_of(detector)(values[:1])[0]).all()


def test_the_page_of_an_event_tells_it_as_the_report_does(detector, engine):
    asked = []

    class Counted(Explainer):
        def _explain(self, course, event):
            asked.append(event.id)
            return super()._explain(course, event)

    client = make_client(engine, explain=Counted(detector), expect=expect_of(detector))
    text = client.page(f"/events/{engine.fired.id}").text
    assert '<p class="telling"><bdi>heat' in text
    assert '<path class="expected" d="M' in text
    assert "What if?" in text
    assert '"axis":"date"' in text
    client.page(f"/events/{engine.fired.id}")
    assert len(asked) == 1, "an explanation is made once"
    engine.drive("car", 200)
    assert client.page("/vehicles/car").text.count('<path class="band" d="M') == 4


def test_other_kinds_and_lost_rows_are_told_too(detector, engine):
    client = make_client(engine, explain=Explainer(detector))
    begins = START + 20 * SECOND
    data = engine.fire(
        "car",
        2,
        kind="data",
        reason="frozen",
        channels=("noise",),
        begins=begins,
        ends=begins + SECOND,
    )
    assert "noise: frozen" in client.page(f"/events/{data.id}").text
    drift = engine.fire(
        "car", 4, kind="drift", reason="noise shifted", score=float("nan"), begins=begins,
        ends=begins + SECOND,
    )  # fmt: skip
    text = client.page(f"/events/{drift.id}").text
    assert "no longer looks like training: noise shifted" in text and "nan" not in text
    old = engine.fire("car", 3, begins=5, ends=6, peak=5)
    assert "no longer stored" in client.page(f"/events/{old.id}").text
