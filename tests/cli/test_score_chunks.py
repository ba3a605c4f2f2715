"""``axonad score --chunk``: the same table as without, written whole or not at all."""

from __future__ import annotations

import datetime as dt
import gzip
import tracemalloc

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from axonad import load, make_detector
from axonad.cli import score as score_module
from axonad.cli import score_chunks as chunks_module
from axonad.data.readers.chunks import FileChunks
from tests.cli.small_runs import NAMES
from tests.conftest import SMALL, waves

DETECTORS = {
    "AxonAD": SMALL, "CrossChannelRidge": {}, "KMeansAD": {"window": 12, "clusters": 4},
}  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, params in DETECTORS.items():
        frame = pl.DataFrame(waves(400), schema=NAMES)
        make_detector(name, contamination=0.02, **params).fit(frame).save(folder / name)
    make_detector("AxonAD", **SMALL, scaling="array").fit(frame).save(folder / "array")
    return folder


def drive(rows=230):
    X = waves(rows, seed=1)
    X[100:110, 1] += 3
    X[180:182] -= 2
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
    times = [start + dt.timedelta(seconds=i) for i in range(rows)]
    labels = (np.arange(rows) // 10 == 10).astype(int)
    frame = pl.DataFrame(X, schema=NAMES)
    return frame.with_columns(Label=pl.Series(labels), time=pl.Series(times))


def read(path):
    return pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)


@pytest.mark.parametrize("align", ["center", "end"])
@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize(("kind", "out"), [("csv", "parquet"), ("parquet", "csv")])
def test_the_table_and_the_events_are_those_of_the_whole(
    run, models, tmp_path, kind, out, name, align, monkeypatch
):
    monkeypatch.setattr(chunks_module, "PART", 60)
    words = ["score", models / name, f"x.{kind}"]
    words += ["--align", align] if name != "CrossChannelRidge" else []
    getattr(drive(), f"write_{kind}")(tmp_path / f"x.{kind}")
    code, said, err = run(*words, "-o", f"whole.{out}")
    assert (code, err) == (0, "")
    whole = read(tmp_path / f"whole.{out}")
    assert whole["alarm"].sum() > 0
    for size in (3, 11, 64, 229, 230, 500):
        target = tmp_path / f"{size}.{out}"
        code, chunked, err = run(*words, "-o", target.name, "--chunk", size)
        assert (code, err) == (0, "")
        assert_frame_equal(read(target), whole, rel_tol=1e-6, abs_tol=1e-6)
        assert chunked.replace(target.name, f"whole.{out}") == said


@pytest.mark.parametrize(
    "times",
    [
        [str(i) if i < 50 else f"{i}.5" for i in range(90)],
        [f"0{i}" if i < 50 else f"{i} s" for i in range(90)],
        ["" if i < 40 else str(i) for i in range(90)],
        ["" if i < 40 else f"at {i}" for i in range(90)],
        [f'"line\n{i}"' for i in range(90)],
        [""] * 90,
    ],
)
@pytest.mark.parametrize("out", ["csv", "parquet"])
def test_times_keep_the_type_they_have_in_the_whole(run, models, tmp_path, times, out, monkeypatch):
    monkeypatch.setattr(chunks_module, "PART", 30)
    rows = [",".join(f"{v}" for v in row) for row in waves(90, seed=1)]
    lines = [f"{time},{row}" for time, row in zip(times, rows, strict=True)]
    text = "\n".join([",".join(["time", *NAMES]), *lines])  # without a last line end
    (tmp_path / "x.csv").write_text(text)
    with gzip.open(tmp_path / "x.csv.gz", "wt") as file:
        file.write(text)
    pl.read_csv(tmp_path / "x.csv").write_parquet(tmp_path / "x.parquet")
    words = ["score", models / "CrossChannelRidge"]
    assert run(*words, "x.csv", "-o", f"whole.{out}")[0] == 0
    for source in ("x.csv", "x.csv.gz", "x.parquet"):
        assert run(*words, source, "-o", f"s.{out}", "--chunk", 20, "--force")[0] == 0
        assert_frame_equal(read(tmp_path / f"s.{out}"), read(tmp_path / f"whole.{out}"))


