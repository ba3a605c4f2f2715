"""What an experiment prints and writes at its end."""

from __future__ import annotations

import pytest

from axonad.cli.paper.results import write_results
from axonad.errors import InputError
from axonad.report.table import Column, Table


def make_table():
    columns = (Column(heading="name", style="text"), Column(heading="AUC-PR"))
    return Table(title="Scores", columns=columns, rows=(("one", 0.25),))


def missing(*_):
    raise InputError("too few rows")


def test_what_cannot_be_made_is_reported(tmp_path, capsys):
    (tmp_path / "curve.svg").write_text("old")
    figures = {"bars": lambda path: path.write_text(path.suffix), "curve": missing}
    write_results(tmp_path, tables={"scores": make_table, "pairs": missing}, figures=figures)
    assert capsys.readouterr().out.splitlines() == [
        "Scores", "name  AUC-PR", "one    0.250",
        f"wrote scores (.md, .tex, .csv) and bars (.png, .svg) to {tmp_path}",
        "  no table pairs: too few rows",
        "  no figure curve: too few rows (the file of an earlier run is kept)",
    ]  # fmt: skip
    written = {"bars.png", "bars.svg", "curve.svg", "scores.csv", "scores.md", "scores.tex"}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_the_first_table_is_required(tmp_path):
    with pytest.raises(InputError, match="too few rows"):
        write_results(tmp_path / "new", tables={"scores": missing}, figures={})
    assert not (tmp_path / "new").exists()
