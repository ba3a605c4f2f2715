"""The variants as detectors: the same contract, the plain way, and one sentence for a mistake."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import axonad
from axonad import AxonAD
from axonad.errors import ConfigError
from axonad.fast import choose as fit
from axonad.paper.variant_net import PREDICTS
from axonad.paper.variants import AxonADVariant
from axonad.testing import CHECKS
from tests.conftest import SMALL, waves

CHANGES = {
    "reconstruction alone": {"trains": "reconstruction"},
    "prediction alone": {"trains": "prediction"},
    "other score": {"scores": ("d_q_mse", "d_kl")},
    "map": {"predicts": "attention-from-queries-and-keys", "scores": ("d_rec", "d_pred")},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "check",
    ["scores_are_finite_one_per_row", "saved_is_the_same", "copies_score_alike",
     "stream_equals_batch", "causal_claim_holds", "constant_channel_is_fine"],
)  # fmt: skip
def test_every_kind_of_variant_keeps_the_contract(check, change):
    CHECKS[check](lambda: AxonADVariant(**SMALL, **CHANGES[change]))


def test_by_default_it_is_axonad():
    X = waves(300)
    ours, theirs = AxonADVariant(**SMALL).fit(X), AxonAD(**SMALL).fit(X)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert ours.live_windows() is not None


def test_another_score_has_the_weights_of_axonad():
    X = waves(300)
    base = AxonAD(**SMALL).fit(X)
    other = AxonADVariant(**SMALL, scores=("d_rec",)).fit(X)
    for name, value in base.net_.state_dict().items():
        torch.testing.assert_close(other.net_.state_dict()[name], value, rtol=0, atol=0)
    np.testing.assert_allclose(other.decision_function(X), base.components(X)["d_rec"])
    assert list(other.components(X)) == ["d_rec"]


@pytest.mark.parametrize("predicts", ["keys", "values"])
def test_trained_alone_on_keys_or_values_it_scores_with_an_untrained_network(predicts):
    """What the authors' runs amount to: nothing of what the score reads was trained."""
    params = {**SMALL, "predicts": predicts, "trains": "prediction", "detached": True}
    detector = AxonADVariant(**params).fit(waves(300))
    torch.manual_seed(detector.seed)
    fresh = detector.make_net(3).state_dict()
    found = detector.net_.state_dict()
    for name, value in fresh.items():
        if not name.startswith("second."):
            torch.testing.assert_close(found[name], value, rtol=1e-6, atol=1e-6)
    assert not torch.equal(found["second.out.weight"], fresh["second.out.weight"])


@pytest.mark.parametrize("predicts", PREDICTS)
def test_training_lowers_what_it_minimises(predicts):
    X = waves(400)
    params = {**SMALL, "predicts": predicts, "trains": "prediction", "lr": 3e-3}
    name = "d_q" if predicts == "queries" else "d_pred"

    def middle(epochs):
        detector = AxonADVariant(**{**params, "epochs": epochs}, scores=(name,), validation=0.0)
        return float(detector.fit(X).scales_[name].median)

    assert middle(8) < 0.9 * middle(1)


def test_many_at_once_fit_variants_one_by_one():
    X = waves(300)
    params = {**SMALL, "predicts": "hidden", "scores": ("d_rec", "d_pred")}
    together = axonad.fit_many([AxonADVariant(**params), AxonADVariant(**params)], [X, X])
    alone = AxonADVariant(**params).fit(X)
    for detector in together:
        np.testing.assert_array_equal(detector.decision_function(X), alone.decision_function(X))


def test_on_a_gpu_variants_use_the_plain_network(monkeypatch):
    """Decided by the device's name and the configuration alone, so no GPU is needed."""
    gpu = SimpleNamespace(device=torch.device("cuda"))
    taken = []
    monkeypatch.setattr(fit, "train", lambda *args, **options: taken.append("plain"))
    monkeypatch.setattr(fit, "train_stack", lambda *args: iter([taken.append("stack") or (0, 0)]))
    monkeypatch.setattr(fit, "Member", lambda *args: None)
    monkeypatch.setattr(fit, "generator", lambda *args: None)
    for trains in ("both", "reconstruction"):
        net = AxonADVariant(**SMALL, trains=trains).make_net(3)
        fit.train_net(net, gpu, None, None, None, seed=0)
    assert taken == ["stack", "plain"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.gpu
def test_a_gpu_scores_as_the_cpu_does(change):
    X = waves(300)
    detector = AxonADVariant(**{**SMALL, "device": "cuda"}, **CHANGES[change]).fit(X)
    found = detector.decision_function(X)
    detector.set_params(device="cpu")
    np.testing.assert_allclose(found, detector.decision_function(X), rtol=0.01, atol=0.02)


def test_onnx_is_refused(tmp_path):
    detector = AxonADVariant(**SMALL, trains="reconstruction").fit(waves(300))
    with pytest.raises(ConfigError, match="a variant cannot be exported to ONNX"):
        detector.export_onnx(tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"predicts": "key"}, "predicts must be one of .* got 'key'; did you mean 'keys'"),
        ({"trains": "queries"}, "trains must be one of 'both', 'reconstruction', 'prediction'"),
        ({"map_keys": "future"}, "map_keys must be one of 'past', 'all'"),
        ({"detached": 1}, "detached must be True or False"),
        ({"scores": ()}, r"scores must be a tuple of terms, got \(\)"),
        ({"scores": ("d_x",)}, "scores must be one of 'd_rec', 'd_q'"),
        ({"scores": ("d_q", "d_q")}, "scores must not name a term twice"),
        ({"scores": ("d_pred",)}, "has its mismatch in 'd_q'; score that instead"),
        ({"predicts": "keys", "horizon": 16}, "horizon must be below window"),
    ],
)
def test_impossible_parameters_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        AxonADVariant(**{**SMALL, **params})
