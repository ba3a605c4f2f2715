"""Predictors of four quantities of a frozen network, against predictors trained one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from axonad import AxonAD
from axonad.model.predictor import QueryPredictor
from axonad.paper import probe_targets as module
from axonad.paper.diagnostics.as_run import OWN, PREDICTED
from axonad.paper.probe_targets import EPOCHS, LR, WEIGHT_DECAY, probe_targets
from tests.conftest import SMALL, waves

X, STARTS, LEARNED = waves(140, seed=5), np.arange(0, 120, 2), np.arange(40)


@pytest.fixture(scope="module")
def still():
    """A detector without dropout, which would draw random numbers."""
    return AxonAD.paper(**SMALL, dropout=0.0).fit(waves(300))


def cosine_errors(predicted, target, k):
    """Return 1 - cos of (B, N, T, d), averaged over heads and the last k steps by loops."""
    errors = []
    for p_window, t_window in zip(predicted, target, strict=True):
        found = []
        for p_head, t_head in zip(p_window, t_window, strict=True):
            for p, t in zip(p_head[-k:], t_head[-k:], strict=True):
                found.append(1 - (p @ t) / (p.norm() * t.norm()))
        errors.append(torch.stack(found).mean())
    return torch.stack(errors)


def naive(detector, name, seed, batch):
    """Return the errors of one predictor that is trained by itself."""
    net, k = detector.net_, detector.tail
    series = detector.scaled(X, torch.device("cpu"))
    x = torch.stack([series[start : start + detector.window] for start in STARTS])
    _, H, queries = net.online(x)

    def split(vectors):
        return torch.stack(vectors.split(detector.d_model // detector.heads, dim=-1), dim=1)

    target = {
        "queries": queries, "keys": split(net.attention.key(H)),
        "values": split(net.attention.value(H)), "hidden": H[:, None],
    }[name]  # fmt: skip
    torch.manual_seed(seed)
    made = {each: QueryPredictor(net.config) for each in ("queries", "keys", "values")}
    made["hidden"] = QueryPredictor(replace(net.config, heads=1))
    predictor = made[name]
    optimiser = torch.optim.AdamW(predictor.parameters(), lr=LR, weight_decay=WEIGHT_DECAY)
    for _ in range(EPOCHS):
        for places in torch.randperm(len(LEARNED)).split(batch):
            among = torch.as_tensor(LEARNED)[places]
            optimiser.zero_grad()
            cosine_errors(predictor(H[among]), target[among], k).mean().backward()
            optimiser.step()
    with torch.no_grad():
        return cosine_errors(predictor(H), target, k).numpy()


def test_each_predictor_is_as_if_it_were_trained_alone(still, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 16)
    monkeypatch.setattr(module, "SCORE_BATCH", 7)
    before = torch.get_rng_state()
    found = probe_targets(still, X, STARTS, learned=LEARNED, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    assert {OWN, *found} == set(PREDICTED)
    for name, errors in found.items():
        torch.set_rng_state(before)
        expected = naive(still, name, seed=3, batch=16)
        np.testing.assert_allclose(errors, expected, atol=1e-3, err_msg=name)


def test_predictors_learn_and_the_network_does_not_change(fitted, monkeypatch):
    weights = {name: value.clone() for name, value in fitted.net_.state_dict().items()}
    learned = probe_targets(fitted, X, STARTS, learned=LEARNED, seed=0)
    monkeypatch.setattr(module, "EPOCHS", 0)
    drawn = probe_targets(fitted, X, STARTS, learned=LEARNED, seed=0)
    for name, errors in learned.items():
        assert errors.mean() < drawn[name].mean(), name
    for name, value in fitted.net_.state_dict().items():
        assert torch.equal(value, weights[name])
