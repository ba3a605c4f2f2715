"""Layers of a stack of models against torch's own, one model at a time, and their gradients."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import conv1d, cosine_similarity, layer_norm, linear

from axonad.fast.gpu import layers


def noise(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("with_bias", [True, False])
def test_affine(models, with_bias):
    x, weight = noise(models, 2, 3, 4), noise(models, 5, 4)
    bias = noise(models, 5) if with_bias else None
    found = layers.affine(x, weight, bias)
    for m in range(models):
        expected = linear(x[m], weight[m], None if bias is None else bias[m])
        torch.testing.assert_close(found[m], expected)
    assert gradcheck(layers.affine, (x, weight, bias))


@pytest.mark.parametrize("models", [1, 2])
def test_sum_and_layer_norm(models):
    x, added = noise(models, 2, 3, 4), noise(models, 3, 4)
    gain, bias = noise(models, 4), noise(models, 4)
    total, normed = layers.add_norm(x, added, gain, bias, by_kernel=False)
    for m in range(models):
        torch.testing.assert_close(total[m], x[m] + added[m])
        torch.testing.assert_close(normed[m], layer_norm(total[m], (4,), gain[m], bias[m]))
    with torch.no_grad():
        torch.testing.assert_close(layers.normalise(total, gain, bias), normed)
    assert gradcheck(layers.normalise, (x, gain, bias))


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_convolution_relu_and_dropout(models, factor):
    dilation, z = 2, noise(models, 7, 2, 3)
    taps, bias = noise(models, 3, 3, 3), noise(models, 3)
    mask = None if factor == 1 else factor * torch.randint(0, 2, (models, 3, 2, 3)).double()
    found = layers.convolve(z, taps, bias, dilation, mask, factor)
    for m in range(models):
        kernel = taps[m].permute(2, 1, 0)  # (out, in, kernel)
        expected = conv1d(z[m].permute(1, 2, 0), kernel, bias[m], dilation=dilation).relu()
        expected = expected.permute(2, 0, 1) * (1 if mask is None else mask[m])
        torch.testing.assert_close(found[m], expected)

    def convolve(*inputs):
        return layers.convolve(*inputs, dilation, mask, factor)

    assert gradcheck(convolve, (z, taps, bias))


def test_cosine_averaged_over_heads():
    q, target = noise(2, 3, 8), noise(2, 3, 8).detach()
    found = layers.mean_cosine(q, target, 2)
    parts = [
        cosine_similarity(a, b, dim=-1)
        for a, b in zip(q.chunk(2, dim=-1), target.chunk(2, dim=-1), strict=True)
    ]
    torch.testing.assert_close(found, (parts[0] + parts[1]) / 2)
    assert gradcheck(lambda q: layers.mean_cosine(q, target, 2), (q,))


def test_rows_selected_from_each_window():
    z, begins = noise(2, 3, 5, 2), torch.tensor([[0, 2, 1], [3, 0, 2]])
    indices = layers.row_indices(begins, 2, window=5)
    found = layers.select_rows(z, indices)  # (M, steps, B, D)
    for m in range(2):
        for b in range(3):
            begin = int(begins[m, b])
            assert torch.equal(found[m, :, b], z[m, b, begin : begin + 2])
    assert gradcheck(lambda z: layers.select_rows(z, indices), (z,))
