"""The stack of linear layers."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from axonad.baselines._mlp import mlp


def test_activations_stand_between_layers_and_not_at_the_end():
    torch.manual_seed(0)
    net = mlp(3, 5, 4, 2, activation=nn.Tanh)
    x = torch.randn(6, 3)
    z, linear = x.numpy(), [layer for layer in net if isinstance(layer, nn.Linear)]
    for i, layer in enumerate(linear):
        z = z @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
        z = np.tanh(z) if i < 2 else z
    np.testing.assert_allclose(net(x).detach(), z, rtol=1e-5, atol=1e-6)