def with_value(frame, row, column, value):
    values = frame[column].to_list()
    values[row] = value
    return frame.with_columns(pl.Series(column, values, strict=False))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["AxonAD", "x.csv", "--chunk", "0"], "chunk must be at least 1, got 0"),
        (["AxonAD", "none.parquet", "--chunk", "9"], "none.parquet does not exist"),
        (["AxonAD", "x.txt", "--chunk", "9"], "no reader for 'x.txt'"),
        (["AxonAD", "bad.parquet", "--chunk", "9"], "bad.parquet cannot be read as Parquet"),
        (["AxonAD", "bad.csv.gz", "--chunk", "9"], "bad.csv.gz cannot be read as CSV"),
        (["AxonAD", "x.csv", "--chunk", "9", "--figure", "f.png"], "--figure needs the whole"),
        (["array", "x.csv", "--chunk", "9"], "AxonAD cannot score in chunks as it was fitted"),
        (["AxonAD", "nan.csv", "--chunk", "9"], "first at row 200, channel 'yaw_rate'"),
        (["AxonAD", "nan.parquet", "--chunk", "9"], "first at row 200, channel 'yaw_rate'"),
        (["AxonAD", "gap.csv", "--chunk", "9"], "first at row 100, channel 'yaw_rate'"),
        (["AxonAD", "text.csv", "--chunk", "9"], "'yaw_rate' of text.csv is not numeric: 'x' in "
         "row 200"),
        (["AxonAD", "label.csv", "--chunk", "9"], "must be 0 or 1, got 7 in row 200"),
        (["AxonAD", "x.csv", "--chunk", "9", "--ignore", "torque"], "X lacks channel 'torque'"),
        (["AxonAD", "x.csv", "--chunk", "9", "--ignore", "sped"], "did you mean 'speed'"),
        (["AxonAD", "short.csv", "--chunk", "9"], "at most the series length 15, got 16"),
        (["AxonAD", "none.csv.gz", "--chunk", "9"], "none.csv.gz does not exist"),
        (["AxonAD", "head.csv", "--chunk", "9"], "head.csv has a header but no rows"),
        (["AxonAD", "head.parquet", "--chunk", "9"], "head.parquet has a header but no rows"),
    ],
)  # fmt: skip
def test_mistakes_leave_nothing_behind(run, models, tmp_path, words, message):
    frame = drive()
    frame.write_csv(tmp_path / "x.csv")
    frame.head(15).write_csv(tmp_path / "short.csv")
    frame.head(0).write_csv(tmp_path / "head.csv")
    frame.head(0).write_parquet(tmp_path / "head.parquet")
    with_value(frame, 200, "yaw_rate", None).write_csv(tmp_path / "nan.csv")
    with_value(frame, 200, "yaw_rate", None).write_parquet(tmp_path / "nan.parquet")
    silent = pl.when(pl.int_range(pl.len()) >= 100).then(None).otherwise(pl.col("yaw_rate"))
    frame.with_columns(silent.alias("yaw_rate")).write_csv(tmp_path / "gap.csv")
    text = frame.with_columns(pl.col("yaw_rate").cast(pl.String))
    with_value(text, 200, "yaw_rate", "x").write_csv(tmp_path / "text.csv")
    with_value(frame, 200, "Label", 7).write_csv(tmp_path / "label.csv")
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not")
    (tmp_path / "bad.csv.gz").write_bytes(gzip.compress(b"speed,yaw_rate\n" * 4000)[:40])
    before = set(tmp_path.iterdir())
    code, _, err = run("score", models / words[0], *words[1:], "-o", "s.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
    assert set(tmp_path.iterdir()) == before


def test_an_interrupt_leaves_the_old_file(run, models, tmp_path, monkeypatch):
    drive().write_parquet(tmp_path / "x.parquet")
    (tmp_path / "s.parquet").write_text("mine")
    words = ["score", models / "CrossChannelRidge", "x.parquet", "-o", "s.parquet", "--chunk", "50"]
    code, _, err = run(*words)
    assert code == 2
    assert "s.parquet already exists" in err
    whole = chunks_module.score_chunks

    def interrupted(detector, chunks, *_):
        for i, part in enumerate(whole(detector, chunks)):
            if i == 2:
                raise KeyboardInterrupt
            yield part

    monkeypatch.setattr(chunks_module, "score_chunks", interrupted)
    monkeypatch.setattr(chunks_module, "PART", 50)
    assert run(*words, "--force")[0] == 130
    assert (tmp_path / "s.parquet").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"x.parquet", "s.parquet"}
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert run(*words, "--force")[0] == 0
    assert pl.read_parquet(tmp_path / "s.parquet").height == 230


def test_large_files_are_chunked_without_being_asked(run, models, tmp_path, monkeypatch):
    drive().write_parquet(tmp_path / "x.parquet")
    monkeypatch.setattr(score_module, "read_for_model", None)
    monkeypatch.setattr(score_module, "LARGE", 100)
    assert run("score", models / "AxonAD", "x.parquet", "-o", "s.csv")[0] == 0
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(score_module, "LARGE", 100)
    monkeypatch.setattr(score_module, "FileChunks", None)
    for model, more in (("array", []), ("AxonAD", ["--figure", "f.png"])):
        words = ["score", models / model, "x.parquet", "-o", "s.csv", "--force", *more]
        assert run(*words)[0] == 0


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_memory_of_reading_and_writing_is_bounded(models, tmp_path, kind, monkeypatch):
    detector = load(models / "CrossChannelRidge")
    monkeypatch.setattr(chunks_module, "PART", 2_000)

    def peak(rows):
        path = tmp_path / f"{rows}.{kind}"
        getattr(pl.DataFrame(waves(rows), schema=NAMES), f"write_{kind}")(path)
        tracemalloc.start()
        try:
            chunks = FileChunks(path, size=2_000)
            chunks_module.score_chunked(detector, lambda _: chunks, tmp_path / f"out.{kind}")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2_000)
    assert peak(60_000) < 1.5 * peak(8_000)
