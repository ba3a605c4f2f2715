"""TFTResidual's loss, attention and inputs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.baselines import tft_residual
from tests.baselines.detectors import make_quick
from tests.conftest import waves


def test_pinball_is_smallest_at_the_quantiles():
    y = torch.linspace(0, 1, 1001)[:, None]
    at = torch.tensor(tft_residual.QUANTILES)[:, None].expand(1001, 3, 1)
    best = tft_residual.pinball(at, y)
    for shift in (-0.05, 0.05):
        assert tft_residual.pinball(at + shift, y) > best
    median = tft_residual.pinball(torch.full((1, 3, 1), 2.0), torch.tensor([[5.0]]))
    assert median.item() == pytest.approx(3 * np.mean(tft_residual.QUANTILES))


def test_tft_never_sees_the_rows_it_forecasts():
    detector = make_quick("TFTResidual", horizon=3).fit(waves(300))
    X = waves(12, seed=1)
    x = torch.from_numpy(detector._scaler.apply(X))[None]
    with torch.no_grad():
        quantiles = detector._net(x[:, :9])
    assert quantiles.shape == (1, 3, 3, 3)
    expected = (x[0, -1] - quantiles[0, -1, 1]).abs().mean().item()
    assert detector.decision_function(X)[0] == pytest.approx(expected, rel=1e-5)
    other = X.copy()
    other[9:11] = 7.0  # forecast rows before the last make no difference to its score
    np.testing.assert_allclose(
        detector.decision_function(other), detector.decision_function(X), rtol=1e-6
    )


def test_attention_of_heads_is_averaged_and_looks_back():
    layer = tft_residual.Attention(4, 2, dropout=0.0)
    x = torch.randn(1, 6, 4)
    q, k, v = (part(x)[0] for part in (layer.query, layer.key, layer.value))
    naive = []
    for t in (3, 4, 5):
        share = sum(
            torch.softmax(k[: t + 1, head] @ q[t, head] / 2**0.5, dim=0) / 2
            for head in (slice(0, 2), slice(2, 4))
        )
        naive.append(layer.out(share @ v[: t + 1]))
    torch.testing.assert_close(layer(x, 3)[0], torch.stack(naive))


def test_positions_of_a_window():
    found = tft_residual.positions(5, 2)
    assert found.shape == (5, 5)
    torch.testing.assert_close(found[:, 0], torch.linspace(0, 1, 5))
    torch.testing.assert_close(
        found[1], torch.tensor([0.25, 1.0, 0.0, 0.0, -1.0]), atol=1e-6, rtol=0
    )
