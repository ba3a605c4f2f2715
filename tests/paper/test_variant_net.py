"""Every variant against a written-out twin: what it compares, what it minimises, what it scores."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet
from axonad.paper.variant_net import PREDICTS, VariantConfig, VariantNet, mismatch
from tests.model import naive
from tests.model.naive import make_net as make_standard
from tests.model.naive import window

MAPS = ("attention-from-queries", "attention-from-queries-and-keys")


def make(predicts, seed=0, trains="both", detached=False, map_keys="past", **changes) -> VariantNet:
    settings = {
        "channels": 3, "window": 20, "d_model": 8, "heads": 2, "horizon": 2, "tail": 5,
        "ema": 0.9, "dropout": 0.0, "dilations": (1, 2),
    }  # fmt: skip
    torch.manual_seed(seed)
    config = VariantConfig(
        **{**settings, **changes},
        predicts=predicts, trains=trains, detached=detached, map_keys=map_keys,
    )  # fmt: skip
    net = VariantNet(config) if isinstance(config, VariantConfig) else AxonNet(config)
    with torch.no_grad():  # targets unlike what they follow, and a temperature that is not 1
        slow = [*net.target.parameters(), *(net.slow.parameters() if hasattr(net, "slow") else ())]
        for p in slow:
            p.add_(0.3 * torch.randn_like(p))
        if net.variant.compares_maps:
            net.log_temperature.fill_(0.4)
    return net.eval()


def log_softmax(logits):
    return logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())


def naive_divergence(q, k, predicted, guessed, t, *, keys, temperature, d):
    """KL of one step of one head: (T, d) arrays, the newest key and all before it."""
    real = log_softmax(np.array([q[t] @ k[u] / np.sqrt(d) for u in range(keys)]))
    found = [temperature * (predicted[t] @ guessed[u]) / np.sqrt(d) for u in range(keys)]
    return sum(np.exp(p) * (p - f) for p, f in zip(real, log_softmax(np.array(found)), strict=True))


def naive_distance(x, net, t):
    """The distance at step t (from 0) of one window, averaged over heads."""
    config = net.variant
    _, H, q = naive.embed(x, net.online)
    _, H_slow, q_slow = naive.embed(x, net.target.encoder)
    first = naive.predict_queries(H, net.predictor)
    if config.predicts == "hidden":
        return naive.cosine_distance(first[t], H_slow[t])
    second = naive.predict_queries(H, net.second) if hasattr(net, "second") else None
    k, d = H @ naive.weight(net.attention.key).T, config.d_model // config.heads
    heads = [slice(head * d, (head + 1) * d) for head in range(config.heads)]
    if config.predicts in MAPS:
        past = config.map_keys == "past"
        guessed = k if config.predicts == "attention-from-queries" else second
        return np.mean([
            naive_divergence(
                q[:, part], k[:, part], first[:, part], guessed[:, part], t, d=d,
                keys=t - config.horizon + 1 if past else config.window,
                temperature=np.exp(0.4) if past else 1,
            )
            for part in heads
        ])  # fmt: skip
    predicted, target = first, q_slow
    if config.predicts in ("keys", "values"):
        predicted, target = second, H_slow @ naive.weight(net.slow).T
    return np.mean([naive.cosine_distance(predicted[t, part], target[t, part]) for part in heads])


@pytest.mark.parametrize("map_keys", ["past", "all"])
@pytest.mark.parametrize("predicts", PREDICTS)
def test_what_is_compared(predicts, map_keys):
    net = make(predicts, map_keys=map_keys)
    x = window(net)
    with torch.no_grad():
        found = mismatch(net(x, last=9), net.config).numpy()
    assert found.shape == (2, 9)
    for b in range(2):
        expected = [naive_distance(x[b].double().numpy(), net, t) for t in range(11, 20)]
        np.testing.assert_allclose(found[b], expected, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("predicts", PREDICTS)
def test_the_reconstruction_is_that_of_the_model_it_extends(predicts):
    net = make(predicts)
    x = window(net)
    plain = AxonNet(net.config).eval()
    kept = {k: v for k, v in net.state_dict().items() if k in plain.state_dict()}
    plain.load_state_dict(kept)
    torch.testing.assert_close(net(x).reconstruction, plain(x).reconstruction)
    torch.testing.assert_close(net.queries(x, 4)[0], plain(x, last=4).predicted)
    torch.testing.assert_close(net.queries(x, 4)[1], plain(x, last=4).target)


def test_a_variant_starts_from_the_weights_of_the_model():
    config = make("keys").config
    torch.manual_seed(3)
    variant = VariantNet(config)
    torch.manual_seed(3)
    plain = AxonNet(config)
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(variant.state_dict()[name], value, rtol=0, atol=0)
    torch.testing.assert_close(variant.slow.weight, variant.attention.key.weight)


@pytest.mark.parametrize("predicts", PREDICTS)
@pytest.mark.parametrize("trains", ["both", "reconstruction", "prediction"])
def test_what_is_minimised(predicts, trains):
    net = make(predicts, trains=trains)
    x = window(net)
    mask = torch.zeros(2, 9)
    mask[0, 2:5] = mask[1, 6:8] = 1
    loss = net.make_loss()
    with torch.no_grad():
        loss.log_variance.copy_(torch.tensor([0.3, -0.2]))
        found = float(loss(net(x, last=9), x, mask))
    windows = [x[b].double().numpy() for b in range(2)]
    mse = np.mean([(naive.reconstruct(w, net) - w) ** 2 for w in windows])
    steps = [(0, t) for t in range(13, 16)] + [(1, t) for t in range(17, 19)]
    query = np.mean([naive_distance(windows[b], net, t) for b, t in steps])
    both = np.exp(-0.3) * mse + 0.3 + np.exp(0.2) * query - 0.2
    expected = {"both": both, "reconstruction": mse, "prediction": query}[trains]
    assert found == pytest.approx(expected, rel=2e-4)


def test_the_standard_model_keeps_its_loss():
    assert type(make_standard().make_loss()) is WeightedLoss


@pytest.mark.parametrize("predicts", PREDICTS)
@pytest.mark.parametrize("detached", [False, True])
def test_whether_the_prediction_reaches_the_embedding(predicts, detached):
    net = make(predicts, trains="prediction", detached=detached).train()
    x = window(net)
    net.make_loss()(net(x, last=9), x, torch.ones(2, 9)).backward()
    assert (net.online.embed.weight.grad is None) == detached
    learns = {name for name, p in net.named_parameters() if p.grad is not None}
    trained = "second." if predicts in ("keys", "values") else "predictor."
    assert any(name.startswith(trained) for name in learns)
    assert not any(name.startswith(("target.", "slow.", "head.", "attention.")) for name in learns)


@pytest.mark.parametrize("predicts", ["keys", "values"])
def test_the_slow_reader_follows(predicts):
    net = make(predicts)
    fast = net.attention.key if predicts == "keys" else net.attention.value
    expected = 0.9 * net.slow.weight + 0.1 * fast.weight
    target = copy.deepcopy(net.target.encoder.query.weight)
    net.follow()
    torch.testing.assert_close(net.slow.weight, expected.detach())
    followed = 0.9 * target + 0.1 * net.online.query.weight
    torch.testing.assert_close(net.target.encoder.query.weight, followed.detach())


@pytest.mark.parametrize(("log", "factor"), [(-5.0, 0.25), (0.0, 1.0), (5.0, 4.0)])
def test_the_temperature_is_bounded(log, factor):
    net = make("attention-from-queries")
    with torch.no_grad():
        net.log_temperature.fill_(log)
    assert net.temperature().item() == factor
