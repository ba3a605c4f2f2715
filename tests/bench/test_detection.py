"""Scores and their cost: what is fitted, what is saved."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from axonad.bench import detection
from axonad.bench.execute import execute
from axonad.bench.sources import load
from axonad.detector import Detector
from tests.bench.jobs import make_job


def test_trained_on_the_series_means_on_what_is_scored(monkeypatch):
    seen = []
    fit = Detector.fit
    monkeypatch.setattr(
        "axonad.detector.Detector.fit", lambda self, X: (seen.append(X.copy()), fit(self, X))[1]
    )
    job = make_job(trained_on="series")
    assert execute(job).trained_on == "series"
    assert np.array_equal(seen[0], load(job.series).values[1000:])


def make_detection(**changes):
    values = {
        "scores": np.array([0.5, 1.5]), "parts": {"d_q": np.array([0.25, 1.0])}, "threshold": 1.0,
        "window": 8, "scaling": "soft", "align": "center", "fit_seconds": 0.1,
        "score_seconds": 0.2, "memory_mb": None, "device_memory_mb": 3.5, "device": "cpu",
        "threads": 1, "packages": "", "fingerprint": "ab", "version": "0.1.0", "commit": "",
    }  # fmt: skip
    return detection.Detection(**{**values, **changes})


def test_a_saved_detection_is_read_as_it_was(tmp_path):
    detection.save(make_detection(threshold=9.0), tmp_path / "d")
    detection.save(make_detection(), tmp_path / "d")
    found = detection.read(tmp_path / "d")
    assert found.scores.tolist() == [0.5, 1.5]
    assert found.parts["d_q"].tolist() == [0.25, 1.0]
    plain = replace(found, scores=None, parts={})
    assert plain == make_detection(scores=None, parts={})


def test_what_cannot_be_used_is_no_detection(tmp_path):
    assert detection.read(tmp_path / "none") is None
    detection.save(make_detection(), tmp_path / "d")
    path = tmp_path / "d" / "detection.json"
    document = json.loads(path.read_text())
    del document["detection"]["threshold"]
    path.write_text(json.dumps(document))
    assert detection.read(tmp_path / "d") is None, "saved by another version"


def test_rows_to_fit_on_are_the_prefix_or_what_is_scored():
    series = load(make_job().series)
    prefix, scored = (
        detection.training_rows(make_job(trained_on=kind), series) for kind in ("prefix", "series")
    )
    assert np.array_equal(prefix, series.values[: series.train_steps])
    assert np.array_equal(scored, series.values[series.scored_from :])
