"""Models and rows of earlier versions are read, and give what they gave then.

The folders under ``saved_models`` were written by ``saved_models/write.py``: ``0.1.0`` with that
version (format 1), ``format-2-first`` with the first code that wrote format 2, and ``0.2.0`` with
that version (format 2). ``saved_rows`` has rows of 0.1.0.
"""

from __future__ import annotations

import csv
import io
import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import axonad
from axonad.bench.results import read_rows
from axonad.errors import DataWarning, InputError, ModelFileError
from axonad.saving import FORMAT
from tests.conftest import waves

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in (HERE / "saved_models").glob("*/*/detector.json"))
STATES = sorted((HERE / "saved_models").glob("*/*.state"))


def load(folder):
    """Return the model in a folder; one of format 1 has no checksum, which is said."""
    old = json.loads((folder / "detector.json").read_text())["format"] == 1
    said = pytest.warns(DataWarning, match=r"detector\.json was saved by an older version")
    with said if old else nullcontext():
        return axonad.load(folder)


def expected(folder):
    return json.loads((folder.parent / "expected.json").read_text())[folder.name]


def test_every_format_has_models():
    formats = {json.loads((folder / "detector.json").read_text())["format"] for folder in FOLDERS}
    assert formats == set(range(1, FORMAT + 1))
    for release in {folder.parent for folder in FOLDERS}:
        names = {path.name for path in release.iterdir()}
        assert names >= {"AxonAD", "PCA", "USAD", "CrossChannelRidge", "AxonAD.state"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_a_saved_model_scores_as_it_did(folder):
    detector, then = load(folder), expected(folder)
    assert detector.channel_names == ("speed", "yaw_rate", "torque")
    assert detector.threshold_ == then["threshold"]
    scores = detector.decision_function(waves(60, seed=1))[: len(then["scores"])]
    np.testing.assert_allclose(scores, then["scores"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("state", STATES, ids=lambda s: f"{s.parent.name}-{s.stem}")
def test_a_stream_of_0_2_is_refused_in_one_sentence(state):
    with pytest.raises(ModelFileError, match=r"^the state was saved by axonad 0\.2 or older, .*"):
        axonad.Session(load(state.with_suffix("")), state.read_bytes())


def test_what_format_2_has_added_is_read():
    newest = HERE / "saved_models" / "0.2.0"
    forecast, relation = load(newest / "Forecast"), load(newest / "Relation")
    assert forecast.alarm_setup_.policy.start == forecast.threshold_
    assert forecast.events(waves(120, seed=1) + np.eye(120, 3, -80) * 50, why=True)[0].why
    assert relation.context == ("torque",)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_of_the_first_version_are_read(ending):
    rows = read_rows(HERE / "saved_rows" / f"0.1.0.{ending}")
    assert {row.version for row in rows} == {"0.1.0"}
    by_detector = {row.detector: (row.status, row.value("VUS-PR")) for row in rows}
    assert by_detector == {
        "CrossChannelRidge": ("ok", 1.0), "PCA": ("ok", 0.057844), "KMeansAD": ("failed", None),
    }  # fmt: skip
    assert rows[0].kinds["level_shift"]["found"] == 1
    assert rows[2].reason.startswith("InputError: window must be at most the series length 1000")


def test_rows_may_lack_a_column_that_came_later_but_none_that_is_needed(tmp_path):
    whole = (HERE / "saved_rows" / "0.1.0.csv").read_text()
    with io.StringIO(whole, newline="") as source:
        records = list(csv.DictReader(source))

    def without(column):
        path = tmp_path / "rows.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [name for name in records[0] if name != column])
            writer.writeheader()
            writer.writerows({k: v for k, v in one.items() if k != column} for one in records)
        return path

    assert [row.kinds for row in read_rows(without("kinds"))] == [{}, {}, {}]
    with pytest.raises(InputError, match="its columns differ"):
        read_rows(without("seed"))
