"""GPT-2 against its formula, and its files."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from axonad.baselines import _gpt2
from axonad.baselines._gpt2 import GPT2, load_weights, read_shape
from tests.quick import write_gpt2


@pytest.fixture
def folder(tmp_path):
    return write_gpt2(tmp_path)


def naive_norm(x, w, name):
    z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return z * w[f"{name}.weight"] + w[f"{name}.bias"]


def naive_gpt2(x, w, *, heads: int, layers: int):
    """GPT-2 as its paper has it, one window (T, D) and one row at a time, in numpy."""
    x = x + w["wpe.weight"][: len(x)]
    size = x.shape[1] // heads
    for block in (f"h.{i}" for i in range(layers)):
        h = naive_norm(x, w, f"{block}.ln_1")
        q, k, v = np.split(
            h @ w[f"{block}.attn.c_attn.weight"] + w[f"{block}.attn.c_attn.bias"], 3, 1
        )
        out = np.zeros_like(x)
        for t in range(len(x)):
            for part in (slice(i * size, (i + 1) * size) for i in range(heads)):
                logits = k[: t + 1, part] @ q[t, part] / math.sqrt(size)
                share = np.exp(logits - logits.max())
                out[t, part] = share / share.sum() @ v[: t + 1, part]
        x = x + out @ w[f"{block}.attn.c_proj.weight"] + w[f"{block}.attn.c_proj.bias"]
        h = naive_norm(x, w, f"{block}.ln_2")
        h = h @ w[f"{block}.mlp.c_fc.weight"] + w[f"{block}.mlp.c_fc.bias"]
        h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
        x = x + h @ w[f"{block}.mlp.c_proj.weight"] + w[f"{block}.mlp.c_proj.bias"]
    return naive_norm(x, w, "ln_f")


@pytest.mark.parametrize("layers", [1, 2])
def test_gpt2_is_the_naive_formula(folder, layers):
    net = GPT2(read_shape(folder, layers=layers, rows=10), dropout=0.1).eval()
    load_weights(net, folder)
    x = np.random.default_rng(1).normal(size=(10, 8))
    weights = load_file(folder / "model.safetensors")
    with torch.no_grad():
        found = net(torch.from_numpy(x.astype(np.float32))[None])[0].numpy()
    expected = naive_gpt2(x, weights, heads=2, layers=layers)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_names_may_carry_a_prefix(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    shape = read_shape(folder, layers=2, rows=4)
    plain, prefixed = GPT2(shape, dropout=0.0), GPT2(shape, dropout=0.0)
    load_weights(plain, folder)
    extra = {"lm_head.weight": np.zeros((2, 2), np.float32)}
    save_file({f"transformer.{name}": value for name, value in weights.items()} | extra, path)
    load_weights(prefixed, folder)
    for name, value in plain.state_dict().items():
        assert torch.equal(prefixed.state_dict()[name], value)


def test_an_earlier_row_never_sees_a_later_one(folder):
    net = GPT2(read_shape(folder, layers=2, rows=10), dropout=0.1).eval()
    load_weights(net, folder)
    x = torch.randn(1, 10, 8)
    changed = x.clone()
    changed[:, 6:] = 3.0
    torch.testing.assert_close(net(x)[:, :6], net(changed)[:, :6])
    assert set(_gpt2.TRAINED) >= {"ln_f", "positions"}
