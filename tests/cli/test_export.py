"""``axonad export``: what it prints, refuses, and never leaves behind."""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import pytest

import axonad
from axonad.report.amounts import format_size
from tests.cli.small_runs import assert_one_red_line
from tests.conftest import waves


@pytest.fixture(scope="module")
def model(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    fitted.save(folder, overwrite=True)
    return folder


def test_export_says_what_it_wrote_and_verifies_it(run, model, tmp_path, fitted):
    code, out, err = run("export", model, "--out", "m.onnx")
    assert (code, err) == (0, "")
    size = (tmp_path / "m.onnx").stat().st_size
    assert f"wrote m.onnx, {format_size(size)}" in out
    assert "inputs: window (batch, 16, 3) float64" in out
    assert "score (batch) float64, d_rec (batch) float64, d_q (batch) float64, channels" in out
    assert f"threshold {fitted.threshold_:.6g}" in out
    assert "verified: 64 random windows differ by at most " in out
    assert float(out.split("at most ")[1]) < 1e-4
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    found = session.run(["score"], {"window": waves(16)[None]})[0]
    np.testing.assert_allclose(found, fitted.decision_function(waves(16))[:1], rtol=1e-4, atol=1e-4)


def test_without_onnxruntime_the_file_is_written_unverified(run, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    code, out, _ = run("export", model, "--out", "m.onnx")
    assert code == 0
    assert "not verified: pip install 'axonad[onnx]'" in out
    assert (tmp_path / "m.onnx").exists()


def test_nothing_is_overwritten_without_force(run, model, tmp_path):
    (tmp_path / "m.onnx").write_text("mine")
    assert_one_red_line(run("export", model, "-o", "m.onnx"), "m.onnx already exists")
    assert (tmp_path / "m.onnx").read_text() == "mine"
    assert run("export", model, "-o", "m.onnx", "--force")[0] == 0
    assert (tmp_path / "m.onnx").stat().st_size > 1000


def test_what_cannot_be_exported_leaves_nothing(run, tmp_path, monkeypatch, model):
    axonad.make_detector("PCA").fit(waves(200)).save(tmp_path / "pca")
    assert_one_red_line(run("export", "pca", "-o", "m.onnx"), "PCA cannot be exported to ONNX")
    assert_one_red_line(run("export", "none", "-o", "m.onnx"), "none does not exist")
    monkeypatch.setattr("axonad.cli.export.TOLERANCE", -1.0)
    assert_one_red_line(run("export", model, "-o", "m.onnx"), "m.onnx was removed")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert_one_red_line(run("export", model, "-o", "m.onnx"), "pip install 'axonad[onnx]'")
    assert [path.name for path in tmp_path.iterdir()] == ["pca"]
