"""Tables and figures, printed and written."""

from __future__ import annotations

import pytest

from axonad.cli.bench.report_files import FORMATS, print_report_table, write_report
from axonad.errors import FileError, InputError
from axonad.report.drawing import new_figure, save_figure
from axonad.report.table import Column, Table


def make_table():
    columns = (Column(heading="name", style="text"), Column(heading="AUC-PR"))
    return Table(title="Scores", columns=columns, rows=(("one", 0.25),))


def missing(*_):
    raise InputError("too few rows")


@pytest.mark.parametrize(
    ("form", "part"),
    [("text", "one    0.250"), ("markdown", "| one"), ("latex", r"\begin{"), ("csv", "one,0.25")],
)
def test_a_table_is_printed_in_every_format(capsys, form, part):
    assert form in FORMATS
    print_report_table(make_table(), form)
    assert part in capsys.readouterr().out


def test_what_the_rows_allow_is_written_and_the_rest_reported(tmp_path):
    report = write_report(
        tmp_path / "new",
        tables={"scores": make_table, "pairs": missing},
        figures={"bars": lambda path: path.write_text(path.suffix), "curve": missing},
        force=False,
    )
    assert (report.tables, report.figures) == (["scores"], ["bars"])
    assert report.missing == [
        ("table", "pairs", "too few rows"),
        ("figure", "curve", "too few rows"),
    ]
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert written == {"scores.md", "scores.tex", "scores.csv", "bars.png", "bars.svg"}


def test_one_existing_table_keeps_all_from_being_written(tmp_path):
    (tmp_path / "scores.tex").write_text("mine")
    with pytest.raises(FileError, match=r"scores\.tex already exists"):
        write_report(tmp_path, tables={"scores": make_table}, figures={}, force=False)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
    write_report(tmp_path, tables={"scores": make_table}, figures={}, force=True)
    assert (tmp_path / "scores.tex").read_text() != "mine"


def test_a_full_disk_ends_the_report(tmp_path, full_disk):
    def draw(path):
        save_figure(new_figure(path)[0], path)

    for tables, figures in (({"scores": make_table}, {}), ({}, {"bars": draw})):
        with full_disk(20), pytest.raises(FileError, match=": File too large"):
            write_report(tmp_path / "new", tables=tables, figures=figures, force=False)
        assert list(tmp_path.iterdir()) == []
