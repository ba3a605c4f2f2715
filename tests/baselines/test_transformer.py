"""Row embeddings and position encodings."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.baselines._transformer import RowEmbedding, sinusoids


@pytest.mark.parametrize("width", [1, 5, 8])
def test_sinusoids(width):
    found = sinusoids(7, width)
    assert found.shape == (7, width)
    for t in range(7):
        for j in range(width):
            angle = t / 10_000 ** ((j - j % 2) / width)
            naive = np.sin(angle) if j % 2 == 0 else np.cos(angle)
            assert found[t, j].item() == pytest.approx(naive, abs=1e-5)


def test_tokens_go_round():
    layer = RowEmbedding(2, 4, window=6)
    x = torch.randn(1, 6, 2)
    w = layer.rows.weight
    naive = x[0, 5] @ w[:, :, 0].T + x[0, 0] @ w[:, :, 1].T + x[0, 1] @ w[:, :, 2].T
    torch.testing.assert_close(layer(x)[0, 0], naive + layer.position[0])
