"""M2N2's adaptation."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad.errors import ConfigError
from axonad.testing import CHECKS
from tests.baselines.detectors import make_quick
from tests.conftest import waves
from tests.fuzz.forging import forge


def test_m2n2_learns_a_new_normal_and_forgets_it_again():
    detector = make_quick("M2N2", batch_size=4, epochs=10, lr=1e-2, limit=1.0, momentum=0.8)
    X = waves(900, seed=1)
    X[200:] += 0.5
    detector.fit(waves(400))
    first = detector.decision_function(X)
    np.testing.assert_array_equal(detector.decision_function(X), first)
    still = make_quick("M2N2", **{**detector.get_params(), "adapt": False}).fit(waves(400))
    assert first[700:].mean() < 0.5 * still.decision_function(X)[700:].mean()


def test_m2n2_runs_live_only_where_it_does_not_adapt():
    assert "it adapts to what it scores" in make_quick("M2N2").why_not_causal
    with pytest.raises(ConfigError, match="M2N2 cannot run live"):
        axonad.StreamScorer(make_quick("M2N2").fit(waves(200)))
    CHECKS["stream_equals_batch"](lambda: make_quick("M2N2", adapt=False))
    CHECKS["causal_claim_holds"](lambda: make_quick("M2N2", adapt=False))


def test_a_batch_may_be_larger_than_any_series(tmp_path):
    detector = make_quick("M2N2", epochs=1, batch_size=64).fit(waves(60))
    detector.save(tmp_path)
    forge(tmp_path / "detector.json", params={**detector.get_params(), "batch_size": 2**63})
    scores = axonad.load(tmp_path).decision_function(waves(60))
    np.testing.assert_array_equal(scores, detector.decision_function(waves(60)))
