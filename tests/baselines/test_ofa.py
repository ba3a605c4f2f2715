"""OFA: what is trained, files, averaging."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

import axonad
from axonad.baselines import ofa
from axonad.baselines._gpt2 import Shape
from axonad.errors import ConfigError, ModelFileError
from tests.conftest import waves
from tests.fuzz.forging import forge
from tests.quick import QUICK, write_gpt2


@pytest.fixture
def folder(tmp_path):
    return write_gpt2(tmp_path)


def make(**changes):
    return axonad.make_detector("OFA", **{**QUICK["OFA"], **changes})


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


@pytest.mark.parametrize(
    "change",
    [{"heads": 0}, {"heads": 3}, {"width": 8.0}, {"layers": -1}, {"rows": 24}, {"epsilon": 0.0}],
    ids=str,
)
def test_a_made_up_shape_is_refused(folder, tmp_path, change):
    make(weights=str(folder), epochs=1).fit(waves(60)).save(tmp_path / "saved")
    path = tmp_path / "saved" / "detector.json"
    state = json.loads(path.read_text())["state"]
    forge(path, state={**state, "gpt2": {**state["gpt2"], **change}})
    with pytest.raises(ModelFileError, match=rf"detector\.json .*{next(iter(change))}"):
        axonad.load(tmp_path / "saved")


def test_the_default_says_what_it_needs():
    detector = ofa.OFA()
    with pytest.raises(ConfigError, match=r"OFA needs weights, a folder with a GPT-2 \(config"):
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
        (lambda f: (f / "config.json").write_text("{"), "is not a GPT-2 configuration"),
        (lambda f: (f / "config.json").write_text("[]"), "is not a GPT-2 configuration"),
        (lambda f: rewrite(f, n_head=None), "configuration: entry 'n_head' is missing"),
        (lambda f: rewrite(f, n_head=3), r"n_head \(3\) must divide n_embd \(8\)"),
        (lambda f: rewrite(f, n_embd=4), r"has shape \(12, 8\), config.json says \(12, 4\)"),
        (lambda f: rewrite(f, n_embd=2), "X must have at most 2 channels, the width of"),
        (lambda f: rewrite(f, n_positions=8), "window must be at most 8, the n_positions of"),
        (lambda f: rewrite(f, n_layer=0), "layers must be at most 0, the n_layer of .*, got 1"),
        (lambda f: (f / "model.safetensors").unlink(), r"model\.safetensors cannot be read"),
        (lambda f: (f / "model.safetensors").write_bytes(b"x" * 40), r"safetensors is damaged"),
        (lambda f: without(f, "h.0.mlp.c_fc.bias"), "has no 'h.0.mlp.c_fc.bias'; is it a GPT-2"),
    ],
)  # fmt: skip
def test_broken_folders_say_what_is_wrong(folder, damage, message):
    damage(folder)
    with pytest.raises(ConfigError, match=message):
        make(weights=str(folder)).fit(waves(200))


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
