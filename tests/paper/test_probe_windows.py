"""The probe by the authors' rules: every number against a slow twin that follows its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.paper.probe_windows import probe_windows
from tests.conftest import waves


def naive(detector, X, start):
    """Return the numbers of one window, from the network's own tensors, loop by loop."""
    net, T, k, s = detector.net_, detector.window, detector.tail, detector.horizon
    x = detector.scaled(X, torch.device("cpu"))[start : start + T][None]
    with torch.no_grad():
        output = net(x)
        _, H, online = net.online(x)
        keys = net.attention.key(H)[0]
    width = detector.d_model // detector.heads
    deviation, divergence, entropy, mismatch = [], [], [], []
    for head in range(detector.heads):
        K = keys[:, head * width : (head + 1) * width].double().numpy()
        squares, moved = [], []
        for step in range(T - k, T):
            p, q, t = (
                tensor[0, head, step].double().numpy()
                for tensor in (output.predicted, online, output.target)
            )
            seen = K[: step - s + 1]

            def attend(query, seen=seen):
                e = np.exp(seen @ query / np.sqrt(width))
                return e / e.sum()

            A, B = attend(q), attend(p)
            squares.append(((q - p) ** 2).sum())
            moved.append((A * np.log(A / B)).sum())
            entropy.append(-(A * np.log(A)).sum())
            mismatch.append(1 - p @ t / np.linalg.norm(p) / np.linalg.norm(t))
        deviation.append(np.sqrt(np.mean(squares)))
        divergence.append(np.mean(moved))
    error = (output.reconstruction - x)[0].double().numpy() ** 2
    return {
        "d_rec": error.sum(1).mean(), "d_q": np.mean(mismatch), "deviation": deviation,
        "divergence": divergence, "entropy": np.mean(entropy),
    }  # fmt: skip


def test_numbers_equal_their_naive_twins(fitted, monkeypatch):
    monkeypatch.setattr("axonad.paper.probe_windows.SCORE_BATCH", 2)
    X, starts = waves(120, seed=5), np.array([0, 17, 104])
    found = probe_windows(fitted, X, starts)
    for place, start in enumerate(starts):
        for name, value in naive(fitted, X, start).items():
            assert getattr(found, name)[place] == pytest.approx(value, rel=1e-3, abs=1e-6), name
