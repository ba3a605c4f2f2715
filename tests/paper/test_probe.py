"""A probe: every number against a slow twin that follows its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad import AxonAD
from axonad.errors import ConfigError, InputError, NotFittedError
from axonad.paper.probe import probe, probe_training, query_path, widest_entropy
from axonad.paper.variants import AxonADVariant
from tests.conftest import SMALL, waves


def naive(detector, X, start):
    """Return five numbers of one window, from the network's own forward, loop by loop."""
    net, T, k, s = detector.net_, detector.window, detector.tail, detector.horizon
    scaled = detector.scaled(X, torch.device("cpu"))[start : start + T][None]
    with torch.no_grad():
        output = net(scaled)
        keys = net.attention.key(net.online(scaled)[1])[0]
    width = detector.d_model // detector.heads
    shift, moved, turn, length, entropy = [], [], [], [], []
    for head in range(detector.heads):
        K = keys[:, head * width : (head + 1) * width].double().numpy()
        for step in range(T - k, T):
            p = output.predicted[0, head, step].double().numpy()
            t = output.target[0, head, step].double().numpy()
            seen = K[: step - s + 1]

            def attend(q, seen=seen):
                e = np.exp(seen @ q / np.sqrt(width))
                return e / e.sum()

            A, B = attend(t), attend(p)
            ratio = np.linalg.norm(p) / np.linalg.norm(t)
            shift.append(np.linalg.norm(p - t))
            moved.append((A * np.log(A / B)).sum())
            turn.append((A * np.log(A / attend(p / ratio))).sum())
            length.append(ratio)
            entropy.append(-(A * np.log(A)).sum())
    return {
        "deviation": np.mean(shift), "divergence": np.mean(moved), "turn": np.mean(turn),
        "length": np.mean(length), "entropy": np.mean(entropy),
    }  # fmt: skip


def test_numbers_equal_their_naive_twins(fitted):
    X = waves(120, seed=5)
    found = probe(fitted, X)
    for start in (0, 17, 104):
        for name, value in naive(fitted, X, start).items():
            assert getattr(found, name)[start] == pytest.approx(value, rel=1e-3, abs=1e-6), name
    assert len(found.d_q) == 120 - fitted.window + 1
    assert found.entropy.max() <= widest_entropy(fitted) + 1e-6
    parts = fitted.explain(X, blame=False).components
    first = -(-(fitted.window - 1) // 2)
    np.testing.assert_allclose(parts["d_q"][first : first + 105], found.d_q, atol=1e-3)


def test_robust_units_are_those_of_the_training_windows():
    X = waves(300)
    detector = AxonAD.paper(**SMALL).fit(X)
    train = probe_training(detector, X)
    assert len(train.d_rec) == 240 - detector.window + 1
    for part in (train.d_rec, train.d_q):
        assert np.median(part) == pytest.approx(0, abs=1e-3)
        assert np.subtract(*np.quantile(part, [0.75, 0.25])) == pytest.approx(1, abs=1e-2)


def test_queries_are_those_of_the_last_step(fitted):
    X = waves(100, seed=6)
    path = query_path(fitted, X, 20, 70)
    assert path.target.shape == path.predicted.shape == (50, fitted.d_model)
    x = fitted.scaled(X, torch.device("cpu"))[30 - fitted.window + 1 : 31][None]
    with torch.no_grad():
        output = fitted.net_(x)
    for name in ("target", "predicted"):
        heads = getattr(output, name)[0, :, -1].double()
        expected = (heads / heads.norm(dim=-1, keepdim=True)).flatten()
        np.testing.assert_allclose(getattr(path, name)[10], expected, atol=1e-5)


def test_what_cannot_be_looked_into(fitted):
    with pytest.raises(NotFittedError):
        probe(AxonAD(**SMALL), waves(50))
    with pytest.raises(InputError, match="steps 3 to 9 must lie between 15 and 50"):
        query_path(fitted, waves(50), 3, 9)
    other = AxonADVariant(**SMALL, predicts="keys").fit(waves(100))
    with pytest.raises(ConfigError, match="this variant changes"):
        probe(other, waves(50))
