"""The base of the neural baselines, tried with all nine of the first ones on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import axonad
from axonad.baselines import _loop, _neural
from axonad.baselines._neural import NeuralDetector
from axonad.errors import ConfigError, DivergedError, InputError
from axonad.registry import REGISTRY, detector_class
from axonad.testing import CHECKS
from tests.conftest import waves
from tests.quick import QUICK

NAMES = ("AutoEncoder", "CNN", "LSTMAD", "USAD", "TranAD", "OmniAnomaly", "Donut", "FITS", "M2N2")


def make(name: str, **changes: Any) -> NeuralDetector:
    detector = axonad.make_detector(name, **{**QUICK[name], **changes})
    assert isinstance(detector, NeuralDetector)
    return detector


# -- training ----------------------------------------------------------------------------------


def test_training_ends_when_validation_stops_falling():
    detector = make("USAD", epochs=50, patience=2, lr=1e-9).fit(waves(200))
    assert detector.training_.epochs == 3, "one good epoch, then two without improvement"


def test_the_best_epoch_is_kept_or_the_last():
    X = waves(150)
    best = make("CNN", epochs=30, patience=30, lr=0.3).fit(X).training_
    last = make("CNN", epochs=30, patience=30, lr=0.3, restore_best=False).fit(X).training_
    assert best.validation == last.validation
    assert best.kept_epoch == 1 + int(np.argmin(best.validation)) < 30
    assert last.kept_epoch == 30


def test_without_validation_the_training_loss_decides():
    whole = {"validation": 0.0, "batch_size": 512}
    found = make("USAD", epochs=50, patience=2, lr=1e-9, **whole).fit(waves(200)).training_
    assert found.validation == []
    assert found.epochs == 3


@pytest.mark.parametrize("name", NAMES)
def test_series_of_a_single_window(name):
    detector = make(name)
    X = waves(detector.history)
    assert len(detector.fit(X).decision_function(X)) == len(X)
    assert detector.training_.validation == []


def test_a_series_shorter_than_the_window_is_refused():
    with pytest.raises(InputError, match="window must be at most the series length 12, got 13"):
        make("CNN").fit(waves(12))


@given(count=st.integers(1, 60), size=st.integers(1, 20))
def test_no_batch_holds_a_single_window(count, size):
    parts = list(_loop.batches(torch.arange(count), size))
    assert min(len(part) for part in parts) >= 2
    assert max(len(part) for part in parts) <= max(size, 2) + 1
    assert torch.cat(parts).tolist() == (list(range(count)) if count > 1 else [0, 0])


def test_batch_normalisation_meets_a_lonely_last_row():
    X = waves(129)
    detector = make("AutoEncoder", batch_size=64, validation=0.0).fit(X)
    assert np.isfinite(detector.decision_scores_).all()


def test_other_seed_other_scores_and_no_trace_outside():
    X = waves(200)
    before = torch.get_rng_state()
    first, second = make("USAD").fit(X), make("USAD", seed=1).fit(X)
    assert torch.equal(torch.get_rng_state(), before)
    assert not np.array_equal(first.decision_scores_, second.decision_scores_)


def test_an_epoch_is_what_the_paper_would_do():
    X = waves(120)
    detector = make("USAD", epochs=1, validation=0.0, scaling="train").fit(X)
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

    for module in (_loop, _neural):
        monkeypatch.setattr(module, "gather_windows", gather)
    detector = make("USAD", epochs=1).fit(waves(4000))
    detector.decision_function(waves(4000))
    assert sum(sizes) > 10_000
    assert max(sizes) <= detector.score_batch


def test_an_interrupt_keeps_what_was_fitted(monkeypatch):
    detector = make("CNN").fit(waves(100))
    before = detector.decision_function(waves(60))

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(detector), "_loss", interrupt)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(waves(100, seed=1))
    np.testing.assert_array_equal(detector.decision_function(waves(60)), before)


def test_diverged_training_says_so():
    with pytest.raises(DivergedError, match="scores that are not finite"):
        make("CNN", lr=1e30, restore_best=False).fit(waves(200))


# -- scoring -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_windows_one_by_one(name):
    detector = make(name, **({"adapt": False} if name == "M2N2" else {})).fit(waves(200))
    X = waves(50, seed=1)
    z = torch.from_numpy(detector._scaler.apply(X))
    with torch.no_grad():
        naive = [
            detector._window_score(detector._net, z[None, i : i + detector.history]).mean().item()
            for i in range(50 - detector.history + 1)
        ]
    np.testing.assert_allclose(detector._score_ends(X)[0], naive, rtol=1e-4, atol=1e-5)


def test_alignment_places_the_same_scores():
    detector = make("USAD").fit(waves(200))
    X = waves(60, seed=1)
    windows = detector._score_ends(X)[0]
    for align, front in (("start", 0), ("center", 6), ("end", 11)):
        scores = detector.set_params(align=align).decision_function(X)
        np.testing.assert_array_equal(scores[front : front + len(windows)], windows)
        assert (scores[:front] == windows[0]).all()
        assert (scores[front + len(windows) :] == windows[-1]).all()


def test_raw_scaling_leaves_values_as_they_are():
    detector = make("USAD", scaling="raw").fit(100 + waves(100))
    z = detector._tensor(100 + waves(20), torch.device("cpu"))
    np.testing.assert_allclose(z, 100 + waves(20), rtol=1e-6)
    assert detector.is_causal
    assert not make("USAD", scaling="array").is_causal


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_channel_is_ranked_and_named(name):
    detector = make(name, epochs=6, patience=6, lr=1e-2).fit(waves(500))
    X = waves(300, seed=1)
    X[150:180, 1] += 5.0
    scores = detector.decision_function(X)
    calm = np.r_[scores[:120], scores[210:]]
    assert scores[150:180].max() > calm.max()
    strongest = max(detector.events(X, gap=10), key=lambda event: event.score)
    assert strongest.start < 180
    assert strongest.end > 150
    assert strongest.channels[0] == "1"


@pytest.mark.parametrize("name", NAMES)
def test_training_lowers_the_error(name):
    X = waves(300)
    short = make(name, epochs=1).fit(X)
    long = make(name, epochs=8, patience=8, lr=5e-3).fit(X)
    assert long.decision_scores_.mean() < short.decision_scores_.mean()


@pytest.mark.parametrize("name", NAMES)
def test_contract_in_parity_mode(name):
    cls = detector_class(name)
    quick = {**QUICK[name], **cls.parity, **({"samples": 8} if name == "Donut" else {})}
    for check in ("scores_are_finite_one_per_row", "saved_is_the_same", "same_seed_same_scores"):
        CHECKS[check](lambda: cls(**quick))


# -- files, devices, parameters ----------------------------------------------------------------


def test_saved_detectors_blame_alike(tmp_path):
    detector = make("AutoEncoder").fit(waves(200))
    detector.save(tmp_path / "m")
    before = torch.get_rng_state()
    twin = axonad.load(tmp_path / "m")
    assert torch.equal(torch.get_rng_state(), before), "loading draws no random numbers"
    X = waves(80, seed=1)
    np.testing.assert_array_equal(twin.explain(X).blame, detector.explain(X).blame)
    assert twin.fingerprint == detector.fingerprint


def test_unknown_devices_are_refused():
    with pytest.raises(ConfigError, match="device must be 'auto'"):
        make("CNN", device="gpu").fit(waves(100))
    with pytest.raises(ConfigError, match=r"device 'cuda:99' (is not available|does not exist)"):
        make("CNN", device="cuda:99").fit(waves(100))


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("CNN", {"window": 0}, "window must be at least 1, got 0"),
        ("CNN", {"window": 3}, r"window \(3\) is too short for 2 convolutions"),
        ("CNN", {"widths": 3}, "widths must be a tuple of integers"),
        ("CNN", {"scaling": "row"}, "scaling must be one of .* got 'row'; did you mean 'raw'"),
        ("CNN", {"align": "middle"}, "align must be one of 'center', 'end', 'start'"),
        ("CNN", {"device": 1}, "device must be a name"),
        ("AutoEncoder", {"hidden": (0,)}, "hidden must be at least 1, got 0"),
        ("AutoEncoder", {"dropout": 1.0}, "dropout must be below 1"),
        ("LSTMAD", {"layers": 0}, "layers must be at least 1"),
        ("USAD", {"alpha": 2.0}, "alpha must be at most 1"),
        ("OmniAnomaly", {"beta": -1.0}, "beta must be at least 0"),
        ("Donut", {"missing": 1.0}, "missing must be below 1"),
        ("FITS", {"factor": 3}, r"window \(100\) must be a multiple of factor \(3\)"),
        ("FITS", {"cutoff": 14}, "cutoff must be at most 13 with window 100 and factor 4, got 14"),
        ("M2N2", {"momentum": 1.1}, "momentum must be at most 1"),
        ("M2N2", {"adapt": 1}, "adapt must be True or False"),
    ],
)
def test_impossible_parameters_are_refused(name, params, message):
    with pytest.raises(ConfigError, match=message):
        axonad.make_detector(name, **params)


def test_parity_names_fields():
    for entry in REGISTRY:
        cls = detector_class(entry.name)
        assert isinstance(cls.parity, Mapping)
        assert set(cls.parity) <= set(cls().get_params()), entry.name
