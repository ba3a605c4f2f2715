"""``axonad bench run``: what it runs, resumes, prints and refuses."""

from __future__ import annotations

import csv

import polars as pl
import pytest

from axonad.bench.results import read_rows
from axonad.bench.suite import read_suite
from tests.bench.jobs import write_series, write_suite
from tests.cli.bench.small_results import FILES
from tests.cli.small_runs import assert_one_red_line
from tests.cli.small_runs import frame as small_frame


def test_the_smoke_suite_is_two_short_series_times_three_detectors():
    jobs = read_suite("smoke").jobs()
    assert {job.label for job in jobs} == {"AxonAD", "CrossChannelRidge", "RandomScore"}
    assert len(jobs) == 6
    assert {job.series.size for job in jobs} == {16_000}


@pytest.mark.slow
def test_the_first_table_of_a_newcomer_makes_sense(run, tmp_path):
    """On drives of other seeds than those of the suite; chance is about 0.1."""
    assert run("bench", "run", "smoke", "--seeds", "201,202,203", "--out", "r")[0] == 0
    rows = read_rows(tmp_path / "r")
    quality = {row.label: [] for row in rows}
    for row in rows:
        quality[row.label].append(row.metrics["VUS-PR"])
    assert max(quality["RandomScore"]) < 0.15
    assert min(quality["AxonAD"] + quality["CrossChannelRidge"]) > 0.2
    assert sum(quality["AxonAD"]) / 3 > 0.4


def test_a_small_run_of_two_series_times_three_detectors(smoke):
    rows = read_rows(smoke)
    assert len(rows) == 6
    assert all(row.is_ok for row in rows)
    assert {row.label for row in rows} == {"AxonAD", "CrossChannelRidge", "RandomScore"}
    assert {row.protocol for row in rows} == {"causal"}
    assert read_rows(smoke / "rows.parquet") == rows


def test_a_finished_run_has_nothing_to_do(run, smoke):
    before = (smoke / "rows.csv").read_bytes()
    code, out, err = run("bench", "run", smoke.with_name("suite.toml"), "--out", smoke)
    assert (code, (smoke / "rows.csv").read_bytes()) == (0, before)
    assert "6 of 6 jobs ok" in out
    assert "6 jobs were done before; 0 to do" in err


@pytest.mark.usefixtures("in_process")
def test_kept_scores_are_judged_again(run, smoke, tmp_path):
    words = ("bench", "run", smoke.with_name("suite.toml"), "--out", smoke)
    code, _, err = run(*words, "--rescore", "--workers", "1")
    assert code == 0
    assert "6/6" in err
    assert len(read_rows(smoke)) == 6
    assert (smoke / "rows.csv").read_text().count("\n") == 13, "old rows stay, the last one counts"


@pytest.mark.usefixtures("in_process")
def test_failures_are_rows_the_run_goes_on(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_series(data)
    write_series(data, "003_MSL_id_2_Sensor_tr_200_1st_250.csv", labels=False)
    suite = write_suite(tmp_path, FILES)
    words = ("bench", "run", suite, "--data", data, "--out", "res", "--protocol", "parity")
    code, out, _ = run(*words)
    assert code == 0
    assert "3 of 6 jobs ok" in out
    assert "has no labelled anomaly" in out
    rows = read_rows(tmp_path / "res")
    assert {r.label: r.trained_on for r in rows if r.is_ok} == {
        "CrossChannelRidge": "prefix", "RandomScore": "prefix", "PCA": "series",
    }  # fmt: skip
    code, out, _ = run("bench", "table", "res", "--table", "failures")
    assert (code, "no labelled anomaly" in out) == (0, True)
    code, out, _ = run("bench", "table", "res", "--table", "scores", "--format", "csv")
    (mean,) = {row["missing"] for row in csv.DictReader(out.splitlines())}
    assert mean == "1", "a failure is missing, not a zero"
    write_series(data, "003_MSL_id_2_Sensor_tr_200_1st_250.csv")
    code, out, _ = run(*words)
    assert "3 of 6 jobs ok" in out, "failures are not tried again unasked"
    code, out, _ = run(*words, "--retry-failed")
    assert "6 of 6 jobs ok" in out


def test_protocols_train_on_what_they_say(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_series(data)
    suite = write_suite(tmp_path, FILES)
    code, out, _ = run("bench", "run", suite, "--data", data, "--dry-run", "-d", "PCA")
    assert code == 0
    assert "PCA  parity  seed 1  trained on series" in out
    assert "PCA  causal  seed 1  trained on prefix" in out
    assert out.strip().endswith("2 jobs")
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("in_process")
def test_a_run_in_which_all_fails_says_so_to_the_shell(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_series(data, labels=False)
    suite = write_suite(tmp_path, FILES)
    code, out, _ = run("bench", "run", suite, "--data", data, "--out", "res", "-d", "PCA")
    assert (code, "0 of 2 jobs ok" in out) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("smke",), "no suite 'smke'; did you mean 'smoke'"),
        (("smoke", "-d", "AxonDA"), "no detector 'AxonDA'; did you mean 'AxonAD'"),
        (("smoke", "--seeds", "one"), "seeds must be whole numbers"),
        (("smoke", "--series", "yaw"), "no series has 'yaw' in its name"),
        (("smoke", "--protocol", "parity"), "has no protocol 'parity'"),
        (
            ("smoke", "--engine", "dask"),
            "engine must be one of 'local', 'together', 'ray', got 'dask'",
        ),
        (("smoke", "--workers", "0"), "Invalid value for '--workers'"),
        (("smoke", "--device", "tpu"), "device must be 'auto', 'cpu', 'cuda' or 'mps', got"),
        (("smoke", "--data", "x"), "generates its series; leave out --data"),
        (("tsb-ad-m", "--data", "none.zip"), "none.zip does not exist"),
    ],
)
def test_mistakes_get_one_line(run, words, message):
    assert_one_red_line(run("bench", "run", *words), message)


def test_own_files_instead_of_the_suites(run, tmp_path):
    """A file that cannot be used is a row with the reason; the others are run."""
    frame = small_frame(300, label=True)
    marked = frame.with_columns(Label=pl.Series([0] * 200 + [1] * 30 + [0] * 70))
    (tmp_path / "drives").mkdir()
    for name in ("a.csv", "b.csv"):
        marked.write_csv(tmp_path / "drives" / name)
    frame.drop("Label").write_csv(tmp_path / "plain.csv")
    words = ("bench", "run", "smoke", "-d", "CrossChannelRidge", "--workers", "1", "--out", "r")
    files = ("--data", "drives/*.csv", "--data", "plain.csv")
    code, out, _ = run(*words, *files)
    assert code == 0
    assert "2 of 3 jobs ok" in out
    assert "plain.csv has no labels, which metrics need" in out
    assert {row.series for row in read_rows(tmp_path / "r")} == {"a.csv", "b.csv", "plain.csv"}
    assert_one_red_line(run(*words, "--data", "none/*.csv"), "no file fits 'none/*.csv'")
    assert_one_red_line(run(*words, "--train", "0.3"), "--train is for your own files")
    assert_one_red_line(run(*words, *files, "--train", "1.5"), "data.train must be")
