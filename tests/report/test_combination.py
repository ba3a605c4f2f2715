"""The score beside its parts."""

from __future__ import annotations

import math

import pytest

from axonad.errors import InputError
from axonad.report.combination import combination_table
from tests.report.rows import make_row


def row(series, score, rec, query, **more):
    parts = {"d_rec": rec, "d_q": query, "end": 0.1}
    return make_row("AxonAD", series, score, parts=parts, **more)


ROWS = [
    row("s0", 0.60, 0.50, 0.20, dataset="A"),  # above both
    row("s1", 0.50, 0.50, 0.10, dataset="A"),  # level with d_rec
    row("s2", 0.30, 0.40, 0.10, dataset="B"),  # below d_rec
    row("s3", 0.05, 0.05, 0.90, dataset="B"),  # d_q is ahead, and drowned
]


def cells(table):
    return {line[1]: line for line in table.rows}


def test_every_group_of_series_has_its_line():
    lines = cells(combination_table([*ROWS, make_row("PCA", "s0", 0.9, dataset="A")]))
    assert list(lines) == ["all", "d_rec ahead", "d_q ahead", "A", "B"]
    assert [line[2] for line in lines.values()] == [4, 3, 1, 2, 2]
    score, rec, query, better, gain = lines["all"][3:8]
    assert (score, rec, query) == pytest.approx((1.45 / 4, 1.45 / 4, 1.3 / 4))
    assert better == pytest.approx((0.5 + 0.5 + 0.4 + 0.9) / 4)
    assert gain == pytest.approx(0)
    assert lines["all"][10:] == (1, 2, 1)
    assert lines["d_q ahead"][10:] == (0, 1, 0)


def test_one_series_has_neither_interval_nor_p():
    line = cells(combination_table([ROWS[0]]))["all"]
    assert math.isnan(line[9])
    assert "–" in combination_table([ROWS[0]]).to_text()


def test_rows_without_parts_and_failures():
    failed = make_row("AxonAD", "s9", None, dataset="A")
    assert cells(combination_table([*ROWS, failed]))["all"][2] == 4
    with pytest.raises(InputError, match="no row has the parts d_rec and d_q; AxonAD's rows have"):
        combination_table([make_row("PCA")])
