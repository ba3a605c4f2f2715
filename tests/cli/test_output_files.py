"""Where commands may write, and that they leave no partial files."""

from __future__ import annotations

import polars as pl
import pytest

from axonad.cli.output_files import check_output, write_table
from axonad.errors import AxonADError
from tests.cli.small_runs import assert_one_red_line, frame


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("/dev/null", {}, "/dev/null is not a regular file"),
        ("folder", {}, "folder is a folder; expected a file name"),
        ("old.csv", {}, "old.csv already exists; choose another name or pass --force"),
        ("old.csv/new.csv", {}, "old.csv is not a writable folder"),
        ("new.txt", {"endings": (".csv",)}, "its ending must be one of .csv"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(tmp_path, name, options, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.csv").write_text("mine")
    with pytest.raises(AxonADError, match=message):
        check_output(tmp_path / name, force=False, **options)


def test_force_overwrites_results_but_no_inputs(tmp_path):
    old, link = tmp_path / "old.csv", tmp_path / "link.csv"
    old.write_text("mine")
    link.symlink_to(old)
    check_output(old, force=True)
    with pytest.raises(AxonADError, match=r"link\.csv is an input of this command"):
        check_output(link, force=True, inputs=[old])


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_is_written_whole_or_not_at_all(tmp_path, monkeypatch, ending):
    path = tmp_path / "new" / f"t{ending}"
    write_table(path, {"a": [1, 2], "b": [0.5, None]})
    read = {".csv": pl.read_csv, ".parquet": pl.read_parquet}[ending]
    assert read(path).rows() == [(1, 0.5), (2, None)]
    before = path.read_bytes()

    def interrupted(frame, file):
        file.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, f"write_{ending[1:]}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_table(path, {"a": [3]})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "words",
    [
        "fit train.csv --detector PCA -o new",
        "score MODEL drive.csv -o new.csv",
        "score MODEL drive.csv -o new.parquet",
        "score MODEL drive.csv -o new.csv --chunk 50",
        "score MODEL drive.csv -o new.parquet --chunk 50",
        "score MODEL drive.csv -o small.csv --figure new.png",
        "score MODEL drive.csv -o small.csv --figure new.svg",
        "stream MODEL --alarms-only --state new.json",
        "export MODEL -o new.onnx",
        "evaluate scores.csv -o new.json",
        "--quiet demo --steps 4000 -o new --data",
    ],
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    run, model, tmp_path, full_disk, monkeypatch, words
):
    monkeypatch.setattr("axonad.cli.evaluate._print", lambda *_: None)
    frame(400).write_csv(tmp_path / "train.csv")
    frame(200, seed=1).write_csv(tmp_path / "drive.csv")
    columns = {"score": range(50), "Label": [0] * 40 + [1] * 10}
    pl.DataFrame(columns).write_csv(tmp_path / "scores.csv")
    before = sorted(tmp_path.iterdir())
    arguments = [model if word == "MODEL" else word for word in words.split()]
    lines = (tmp_path / "drive.csv").read_text()
    with full_disk():
        answer = run(*arguments, stdin=lines)
    assert_one_red_line(answer, ": File too large")
    assert sorted(tmp_path.iterdir()) == before
