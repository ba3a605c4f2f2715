"""Parts of a score and kinds of faults get their own metrics."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.bench import detection
from axonad.bench.evaluation import evaluate_detection
from axonad.bench.sources import SeriesRef, load
from axonad.metrics import evaluate
from tests.bench.jobs import make_job


def test_parts_and_the_score_at_the_end_are_evaluated_alone():
    job = make_job()
    series = load(job.series)
    detector = job.make_detector().fit(series.values[:1000])
    row = evaluate_detection(job, series, detection.score(series, detector, fit_seconds=0.1))
    labels = series.labels[1000:]
    d_rec = detector.components(series.values[1000:])["d_rec"]
    detector.set_params(align="end")
    at_end = detector.decision_function(series.values[1000:])
    for name, scores in (("d_rec", d_rec), ("end", at_end)):
        expected = evaluate(scores, labels, window=20)["VUS-PR"]
        assert row.parts[name] == pytest.approx(expected, abs=2e-6)
    assert set(row.parts) == {"d_rec", "d_q", "end"}


def test_kinds_of_faults_are_compared_with_normal_steps():
    ref = SeriesRef(
        source="telemetry",
        name="telemetry-5",
        dataset="telemetry",
        seed=5,
        options={"steps": 16000},
    )
    job = make_job(series=ref)
    series = load(ref)
    found = detection.detect(job, series)
    row = evaluate_detection(job, series, found)
    assert set(row.kinds) == {event.kind for event in series.events}
    assert sum(kind["events"] for kind in row.kinds.values()) == len(series.events)
    kind = series.events[0].kind
    wanted, other = np.zeros(8000, dtype=bool), np.zeros(8000, dtype=bool)
    for event in series.events:
        for step in range(event.start - 8000, event.end - 8000):
            if event.kind == kind:
                wanted[step] = True
            else:
                other[max(0, step - 10) : step + 11] = True  # half a VUS window around it
    keep = wanted | ~other
    naive = evaluate(found.scores[keep], wanted[keep].astype(int), window=20)["VUS-PR"]
    assert row.kinds[kind]["VUS-PR"] == pytest.approx(naive, abs=2e-6)
