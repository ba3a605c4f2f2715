from __future__ import annotations

import pytest

from axonad.bench.results import Results, read_rows
from axonad.errors import FileError, InputError
from tests.bench.jobs import make_row


def test_rows_come_back_as_they_went(tmp_path):
    failed = make_row(key="f", status="timeout", reason='said "no", then\tdied', metrics={})
    rows = [make_row(), failed, make_row(key="other", alarms={"threshold": 1e-17})]
    with Results(tmp_path / "new") as results:
        for row in rows:
            results.append(row)
    assert read_rows(tmp_path / "new") == rows
    assert read_rows(tmp_path / "new" / "rows.csv") == rows
    assert read_rows(tmp_path / "new" / "rows.parquet") == rows


def test_invalid_tables_are_refused(tmp_path):
    with pytest.raises(FileError, match="does not exist; expected rows of"):
        read_rows(tmp_path / "none")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="its columns differ"):
        read_rows(tmp_path)
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(FileError, match="cannot be read"):
        read_rows(tmp_path / "x.parquet")
    with Results(tmp_path / "new") as results:
        results.append(make_row())
    text = results.path.read_text().replace("causal", "fair")
    results.path.write_text(text)
    with pytest.raises(InputError, match=r"rows.csv, row 1: row's protocol must be one of"):
        read_rows(results.path)
