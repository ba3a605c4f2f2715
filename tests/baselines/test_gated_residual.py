"""Layers with separate weights per variable."""

from __future__ import annotations

import torch

from axonad.baselines._gated_residual import PerVariable


def test_per_variable_layers_are_linear_layers_side_by_side():
    layer = PerVariable(3, 4, 5)
    x = torch.randn(3, 2, 4)
    naive = torch.stack([x[i] @ layer.weight[i] + layer.bias[i] for i in range(3)])
    torch.testing.assert_close(layer(x), naive)
