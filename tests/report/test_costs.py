from __future__ import annotations

from axonad.report.costs import failure_table, runtime_table
from tests.report.rows import make_row, make_rows


def test_runtime_table():
    rows = [
        make_row("slow", "s0", fit_seconds=10.0, score_seconds=3.0, steps=1000, memory_mb=50.0),
        make_row("slow", "s1", fit_seconds=20.0, score_seconds=1.0, steps=3000, memory_mb=70.0),
        make_row("fast", "s0", fit_seconds=1.0, score_seconds=1.0, device="cuda:0", threads=2),
        make_row("fast", "s1", None, fit_seconds=999.0, memory_mb=999.0),
    ]
    table = runtime_table(rows)
    assert table.text_rows() == [
        ["fast", "1.00", "1.00", "1.0000", "100", "1", "1"],
        ["slow", "15.00", "2.00", "1.0000", "70", "2", "0"],
    ]
    assert "Run on cpu (threads: 1); cuda:0 (threads: 2)." in table.notes
    assert "Times of different devices or thread counts do not compare." in table.notes
    with_device = runtime_table([make_row(device_memory_mb=12.0)])
    assert "device MB" in with_device.headings()


def test_failure_table():
    rows = make_rows({"A": [0.5, None], "B": [None, 0.1]})
    table = failure_table(rows)
    assert table.text_rows() == [
        ["A", "D", "s1", "0", "failed", "broke"],
        ["B", "D", "s0", "0", "failed", "broke"],
    ]
    assert table.notes[1] == "2 of 4 runs failed."
    assert failure_table([make_row()]).rows == ()
