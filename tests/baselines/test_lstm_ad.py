"""LSTMAD's forecast."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import gelu

from axonad.baselines.lstm_ad import Net


def step(lstm: torch.nn.LSTM, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """One step of one layer, gate by gate."""
    gates = lstm.weight_ih_l0 @ x + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ h + lstm.bias_hh_l0
    i, f, g, o = gates.chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def test_the_forecast_is_one_decoder_step_after_all_rows():
    torch.manual_seed(0)
    net = Net(2, 4, 1)
    x = torch.randn(3, 5, 2)
    for window, found in zip(x, net(x), strict=True):
        h = c = torch.zeros(4)
        for row in window:
            h, c = step(net.encoder, row, h, c)
        h, _ = step(net.decoder, torch.zeros(2), h, c)
        torch.testing.assert_close(found, net.head(gelu(h)), rtol=1e-5, atol=1e-6)
