"""``axonad bench table``: what it prints, writes and refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axonad.bench.results import Results
from tests.cli.bench.small_results import make_results
from tests.cli.small_runs import assert_one_red_line


def listed(figure):
    """Return the detectors on the vertical axis of a figure."""
    return {label.get_text() for label in figure.axes[0].get_yticklabels()}


def test_tables_and_figures_of_a_run(run, smoke, tmp_path, saved_figures):
    code, out, _ = run("bench", "table", smoke)
    assert code == 0
    assert "Suite smoke; protocol causal" in out
    code, out, _ = run("bench", "table", smoke, "--out", "tables")
    assert code == 0
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    for name in ("scores.md", "scores.tex", "scores.csv", "kinds.md", "pairwise.csv",
                 "pairwise.png", "ranks.svg", "runtime.png"):  # fmt: skip
        assert name in names
    detectors = {"AxonAD", "CrossChannelRidge", "RandomScore"}
    assert listed(saved_figures["runtime.png"]) == detectors
    assert listed(saved_figures["pairwise.png"]) == detectors - {"AxonAD"}
    code, _, err = run("bench", "table", smoke, "--out", "tables")
    assert code == 2
    assert "already exists" in err
    first = (tmp_path / "tables" / "ranks.svg").read_bytes()
    assert run("bench", "table", smoke, "--out", "tables", "--force")[0] == 0
    assert (tmp_path / "tables" / "ranks.svg").read_bytes() == first, "the same picture again"


def test_a_table_that_cannot_be_made(run, tmp_path):
    make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    for more, message in (
        (("--table", "pairwise"), "these rows give no table 'pairwise'"),
        (("--table", "nonsense"), "table must be one of"),
        (("--table", "combination"), "these rows give no table 'combination'"),
        (("--split", "tuning"), "none of 2 rows matches --split tuning"),
        (("--series", "s8,s9"), "none of 2 rows matches --series s8,s9"),
        (("--protocol", "fair"), "protocol must be one of"),
        (("--format", "word"), "format must be one of"),
    ):
        code, _, err = run("bench", "table", "a", *more)
        assert (code, message in err) == (2, True), err


def test_every_failed_row_has_its_reason_in_the_summary(run, tmp_path):
    folder = make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    with Results(folder) as results:
        bad = replace(
            results.rows[0], key="bad", series="s9.csv", status="timeout", reason="too slow",
            metrics={},
        )  # fmt: skip
        results.append(bad)
    code, out, _ = run("bench", "table", "a", "--table", "failures")
    assert code == 0
    assert "too slow" in out


def test_a_folder_with_two_windows_needs_a_choice(run, tmp_path):
    folder = make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    with Results(folder) as results:
        for row in list(results.rows):
            results.append(replace(row, key=f"{row.key}-40", window_rule="40", vus_window=40))
    code, _, err = run("bench", "table", "a")
    assert (code, "choose one VUS window (--window)" in err) == (2, True)
    code, out, _ = run("bench", "table", "a", "--window", "40")
    assert code == 0
    assert "VUS window rule 40" in out


def test_rows_of_changed_data_are_not_averaged(run, tmp_path):
    folder = make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    with Results(folder) as results:
        first = results.rows[0]
        results.append(replace(first, key="new", label="LOF", fingerprint="cd"))
    code, _, err = run("bench", "table", "a")
    assert (code, "come from different data (fingerprints ab and cd)" in err) == (2, True)


def test_a_detector_that_failed_everywhere_does_not_block_the_rest(run, tmp_path):
    folder = make_results(tmp_path / "a", {"PCA": [0.2, 0.4, 0.1], "LOF": [0.1, 0.5, 0.3]})
    with Results(folder) as results:
        for row in [row for row in results.rows if row.label == "PCA"]:
            bad = replace(
                row, key=f"{row.key}-x", label="AxonAD", status="failed", reason="no", metrics={}
            )
            results.append(bad)
    code, _, _ = run("bench", "table", "a", "--out", "t")
    assert code == 0
    assert (tmp_path / "t" / "scores.md").exists()
    assert (tmp_path / "t" / "ranks.png").exists()


@pytest.mark.parametrize("where", ["nowhere", "."])
def test_a_folder_without_rows(run, where):
    assert_one_red_line(
        run("bench", "table", where), "does not exist; expected rows of `axonad bench run`"
    )
