"""The rows in the repository: all of them fit the schema, and the suites they claim."""

from __future__ import annotations

import pytest

from axonad.bench.results import read_rows
from axonad.bench.suite import read_suite
from axonad.registry import detector_class
from tests.conftest import ROOT

TSB_AD = (
    "tsb-ad-m", "tsb-ad-m-seeds", "leaderboard", "paper-ablation", "paper-sensitivity",
    "paper-tuning",
)  # fmt: skip
COMMITTED = sorted(ROOT.glob("benchmarks/**/rows.csv"))


def home(path):
    """Return the folder with the suite that rows are of: theirs, or the one above."""
    return next(folder for folder in path.parents if (folder / "suite.toml").exists())


def test_there_are_rows():
    assert {"tsb-ad-m", "telemetry", "coordination"} <= {path.parent.name for path in COMMITTED}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_every_row_fits_the_schema_and_its_suite(path):
    rows = read_rows(path)
    assert len({row.key for row in rows}) == len(rows)
    data = ROOT if 'source = "files"' in (home(path) / "suite.toml").read_text() else None
    suite = read_suite(home(path), data=data)
    labels = {entrant.title for entrant in suite.detectors}
    for row in rows:
        assert row.suite == suite.name
        assert row.label in labels
        assert row.commit, "a row says which code made it"
        known = set(detector_class(row.detector).__dataclass_fields__)
        assert set(row.params) <= known


def test_axonad_is_there_on_every_reporting_series_under_both_protocols():
    rows = read_rows(ROOT / "benchmarks/tsb-ad-m")
    ours = [r for r in rows if r.label == "AxonAD" and r.split == "eval" and r.is_ok]
    for protocol in ("parity", "causal"):
        assert len({r.series for r in ours if r.protocol == protocol}) == 44


@pytest.mark.parametrize(
    ("suite", "protocols"),
    [("telemetry", ("parity", "heldout", "causal")), ("coordination", ("heldout", "causal"))],
)
def test_axonad_is_there_on_four_generated_drives(suite, protocols):
    rows = [r for r in read_rows(ROOT / "benchmarks" / suite) if r.label == "AxonAD" and r.is_ok]
    for protocol in protocols:
        assert {r.seed for r in rows if r.protocol == protocol} == {2024, 2025, 2026, 2027}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_every_row_is_of_a_job_of_its_suite_as_it_is_now(path, shared_data):
    """A default that changed would make the committed rows those of another detector."""
    tsb = dict.fromkeys(TSB_AD, "TSB-AD-M-dev.zip")
    archives = {**tsb, "server-metrics": "server-metrics-dev.zip"}
    name = "-".join(home(path).relative_to(ROOT / "benchmarks").parts)
    data = shared_data / archives[name] if name in archives else None
    keys = {job.key for job in read_suite(home(path), data=data).jobs()}
    assert {row.key for row in read_rows(path)} <= keys
