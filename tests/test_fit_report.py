from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import axonad
from axonad import AxonAD, fit_many, make_detector
from axonad.data.series import Series
from axonad.errors import InputError
from axonad.fit_report import FitReport, HeldOut
from axonad.registry import REGISTRY
from tests.conftest import SMALL, waves
from tests.quick import QUICK

PLAIN = FitReport(
    rows=1000, channels=3, windows=901, constant=(), nearly_constant=(), threshold=9.0, rule="pot",
    rate=1e-3, above=2, median=1.0, held_out=HeldOut(rows=200, above=1, events=1),
    training_errors=(), validation_errors=(0.5, 0.25), kept_epoch=2,
)  # fmt: skip


def test_a_report_is_a_few_plain_lines():
    assert str(PLAIN).splitlines() == [
        "1000 rows, 3 channels, 901 windows",
        "threshold 9 (pot, rate 0.001): 2 of 1000 training steps above it (0.2 %)",
        "held out, the last 200 rows: 1 above it (0.5 %), 1 event",
        "validation error by epoch: 0.5, 0.25",
        "kept the weights of epoch 2",
    ]


def test_many_epochs_are_one_short_line():
    errors = (*(1 / epoch for epoch in range(1, 41)), 0.5)
    report = replace(PLAIN, training_errors=errors, validation_errors=())
    line = "training error by epoch: 1 first, 0.025 best (epoch 40), 0.5 last (41 epochs)"
    assert line in str(report).splitlines()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": 0.0, "median": 0.0}, "the threshold 0 is not above the median training sc"),
        ({"threshold": 1.0}, "the threshold 1 is not above the median training score 1"),
        ({"threshold": 0.0, "median": -1.0}, "the threshold is 0"),
        ({"held_out": HeldOut(rows=200, above=3, events=2)}, "1.5 % of the held-out steps lie"),
        ({"constant": ("a",)}, "a channel is constant in the training data: a"),
        ({"nearly_constant": tuple("abcdefg")}, "7 channels are nearly constant in the training d"),
    ],
)
def test_what_looks_wrong_is_a_warning(changes, said):
    assert PLAIN.warnings == ()
    (warning,) = replace(PLAIN, **changes).warnings
    assert warning.startswith(said)
    assert str(replace(PLAIN, **changes)).splitlines()[-1] == f"warning: {warning}"


def named(rows: int) -> Series:
    X = np.column_stack([waves(rows), np.full(rows, 4.0), 4 + 1e-7 * waves(rows, 1)])
    return Series(values=X, channels=("a", "b", "c", "still", "nearly"))


def test_a_network_reports_its_held_out_rows(tmp_path):
    detector = AxonAD(**SMALL, contamination=0.01).fit(named(300))
    report = detector.fit_report_
    assert (report.rows, report.channels, report.windows) == (300, 5, 285)
    assert (report.constant, report.nearly_constant) == (("still",), ("nearly",))
    assert (report.threshold, report.rule, report.rate) == (detector.threshold_, "pot", 0.01)
    assert report.above == detector.labels_.sum()
    late = detector.labels_[240:]
    events = int((np.diff(late, prepend=0) == 1).sum())
    assert report.held_out == HeldOut(rows=60, above=int(late.sum()), events=events)
    assert report.validation_errors == tuple(detector.training_.validation)
    assert len(report.validation_errors) == 2
    assert report.kept_epoch == detector.training_.kept_epoch
    detector.save(tmp_path / "m")
    assert not hasattr(axonad.load(tmp_path / "m"), "fit_report_")


def test_fit_many_reports_on_each_detector():
    detectors = fit_many([AxonAD(**SMALL), AxonAD(**SMALL | {"tail": 5})], [waves(120), waves(120)])
    assert [d.fit_report_.threshold for d in detectors] == [d.threshold_ for d in detectors]


def test_baselines_report_errors_by_epoch_or_none():
    report = make_detector("USAD", **QUICK["USAD"]).fit(waves(200)).fit_report_
    assert len(report.training_errors) == len(report.validation_errors) == 2
    assert report.held_out is not None
    plain = make_detector("ControlChart").fit(waves(200)).fit_report_
    assert (plain.held_out, plain.kept_epoch, plain.validation_errors) == (None, None, ())
    assert "nan" not in str(plain)


@pytest.mark.parametrize("name", [entry.name for entry in REGISTRY])
@pytest.mark.parametrize("X", [np.zeros((400, 2)), np.full((400, 1), 0.1)], ids=["two", "one"])
def test_nothing_is_learned_from_constants(name, X):
    detector = make_detector(name, **QUICK.get(name, {}))
    with pytest.raises(InputError, match=r"nothing to learn from .* constant in its 400 rows; fit"):
        detector.fit(X)
    assert not hasattr(detector, "threshold_")
