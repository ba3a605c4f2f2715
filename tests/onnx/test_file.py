"""The exported file against the detector."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest

import axonad
import onnx
from axonad import AxonAD, Session
from axonad.errors import ConfigError, FileError, NotFittedError
from axonad.onnx.file import ONNX_TERMS
from axonad.score.terms import TERMS
from tests.conftest import ROOT, SMALL, waves


def windows_of(X, length):
    """Every window (n, T, F) of a series, one after another."""
    return np.stack([X[i : i + length] for i in range(len(X) - length + 1)])


def run(path, windows):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(None, {"window": windows}), strict=True))


def assert_close(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))  # never blamed
    found, expected = (np.where(np.isneginf(values), 0, values) for values in (found, expected))
    np.testing.assert_array_less(np.abs(found - expected) / np.maximum(1, np.abs(expected)), 1e-4)


def assert_same_scores(detector, X, path):
    """Compare all outputs with the detector's own."""
    detector.export_onnx(path)
    found = run(path, windows_of(X, detector.window))
    whole = detector.set_params(align="end").explain(X)
    expected = {"score": whole.scores, **whole.components, "channels": whole.blame}
    assert list(found) == list(expected)
    for name, values in expected.items():
        assert_close(found[name], values[detector.window - 1 :])


def strange(rows, channels):
    """Waves with a loud and a quiet fault."""
    X = waves(rows, channels, seed=3)
    X[rows // 3 : rows // 3 + 9, 0] += 40
    X[rows // 2 : rows // 2 + 9, -1] = X[rows // 2, -1]
    return X


def test_large_offsets_do_not_cost_precision(tmp_path):
    """A position in metres or a counter moves by less than the resolution of float32."""
    offset, unit = np.array([1e6, -3e8, 0]), np.array([0.1, 1, 1e-6])
    detector = AxonAD(**SMALL).fit(waves(300) * unit + offset)
    assert_same_scores(detector, strange(150, 3) * unit + offset, tmp_path / "model.onnx")


def test_channels_that_never_moved_and_extremes(tmp_path):
    train, X = waves(300), strange(150, 3)
    train[:, 1] = X[:, 1] = 7
    detector = AxonAD(**SMALL).fit(train)
    X[60, 1], X[80, 0], X[100, 2], X[120, 1] = 8, 1e30, -1e120, -1e100
    assert_same_scores(detector, X, tmp_path / "model.onnx")
    assert np.isneginf(detector.explain(X[:50]).blame[:, 1]).all()
    detector = AxonAD(**SMALL, scaling="train").fit(train)
    assert_same_scores(detector, X, tmp_path / "train.onnx")


def test_batches_of_any_size_give_the_same(fitted, tmp_path):
    fitted.export_onnx(tmp_path / "m.onnx")
    windows = windows_of(strange(80, 3), fitted.window)
    whole = run(tmp_path / "m.onnx", windows)["score"]
    for size in (1, 2, 33):
        assert_close(run(tmp_path / "m.onnx", windows[:size])["score"], whole[:size])


def test_the_file_is_whole_valid_and_repeatable(fitted, tmp_path):
    fitted.export_onnx(tmp_path / "deep" / "a.onnx")
    fitted.export_onnx(tmp_path / "b.onnx")
    fitted.save(tmp_path / "saved")
    axonad.load(tmp_path / "saved").export_onnx(tmp_path / "c.onnx")
    data = (tmp_path / "deep" / "a.onnx").read_bytes()
    assert data == (tmp_path / "b.onnx").read_bytes() == (tmp_path / "c.onnx").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.onnx", "c.onnx", "deep", "saved"]
    model = onnx.load(tmp_path / "b.onnx", load_external_data=False)
    onnx.checker.check_model(model, full_check=True)
    assert not any(tensor.external_data for tensor in model.graph.initializer)
    assert [entry.version for entry in model.opset_import] == [17]
    assert str(ROOT).encode() not in data


def test_metadata(fitted, tmp_path):
    fitted.export_onnx(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    facts = session.get_modelmeta().custom_metadata_map
    assert facts["kind"] == "axonad-onnx"
    assert facts["format"] == "1"
    assert facts["axonad"] == axonad.__version__
    assert json.loads(facts["channels"]) == ["speed", "yaw_rate", "torque"]
    assert (facts["channel_count"], facts["window"], facts["scaling"]) == ("3", "16", "soft")
    assert float(facts["threshold"]) == fitted.threshold_
    assert json.loads(facts["center"]) == fitted._scaler.center.tolist()
    assert json.loads(facts["unit"]) == fitted._scaler.unit.tolist()
    assert json.loads(facts["params"])["d_model"] == 16
    assert facts["fingerprint"] == fitted.fingerprint
    assert session.get_inputs()[0].shape == ["batch", 16, 3]


def test_metadata_without_channel_names(tmp_path):
    AxonAD(**SMALL).fit(waves(200)).export_onnx(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    assert session.get_modelmeta().custom_metadata_map["channels"] == "null"


def test_every_term_of_the_score_is_in_the_graph():
    assert list(ONNX_TERMS) == list(TERMS)


def test_refusals(fitted, tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    with pytest.raises(NotFittedError, match="not fitted yet"):
        AxonAD().export_onnx(path)
    with pytest.raises(ConfigError, match=r"cannot be exported; fit with scaling='soft'"):
        AxonAD.paper(**SMALL).fit(waves(200)).export_onnx(path)
    path.write_text("mine")
    with pytest.raises(FileError, match=r"m.onnx already exists; .* pass overwrite=True"):
        fitted.export_onnx(path)
    assert path.read_text() == "mine"
    with pytest.raises(FileError, match="cannot write"):
        fitted.export_onnx(tmp_path, overwrite=True)
    monkeypatch.setattr("axonad.onnx.file.MAX_BYTES", 100)
    with pytest.raises(ConfigError, match="too many for one ONNX file"):
        fitted.export_onnx(path, overwrite=True)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("m.onnx", "mine")]


def test_overwrite_replaces(fitted, tmp_path):
    (tmp_path / "m.onnx").write_text("old")
    fitted.export_onnx(tmp_path / "m.onnx", overwrite=True)
    assert len(run(tmp_path / "m.onnx", waves(16)[None])["score"]) == 1


def example(*words):
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(ROOT / "examples" / "onnx_scorer.py"), *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_the_example_scores_as_the_live_scorer(fitted, tmp_path):
    import pandas as pd

    X = strange(90, 3)
    X[40, 1] = np.nan  # held
    X[60:64, 2] = np.nan  # two held, two refused: the window is cleared
    frame = pd.DataFrame(X, columns=["speed", "yaw_rate", "torque"])
    frame[["torque", "speed", "yaw_rate"]].assign(note="x").to_csv(tmp_path / "x.csv")
    fitted.export_onnx(tmp_path / "m.onnx")
    words = ["--max-hold", "2", "--ignore-extra"]
    code, lines, err = example(tmp_path / "m.onnx", tmp_path / "x.csv", *words)
    assert (code, err) == (0, "")
    live = Session(fitted, hold_limit=2).push(X)
    rows = np.flatnonzero(np.isfinite(live.scores))
    assert [line["step"] for line in lines] == rows.tolist()
    assert [line["alarm"] for line in lines] == (live.scores[rows] > fitted.threshold_).tolist()
    assert_close(
        np.array([[line["score"], line["d_rec"], line["d_q"]] for line in lines]),
        np.stack([live.scores[rows], *(values[rows] for values in live.parts.values())], axis=1),
    )


def test_the_example_needs_neither_torch_nor_axonad():
    text = (ROOT / "examples" / "onnx_scorer.py").read_text()
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE))
    assert imported - sys.stdlib_module_names == {"numpy", "onnxruntime"}


def load_example():
    spec = importlib.util.spec_from_file_location("onnx_scorer", ROOT / "examples/onnx_scorer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("speed,torque", "the file lacks channels of the model: yaw_rate"),
        ("speed,torque,yaw_rate,gps,note", "channels not in model: gps, note; drop them with "
         "--ignore-extra"),
    ],
)  # fmt: skip
def test_the_example_names_channels_that_do_not_fit(capsys, tmp_path, header, message):
    (tmp_path / "x.csv").write_text(header + "\n1,2\n")
    rows = load_example().read_rows(
        tmp_path / "x.csv", ["speed", "yaw_rate", "torque"], 3, ignore_extra=False
    )
    with pytest.raises(SystemExit) as caught:
        next(rows)
    assert (caught.value.code, capsys.readouterr().err) == (2, f"error: {message}\n")


def test_the_example_skips_time_and_takes_bad_lines_as_missing(tmp_path):
    read = load_example().read_rows
    (tmp_path / "x.csv").write_text("Time,b,Label,a\n0,1,0,2\n\n1,x,0,3\n2,4,0\n3,NA,1,inf\n")
    expected = [[2, 1], [np.nan] * 2, [np.nan] * 2, [np.nan] * 2]
    found = list(read(tmp_path / "x.csv", ["a", "b"], 2, ignore_extra=False))
    np.testing.assert_array_equal(found, expected)
    found = list(read(tmp_path / "x.csv", None, 2, ignore_extra=False))
    np.testing.assert_array_equal(found[0], [1, 2])


@pytest.mark.filterwarnings("ignore:.*new context:axonad.errors.DataWarning")
def test_context_is_clipped_inside_the_file(tmp_path):
    X = waves(300, 4)
    X[:, 1] = np.linspace(18, 24, 300)
    X[:, 3] = 7.0
    detector = AxonAD(**SMALL, context=("1",)).fit(X)
    far = strange(80, 4)
    far[:, 1] = np.linspace(-5, 30, 80)
    far[:, 3] = 7.0
    assert_same_scores(detector, far, tmp_path / "d.onnx")
