"""The base of the neural baselines: training, alignment, files and devices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import axonad
from axonad.baselines import _neural, _training_loop
from axonad.errors import ConfigError, DivergedError, InputError
from tests.baselines.detectors import make_quick
from tests.conftest import waves


def test_training_ends_when_validation_stops_falling():
    detector = make_quick("USAD", epochs=50, patience=2, lr=1e-9).fit(waves(200))
    assert detector.training_.epochs == 3, "one good epoch, then two without improvement"


def test_the_best_epoch_is_kept_or_the_last():
    X = waves(150)
    best = make_quick("CNN", epochs=30, patience=30, lr=0.3).fit(X).training_
    last = make_quick("CNN", epochs=30, patience=30, lr=0.3, restore_best=False).fit(X).training_
    assert best.validation == last.validation
    assert best.kept_epoch == 1 + int(np.argmin(best.validation)) < 30
    assert last.kept_epoch == 30


def test_without_validation_the_training_loss_decides():
    whole = {"validation": 0.0, "batch_size": 512}
    found = make_quick("USAD", epochs=50, patience=2, lr=1e-9, **whole).fit(waves(200)).training_
    assert found.validation == []
    assert found.epochs == 3


def test_a_series_shorter_than_the_window_is_refused():
    with pytest.raises(InputError, match="window must be at most the series length 12, got 13"):
        make_quick("CNN").fit(waves(12))


def test_batch_normalisation_meets_a_lonely_last_row():
    X = waves(129)
    detector = make_quick("AutoEncoder", batch_size=64, validation=0.0).fit(X)
    assert np.isfinite(detector.decision_scores_).all()


def test_other_seed_other_scores_and_no_trace_outside():
    X = waves(200)
    before = torch.get_rng_state()
    first, second = make_quick("USAD").fit(X), make_quick("USAD", seed=1).fit(X)
    assert torch.equal(torch.get_rng_state(), before)
    assert not np.array_equal(first.decision_scores_, second.decision_scores_)


def test_an_epoch_is_what_the_paper_would_do():
    X = waves(120)
    detector = make_quick("USAD", epochs=1, validation=0.0, scaling="train").fit(X)
    with torch.random.fork_rng():
        torch.manual_seed(detector.seed)
        net = detector._build(3)
        optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-5)
        z = torch.tensor((X - X.mean(0)) / X.std(0), dtype=torch.float32)
        order = torch.randperm(109).tolist()
        for part in (order[:64], order[64:]):
            x = torch.stack([z[i : i + 12] for i in part])
            optimiser.zero_grad()
            detector._loss(net, x, 1).backward()
            optimiser.step()
    for name, value in net.state_dict().items():
        torch.testing.assert_close(detector._net.state_dict()[name], value, rtol=1e-4, atol=1e-6)


def test_no_tensor_of_all_windows(monkeypatch):
    sizes = []
    original = _neural.gather_windows

    def gather(series, starts, window):
        sizes.append(len(starts))
        return original(series, starts, window)

    for module in (_training_loop, _neural):
        monkeypatch.setattr(module, "gather_windows", gather)
    detector = make_quick("USAD", epochs=1).fit(waves(4000))
    detector.decision_function(waves(4000))
    assert sum(sizes) > 10_000
    assert max(sizes) <= detector.score_batch


def test_an_interrupt_keeps_what_was_fitted(monkeypatch):
    detector = make_quick("CNN").fit(waves(100))
    before = detector.decision_function(waves(60))

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(detector), "_loss", interrupt)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(waves(100, seed=1))
    np.testing.assert_array_equal(detector.decision_function(waves(60)), before)


def test_diverged_training_says_so():
    with pytest.raises(DivergedError, match="scores that are not finite"):
        make_quick("CNN", lr=1e30, restore_best=False).fit(waves(200))


def test_alignment_places_the_same_scores():
    detector = make_quick("USAD").fit(waves(200))
    X = waves(60, seed=1)
    windows = detector._score_ends(X)[0]
    for align, front in (("start", 0), ("center", 6), ("end", 11)):
        scores = detector.set_params(align=align).decision_function(X)
        np.testing.assert_array_equal(scores[front : front + len(windows)], windows)
        assert (scores[:front] == windows[0]).all()
        assert (scores[front + len(windows) :] == windows[-1]).all()


def test_raw_scaling_leaves_values_as_they_are():
    detector = make_quick("USAD", scaling="raw").fit(100 + waves(100))
    z = detector._tensor(100 + waves(20), torch.device("cpu"))
    np.testing.assert_allclose(z, 100 + waves(20), rtol=1e-6)
    assert detector.is_causal


def test_scaling_by_the_scored_array_is_not_causal():
    detector = make_quick("USAD", scaling="array")
    assert not detector.is_causal
    assert detector.why_not_causal.startswith("its scaling needs the whole series; fit it with")


def test_saved_detectors_blame_alike(tmp_path):
    detector = make_quick("AutoEncoder").fit(waves(200))
    detector.save(tmp_path / "m")
    before = torch.get_rng_state()
    twin = axonad.load(tmp_path / "m")
    assert torch.equal(torch.get_rng_state(), before), "loading draws no random numbers"
    X = waves(80, seed=1)
    np.testing.assert_array_equal(twin.explain(X).blame, detector.explain(X).blame)
    assert twin.fingerprint == detector.fingerprint


def test_unknown_devices_are_refused():
    with pytest.raises(ConfigError, match="device must be 'auto'"):
        make_quick("CNN", device="gpu").fit(waves(100))
    with pytest.raises(ConfigError, match=r"device 'cuda:99' (is not available|does not exist)"):
        make_quick("CNN", device="cuda:99").fit(waves(100))
