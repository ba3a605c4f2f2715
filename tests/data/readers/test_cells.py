from __future__ import annotations

import polars as pl
import pytest

from axonad.data.readers.cells import (
    DecimalMark,
    Place,
    common_kind,
    convert_times,
    find_time_kind,
    to_numbers,
)
from axonad.data.readers.columns import Columns
from axonad.errors import InputError

PLACE = Place(10, lambda row: 12 + row)


def numbers(*cells, comma=False, mark=None, place=PLACE, label=None):
    frame = pl.DataFrame({"a": cells}, schema={"a": pl.String})
    columns = Columns(() if label else ("a",), label, None, "x.csv")
    found = to_numbers(frame, columns, mark or DecimalMark(comma), place)
    return found["a"].to_list()


def test_cells_that_are_not_plain_numbers():
    assert numbers(" 1 ", "-2.5e1\t", None, "NA ", "True", "false") == [1, -25, None, None, 1, 0]
    assert numbers("1,5", ",5", "-2,5E2", "3", comma=True) == [1.5, 0.5, -250, 3]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "x y"], r"column 'a' of x.csv is not numeric: 'x y' in row 11 \(line 13\)"),
        (["1", "# end"], r"line 13 of x\.csv is a comment \('# end'\); remove it"),
        (["1.234,5"], r"'1\.234,5' in row 10 \(line 12\); write numbers without thousands"),
        (["1.5", "1,5"], r"a decimal comma and others with a point, such as '1,5' in column 'a', "
         r"row 11 \(line 13\)"),
    ],
)  # fmt: skip
def test_cells_that_are_no_numbers_are_named(cells, message):
    with pytest.raises(InputError, match=message):
        numbers(*cells, comma=True)


def test_a_label_that_is_no_number_is_named():
    with pytest.raises(InputError, match="must be 0 or 1, got 'yes' in row 10"):
        numbers("yes", label="a")


def test_the_decimal_mark_is_remembered():
    mark = DecimalMark(may_be_comma=True)
    assert numbers("1.5", mark=mark) == [1.5]
    with pytest.raises(InputError, match="such as '2,5'"):
        numbers("2,5", mark=mark)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", " 2", None], "int", [1, 2, None]),
        (["1", "2.5"], "float", [1, 2.5]),
        (["1", "2,5"], "float", [1, 2.5]),
        (["1", "2 s"], "text", ["1", "2 s"]),
        ([None, None], None, [None, None]),
    ],
)
def test_times_are_what_all_cells_can_be(cells, kind, values):
    text = pl.Series("time", cells, dtype=pl.String)
    assert find_time_kind(text, may_have_comma=True) == kind
    assert convert_times(text, kind, may_have_comma=True).to_list() == values


def test_chunks_have_a_common_kind_of_times():
    assert common_kind({"int", "float", None}) == "float"
    assert common_kind({"int", "text"}) == "text"
    assert common_kind({None}) is None
