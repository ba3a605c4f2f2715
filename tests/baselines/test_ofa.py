"""OFA and the GPT-2 it reads: the block's formula, the files, what learns and what does not."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

import axonad
from axonad.baselines import _gpt2, ofa
from axonad.baselines._gpt2 import GPT2, Shape, load_weights, read_shape
from axonad.errors import ConfigError
from tests.conftest import waves
from tests.quick import QUICK, write_gpt2


@pytest.fixture
def folder(tmp_path):
    return write_gpt2(tmp_path)


def make(**changes):
    return axonad.make_detector("OFA", **{**QUICK["OFA"], **changes})


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


def test_only_norms_and_positions_learn(folder):
    detector = make(weights=str(folder), layers=2, epochs=2, lr=1e-2, restore_best=False)
    detector.fit(waves(200))
    before = load_file(folder / "model.safetensors")
    for name, value in detector._net.gpt2.state_dict().items():
        stored = before["wpe.weight"][:12] if name == "positions" else before[name]
        tuned = "ln_" in name or name == "positions"
        assert np.array_equal(value.numpy(), stored) != tuned, name


def test_what_was_fitted_needs_no_folder(folder, tmp_path):
    detector = make(weights=str(folder)).fit(waves(200))
    detector.save(tmp_path / "saved")
    for path in folder.glob("*.*"):
        path.unlink()
    twin = axonad.load(tmp_path / "saved")
    X = waves(60, seed=1)
    np.testing.assert_array_equal(twin.decision_function(X), detector.decision_function(X))
    assert twin.fingerprint == detector.fingerprint
    with pytest.raises(ConfigError, match=r"config\.json cannot be read"):
        twin.fit(waves(200))
    np.testing.assert_array_equal(twin.decision_function(X), detector.decision_function(X))


def test_the_default_says_what_it_needs():
    detector = ofa.OFA()
    with pytest.raises(
        ConfigError, match=r"OFA needs weights: give the folder of a GPT-2 \(config"
    ):
        detector.fit(waves(200))
    assert detector.get_params() == ofa.OFA().get_params()


def rewrite(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def without(folder, name):
    weights = load_file(folder / "model.safetensors")
    save_file({k: v for k, v in weights.items() if k != name}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), r"config\.json cannot be read: No such file"),
        (lambda f: (f / "config.json").write_text("{"), r"config\.json is no configuration of a"),
        (lambda f: (f / "config.json").write_text("[]"), r"config\.json is no configuration of a"),
        (lambda f: rewrite(f, n_head=None), "of a GPT-2: entry 'n_head' is missing"),
        (lambda f: rewrite(f, n_head=3), r"heads \(3\) must divide its width \(8\)"),
        (lambda f: rewrite(f, n_embd=4), r"has shape \(12, 8\), config.json says \(12, 4\)"),
        (lambda f: rewrite(f, n_embd=2), "takes at most 2 channels with these weights, got 3"),
        (lambda f: rewrite(f, n_positions=8), "window must be at most 8, the positions of"),
        (lambda f: rewrite(f, n_layer=0), "layers must be at most 0, what .* has, got 1"),
        (lambda f: (f / "model.safetensors").unlink(), r"model\.safetensors cannot be read"),
        (lambda f: (f / "model.safetensors").write_bytes(b"x" * 40), r"safetensors is damaged"),
        (lambda f: without(f, "h.0.mlp.c_fc.bias"), "has no 'h.0.mlp.c_fc.bias'; is it a GPT-2"),
    ],
)  # fmt: skip
def test_broken_folders_say_what_is_wrong(folder, damage, message):
    damage(folder)
    with pytest.raises(ConfigError, match=message):
        make(weights=str(folder)).fit(waves(200))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights": 3}, "weights must be the name of a folder, got 3"),
        ({"segment": 7}, r"segment \(7\) must divide window \(50\)"),
        ({"layers": 0}, "layers must be at least 1"),
        ({"average": 1}, "average must be True or False"),
        ({"dropout": 1.0}, "dropout must be below 1"),
    ],
)
def test_impossible_parameters_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        ofa.OFA(**params)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(
        ConfigError, match=r"weights must be a folder with config.json and .*nowhere"
    ):
        make(weights=str(tmp_path / "nowhere")).fit(waves(200))


def test_averaging_is_the_mean_over_windows_that_hold_a_row():
    detector = make().fit(waves(200))
    X = waves(40, seed=1)
    windows = detector._score_ends(X)[0]
    averaged = detector.set_params(average=True).decision_function(X)
    naive = [np.mean([s for i, s in enumerate(windows) if i <= t < i + 12]) for t in range(40)]
    np.testing.assert_allclose(averaged, naive, rtol=1e-6)


def test_segments_are_centred_and_scaled_by_themselves():
    shape = Shape(width=8, heads=2, layers=1, rows=12, epsilon=1e-5)
    net = ofa.Net(3, shape, segment=6, dropout=0.0).eval()
    with torch.no_grad():
        net.gpt2.h[0].mlp.c_proj.weight.normal_()
        net.gpt2.positions.normal_()
    x = torch.randn(2, 12, 3)
    shift = torch.tensor([5.0, -3.0]).repeat_interleave(6)[:, None]
    torch.testing.assert_close(net(3 * x + shift), 3 * net(x) + shift, rtol=1e-3, atol=1e-3)


def test_an_earlier_row_never_sees_a_later_one(folder):
    net = GPT2(read_shape(folder, layers=2, rows=10), dropout=0.1).eval()
    load_weights(net, folder)
    x = torch.randn(1, 10, 8)
    changed = x.clone()
    changed[:, 6:] = 3.0
    torch.testing.assert_close(net(x)[:, :6], net(changed)[:, :6])
    assert set(_gpt2.TUNED) >= {"ln_f", "positions"}
