"""CNN's forecast."""

from __future__ import annotations

import torch

from axonad.baselines.cnn import Net


def test_the_forecast_of_one_convolution_by_hand():
    torch.manual_seed(0)
    net = Net(2, (3,), reshape=False).eval()
    x = torch.randn(1, 6, 2)
    kernel, bias = net.convolutions[0].weight, net.convolutions[0].bias
    steps = [(kernel * x[0, t : t + 3].T).sum((1, 2)) + bias for t in range(4)]
    pooled = [torch.maximum(steps[t], steps[t + 1]).relu() for t in (0, 2)]
    expected = net.head((pooled[0] + pooled[1]) / 2)
    torch.testing.assert_close(net(x)[0], expected, rtol=1e-5, atol=1e-6)


def test_parity_mixes_channels_and_time_as_tsb_ad_does():
    torch.manual_seed(0)
    ours, theirs = (Net(2, (3,), reshape=reshape).eval() for reshape in (False, True))
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(4, 6, 2)
    mixed = torch.stack([window.flatten().view(2, 6).T for window in x])
    torch.testing.assert_close(theirs(x), ours(mixed))
    assert not torch.allclose(theirs(x), ours(x))
