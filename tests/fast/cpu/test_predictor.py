"""The predictor as matrix products against its convolutions."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import fold_spread
from axonad.fast.cpu.predictor import TailPredictor
from tests.model.naive import make_net, window


@pytest.mark.parametrize(
    ("horizon", "tail", "dilations"),
    [(0, 1, (1,)), (1, 5, (1, 2, 4)), (3, 20, (5, 3)), (7, 10, (9,))],  # some reach before step 0
)
def test_predictions_of_the_last_steps_equal_the_convolutions(horizon, tail, dilations):
    net = make_net(horizon=horizon, tail=tail, dilations=dilations).double()
    net.requires_grad_(False)
    x = window(net, batch=3).double()
    predictor = TailPredictor(net, x)
    inverse = fold_spread(net.online, torch.device("cpu")).inverse(x.flatten(0, 1))
    at_step = inverse.view(3, 20, 20).diagonal(dim1=1, dim2=2)[..., None]
    rows = x[:, -predictor.reads :] @ predictor.rows  # nothing earlier is read
    found = predictor(predictor.seen(rows, at_step), buffers=Buffers(x))
    last = net.config.scored_steps
    expected = net.predictor(net.online(x)[1])[:, :, -last:].transpose(1, 2).flatten(2)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
