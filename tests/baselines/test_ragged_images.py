"""Images of different shapes in one batch."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import conv2d, pad

from axonad.baselines._ragged_images import RaggedImages, longest_strip

ROWS = 10
PERIODS = [10, 5, 3, 2]  # the third does not divide the window


@pytest.mark.parametrize("reach", [0, 1, 2])
def test_a_convolution_is_that_of_each_image_alone(reach):
    torch.manual_seed(0)
    x = torch.randn(len(PERIODS), ROWS, 2, dtype=torch.float64)
    weight = torch.randn(3, 2, 2 * reach + 1, 2 * reach + 1, dtype=torch.float64)
    bias = torch.randn(3, dtype=torch.float64)
    images = RaggedImages(torch.tensor(PERIODS), rows=ROWS, reach=reach)
    found = images.unfold(images.convolve(images.fold(x), weight, bias))
    for window, period, result in zip(x, PERIODS, found, strict=True):
        lines = -(-ROWS // period)
        image = pad(window.T, (0, lines * period - ROWS)).view(1, 2, lines, period)
        expected = conv2d(image, weight, bias, padding=reach).flatten(2)[0, :, :ROWS].T
        torch.testing.assert_close(result, expected, rtol=1e-10, atol=1e-12)


def test_a_window_folded_and_unfolded_is_itself():
    x = torch.arange(4 * ROWS * 2.0).view(4, ROWS, 2)
    images = RaggedImages(torch.tensor(PERIODS), rows=ROWS, reach=1)
    strips = images.fold(x)
    assert strips.shape == (4, 2, longest_strip(ROWS, 1))
    assert torch.equal(images.unfold(strips), x)
