"""Every value equals TSB-AD 1.5 (golden files made by make_golden.py)."""

import json
import math
from pathlib import Path

import pytest

from axonad.metrics import evaluate, evaluate_alarms, find_period

from . import cases

GOLDEN = Path(__file__).parent / "golden"
TOLERANCE = 1e-9


def golden(part):
    header, *rows = (GOLDEN / f"{part}.jsonl").read_text().splitlines()
    if json.loads(header)["TSB_AD"] != "1.5":
        raise ValueError(f"{part}.jsonl was not made by TSB-AD 1.5")
    return [json.loads(row) for row in rows]


def assert_equal(ours, expected):
    assert set(ours) == set(expected)
    for name, value in expected.items():
        same = abs(ours[name] - value) <= TOLERANCE
        assert same or (math.isnan(value) and math.isnan(ours[name])), (name, ours[name], value)


def check(case, row):
    assert case.fingerprint() == row["fingerprint"], "the case itself differs from the golden run"
    scored = evaluate(case.scores, case.labels, window=case.window)
    assert_equal(scored.with_tsb_ad_names(), row["scored"])
    alarmed = evaluate_alarms(case.alarms, case.labels, window=case.window)
    assert_equal(alarmed.with_tsb_ad_names(), row["alarmed"])


def test_there_are_enough_cases():
    assert len(golden("random")) >= 300
    assert len([row for row in golden("real") if row["rows"] is None]) >= 10


@pytest.mark.parametrize("row", golden("random"), ids=lambda row: str(row["seed"]))
def test_random_case_equals_tsb_ad(row):
    case = cases.random_case(row["seed"])
    assert case.window == row["window"]
    check(case, row)


def read_or_skip(row):
    if not cases.data_archive().exists():
        pytest.skip(f"no {cases.ARCHIVE}; set AXONAD_DATA to the folder that holds it")
    return cases.read_series(row["name"], row["rows"])


@pytest.mark.parametrize("row", golden("real"), ids=lambda row: row["name"][:9])
def test_real_series_equals_tsb_ad(row):
    values, labels = read_or_skip(row)
    assert find_period(values[:, 0], rule="tsb-ad-1.5") == row["window"]
    check(cases.real_case(values, labels, row["kind"], row["window"]), row)


@pytest.mark.parametrize("rule", ["tsb-ad-1.5", "tsb-ad-2026"])
def test_window_rules_equal_tsb_ad_on_random_channels(rule):
    rows = [row for row in golden("window") if "seed" in row]
    ours = {row["seed"]: find_period(cases.random_channel(row["seed"]), rule=rule) for row in rows}
    assert ours == {row["seed"]: row[rule] for row in rows}


@pytest.mark.parametrize(
    "row", [r for r in golden("window") if "name" in r], ids=lambda r: r["name"][:9]
)
def test_window_rules_equal_tsb_ad_on_real_series(row):
    values, _ = read_or_skip(row)
    ours = {rule: find_period(values[:, :1], rule=rule) for rule in ("tsb-ad-1.5", "tsb-ad-2026")}
    assert ours == {rule: row[rule] for rule in ours}
