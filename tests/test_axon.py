"""AxonAD: parity mode, causality, memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

import axonad
from axonad import AxonAD
from axonad.axon import TERMS
from tests.conftest import waves


def test_paper_mode_is_the_published_setting():
    paper = AxonAD.paper()
    assert paper.get_params() == {
        "contamination": 1e-4, "threshold": "pot", "context": (),
        "alarm_budget": None, "seconds_per_step": None,
        "window": 100, "d_model": 128, "heads": 8, "horizon": 1, "tail": 10, "ema": 0.9,
        "mask_ratio": 0.5, "block_fraction": 0.5, "dropout": 0.1, "dilations": (1, 2, 4, 8),
        "lr": 5e-4, "weight_decay": 1e-5, "batch_size": 128, "epochs": 50, "epoch_windows": None,
        "patience": 3, "validation": 0.2, "restore_best": False, "scaling": "array",
        "align": "center", "seed": 2024, "device": "auto", "verbose": True,
    }  # fmt: skip
    assert not paper.is_causal


def test_default_differs_from_paper_in_scaling_checkpoint_and_training_only():
    default, paper = AxonAD().get_params(), AxonAD.paper().get_params()
    changed = {k for k in default if default[k] != paper[k]}
    assert changed == {"scaling", "restore_best", "lr", "epochs", "epoch_windows"}


def test_paper_parts_are_scaled_each_by_itself(monkeypatch, small):
    """Train part, validation part and scored series are z-scored by their own statistics."""
    from axonad.data.scaling import Scaler

    seen = []
    original = Scaler.apply

    def apply(self, X):
        z = original(self, X)
        if self.rule == "array":  # the sample that explains events is scaled softly
            seen.append((len(X), z))
        return z

    monkeypatch.setattr(Scaler, "apply", apply)
    X = waves(200) * [1, 10, 100] + [5, -3, 1000]
    AxonAD.paper(**small).fit(X)
    assert sorted({rows for rows, _ in seen}) == [40, 160, 200]
    for _, z in seen:
        np.testing.assert_allclose(z.mean(0), 0, atol=1e-4)
        np.testing.assert_allclose(z.std(0), 1, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "trained", "epochs"),
    # 20: the first 80 % is one window, not more; 24: the last 20 % holds no window to validate on
    [(100, 80, None), (20, 20, 2), (24, 19, 2)],
)
def test_validation_is_the_last_fifth_or_nothing(small, rows, trained, epochs):
    detector = AxonAD(**small)
    assert detector.count_training_rows(rows) == trained
    detector.fit(waves(rows))
    if epochs is not None:
        assert detector.training_.validation == []
        assert detector.training_.epochs == epochs


def test_standardisation_uses_the_training_part_only(small):
    detector = AxonAD(**small).fit(waves(300))
    inside = 240 - 16 + 1
    detector.set_params(align="end")
    for values in detector.components(waves(300)).values():
        part = values[15 : 15 + inside]
        assert np.median(part) == pytest.approx(0, abs=1e-4)
        assert np.subtract(*np.quantile(part, [0.75, 0.25])) == pytest.approx(1, abs=1e-3)


def test_paper_statistics_come_from_the_train_part_scaled_by_itself(small):
    X = waves(300)
    X[240:] *= 30  # the held-out part would change both the scaling and the statistics
    detector = AxonAD.paper(**small).fit(X)
    terms = detector.window_terms(X[:240]).terms
    for name, scale in detector.scales_.items():
        assert float(scale.median) == pytest.approx(np.median(terms[name]), rel=1e-5)
        low, high = np.quantile(terms[name], [0.25, 0.75])
        assert float(scale.spread) == pytest.approx(high - low, rel=1e-4)


def test_paper_split_at_lengths_without_a_validation_window():
    assert AxonAD.paper().count_training_rows(400) == 320
    assert AxonAD.paper().count_training_rows(125) == 125
    assert AxonAD.paper().count_training_rows(127) == 101


def test_components_add_up_to_the_score(fitted):
    X = waves(90, seed=2)
    parts = fitted.components(X)
    assert list(parts) == list(TERMS) == ["d_rec", "d_q"]
    np.testing.assert_allclose(sum(parts.values()), fitted.decision_function(X))


def test_alignment_moves_scores_by_half_a_window(small):
    detector = AxonAD(**small).fit(waves(200))
    X = waves(120, seed=1)
    end = detector.set_params(align="end").decision_function(X)
    center = detector.set_params(align="center").decision_function(X)
    np.testing.assert_array_equal(center[8 : 8 + 105], end[15:])
    assert (end[:15] == end[15]).all()
    assert (center[:8] == end[15]).all()
    assert (center[-7:] == end[-1]).all()


def test_a_spike_is_located_where_it_is(small):
    detector = AxonAD(**{**small, "epochs": 8}).fit(waves(500))
    X = waves(200, seed=1)
    X[100] += 10.0
    end = detector.set_params(align="end").decision_function(X)
    high = np.flatnonzero(end > 5 * end[:99].max())
    assert high.min() == 100, "the first window that holds the spike ends on it"
    assert high.max() <= 100 + 15, "the last window that holds the spike starts on it"


def test_end_scores_never_see_the_future(small):
    detector = AxonAD(**small, align="end").fit(waves(300))
    X = waves(200, seed=1)
    changed = X.copy()
    changed[120:] = np.random.default_rng(0).normal(size=(80, 3)) * 50
    np.testing.assert_allclose(
        detector.decision_function(X)[:120], detector.decision_function(changed)[:120], rtol=1e-5
    )


def test_paper_scores_do_see_the_future(small):
    """Why parity mode cannot run live: its scaling looks at the whole scored series."""
    detector = AxonAD.paper(**small, ).fit(waves(300))  # fmt: skip
    X = waves(200, seed=1)
    changed = X.copy()
    changed[180:] *= 50
    before, after = detector.decision_function(X)[:100], detector.decision_function(changed)[:100]
    assert np.abs(before - after).max() > 0.1


def test_a_coordination_break_is_seen(small):
    """A channel keeps its range but stops following the others."""
    detector = AxonAD(**{**small, "epochs": 15}).fit(waves(800))
    X = waves(400, seed=1)
    X[200:240, 1] = X[100:140, 1][::-1]
    scores = detector.decision_function(X)
    assert X[:, 1].max() < 1.3
    assert scores[205:235].mean() > np.quantile(scores[:180], 0.99)


@pytest.mark.parametrize("rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_long_series(small, rows):
    """Long series need neither a tensor of all windows nor patience."""
    quick = {**small, "window": 4, "d_model": 4, "heads": 1, "tail": 2, "dilations": (1,)}
    detector = AxonAD(**quick).fit(waves(300, channels=2))
    X = np.tile(waves(1000, channels=2).astype(np.float32), (rows // 1000, 1))
    X[77_777] = 9.0
    scores = detector.decision_function(X)
    assert len(scores) == rows
    assert abs(int(scores.argmax()) - 77_777) <= 3


MEMORY = """
import resource, sys
import numpy as np
from axonad import AxonAD
rows, channels = int(sys.argv[1]), 100
X = np.random.default_rng(0).normal(size=(rows, channels)).astype(np.float32)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
detector = AxonAD(window=200, epochs=1, d_model=8, heads=1, tail=4, verbose=False, device="cpu")
detector.fit(X).decision_function(X)
print(peak() - before)
"""


def test_memory_does_not_grow_with_all_windows():
    """6,000 windows of 200 × 100 would be 480 MB in float32; we stay far below."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", MEMORY, "6000"], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 300, "MiB above the array, torch itself included"


def test_loading_draws_nothing_from_torch(small, tmp_path):
    AxonAD(**small).fit(waves(300)).save(tmp_path / "model")
    torch.manual_seed(0)
    before = torch.rand(1)
    torch.manual_seed(0)
    axonad.load(tmp_path / "model")
    assert torch.equal(torch.rand(1), before)
