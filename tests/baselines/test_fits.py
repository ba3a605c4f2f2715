"""FITS against its formula."""

from __future__ import annotations

import torch

from axonad.baselines import fits


def test_fits_is_a_complex_linear_layer_per_channel():
    net = fits.Net(2, window=24, factor=2, cutoff=5)
    with torch.no_grad():
        net.weight.normal_()
        net.bias.normal_()
        windows = torch.randn(3, 24, 2)
        x = windows[:, ::2]
        z = (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, keepdim=True) + 1e-5)
        spectrum = torch.zeros(3, 13, 2, dtype=torch.complex64)
        for channel in range(2):
            weight = torch.complex(net.weight[0, channel], net.weight[1, channel])
            bias = torch.complex(net.bias[0, channel], net.bias[1, channel])
            low = torch.fft.rfft(z[:, :, channel])[:, :5]
            spectrum[:, :10, channel] = low @ weight.T + bias
        expected = torch.fft.irfft(spectrum, dim=1) * 2 * torch.sqrt(
            x.var(1, keepdim=True) + 1e-5
        ) + x.mean(1, keepdim=True)
        torch.testing.assert_close(net(windows), expected, rtol=1e-4, atol=1e-4)
