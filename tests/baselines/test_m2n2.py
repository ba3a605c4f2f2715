"""M2N2's adaptation."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

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
        axonad.Session(make_quick("M2N2").fit(waves(200)))
    CHECKS["stream_equals_batch"](lambda: make_quick("M2N2", adapt=False))
    CHECKS["causal_claim_holds"](lambda: make_quick("M2N2", adapt=False))


def test_without_overlap_each_row_is_scored_at_its_place_in_windows_that_follow_one_another():
    detector = make_quick("M2N2", overlap=False, batch_size=3, lr=0.05, limit=0.7, momentum=0.9)
    detector.fit(waves(400))
    X = waves(100, seed=1)  # 8 windows of 12 rows, and 4 rows more
    net = copy.deepcopy(detector._net).requires_grad_(requires_grad=True)
    rows = torch.from_numpy(detector._scaler.apply(X))
    expected = []
    for start in range(0, 96, 36):
        x = torch.stack([rows[i : i + 12] for i in range(start, min(start + 36, 96), 12)])
        net.level += 0.1 * (x.mean((0, 1)) - net.level)
        error = (net(x) - x).square().mean(-1)
        expected += error.detach().flatten().tolist()
        loss = sum(e for e in error.flatten() if e < net.limit) / error.numel()
        for weight, slope in zip(
            net.parameters(), torch.autograd.grad(loss, list(net.parameters())), strict=True
        ):
            weight.data -= 0.05 * slope
    found = detector.decision_function(X)
    np.testing.assert_allclose(found, expected + 4 * expected[-1:], rtol=1e-4)
    assert detector.explain(X).blame.shape == X.shape


def test_training_without_overlap_visits_each_row_once():
    detector = make_quick("M2N2", overlap=False, epochs=1, batch_size=4, validation=0.0)
    seen, original = [], type(detector)._loss

    def spy(net, x, epoch):
        seen.append(x)
        return original(detector, net, x, epoch)

    detector._loss = spy
    detector.fit(waves(100))
    visited = torch.cat(seen).flatten(0, 1)
    rows = torch.from_numpy(detector._scaler.apply(waves(100)))[:96]
    torch.testing.assert_close(visited.sort(0).values, rows.sort(0).values)


def test_without_overlap_it_is_not_causal():
    assert (
        "fit it with overlap=True" in make_quick("M2N2", adapt=False, overlap=False).why_not_causal
    )


def test_a_batch_may_be_larger_than_any_series(tmp_path):
    detector = make_quick("M2N2", epochs=1, batch_size=64).fit(waves(60))
    detector.save(tmp_path)
    forge(tmp_path / "detector.json", params={**detector.get_params(), "batch_size": 2**63})
    scores = axonad.load(tmp_path).decision_function(waves(60))
    np.testing.assert_array_equal(scores, detector.decision_function(waves(60)))
