from __future__ import annotations

import pytest

from axonad.bench.row import COLUMNS, METRIC_NAMES, Row, latest
from axonad.errors import InputError
from tests.bench.jobs import make_row

FAILED = {"status": "failed", "reason": "InputError: too short", "metrics": {}, "fingerprint": ""}


@pytest.mark.parametrize("changes", [{}, FAILED, {"device_memory_mb": 3.5, "steps": 7}])
def test_a_record_gives_the_row_back(changes):
    row = make_row(**changes)
    record = row.to_record()
    assert tuple(record) == COLUMNS
    assert Row.from_record(record) == row
    as_text = {k: "" if v is None else str(v) for k, v in record.items()}
    assert Row.from_record(as_text) == row, "CSV gives text"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "failed", "metrics": {}}, "needs a reason"),
        ({"status": "failed", "reason": "x"}, "needs a reason and no metrics"),
        ({"metrics": {"AUC-PR": 0.1}}, "ok but has no VUS-PR"),
        ({"metrics": dict.fromkeys(METRIC_NAMES, 1.5)}, r"must lie in \[0, 1\], got 1.5"),
        ({"metrics": dict.fromkeys(METRIC_NAMES, float("nan"))}, "got nan"),
        ({"protocol": "fair"}, "protocol must be one of .* got 'fair'"),
        ({"status": "fine"}, "status must be one of"),
        ({"trained_on": "labels"}, "trained_on must be one of"),
        ({"key": ""}, "needs a key"),
        ({"fit_seconds": None}, "lacks its cost"),
    ],
)
def test_an_incomplete_or_invalid_row_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        make_row(**changes)


def test_bad_records_are_refused_by_name():
    record = make_row().to_record()
    message = r"unknown columns \['extra'\] and lacks columns \['seed'\]"
    with pytest.raises(InputError, match=message):
        Row.from_record({k: v for k, v in record.items() if k != "seed"} | {"extra": 1})
    with pytest.raises(InputError, match="seed must be a number, got 'x'"):
        Row.from_record(record | {"seed": "x"})


def test_a_failure_has_no_value_rather_than_zero():
    row = make_row(**FAILED)
    assert row.value("VUS-PR") is None
    assert make_row().value("VUS-PR") == 0.25
    assert make_row().value("VUS-PR d_rec") == pytest.approx(1 / 3)
    assert make_row().value("VUS-PR d_q") is None
    assert make_row().value("fit_seconds") == 0.1


def test_the_last_row_of_a_job_counts():
    old, new, other = make_row(**FAILED), make_row(seed=3), make_row(key="other")
    assert latest([old, other, new]) == [new, other]


@pytest.mark.parametrize("raw", ["[1]", "3", "{", '"x"'])
def test_nested_columns_are_objects(raw):
    record = make_row().to_record() | {"params": raw}
    with pytest.raises(InputError, match=r"row's params must be a JSON object, got"):
        Row.from_record(record)
