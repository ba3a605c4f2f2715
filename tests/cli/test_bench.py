"""``axonad bench``: what the commands print, write and refuse."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from axonad.bench.results import Results, read_rows
from axonad.bench.row import METRIC_NAMES
from axonad.cli import main
from tests.bench.jobs import make_row, write_series, write_suite
from tests.cli.test_cli import run  # noqa: F401 - a fixture

FILES = """
    name = "files"
    seeds = [1]

    [data]
    source = "files"
    path = "x"

    [protocols.parity]
    [protocols.causal]

    [[detectors]]
    name = "CrossChannelRidge"

    [[detectors]]
    name = "RandomScore"

    [[detectors]]
    name = "PCA"
"""


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The smoke suite, end to end, with its scores kept."""
    folder = tmp_path_factory.mktemp("smoke") / "out"
    with pytest.raises(SystemExit) as caught:
        main(["bench", "run", "smoke", "--out", str(folder), "--keep-scores", "--device", "cpu"])
    assert caught.value.code == 0
    return folder


def make_results(folder, values):
    """Write rows of two detectors: a dict label -> values per series."""
    with Results(folder) as results:
        for label, numbers in values.items():
            for i, value in enumerate(numbers):
                results.append(
                    make_row(
                        key=f"{label}{i}", label=label, series=f"s{i}.csv", dataset=f"set{i % 2}",
                        split="eval", metrics=dict.fromkeys(METRIC_NAMES, float(value)),
                    )
                )  # fmt: skip
    return folder


def test_smoke_is_two_series_times_three_detectors(smoke):
    rows = read_rows(smoke)
    assert len(rows) == 6
    assert all(row.is_ok for row in rows)
    assert {row.label for row in rows} == {"AxonAD", "CrossChannelRidge", "RandomScore"}
    assert {row.protocol for row in rows} == {"causal"}
    assert read_rows(smoke / "rows.parquet") == rows


def test_a_finished_run_has_nothing_to_do(run, smoke):  # noqa: F811
    before = (smoke / "rows.csv").read_bytes()
    code, out, err = run("bench", "run", "smoke", "--out", smoke)
    assert (code, (smoke / "rows.csv").read_bytes()) == (0, before)
    assert "6 of 6 jobs ok" in out
    assert "6 jobs were done before; 0 to do" in err


def test_kept_scores_are_judged_again(run, smoke, tmp_path):  # noqa: F811
    code, _, err = run("bench", "run", "smoke", "--out", smoke, "--rescore", "--workers", "1")
    assert code == 0
    assert "6/6" in err
    assert len(read_rows(smoke)) == 6
    assert (smoke / "rows.csv").read_text().count("\n") == 13, "old rows stay, the last one counts"


def test_tables_and_figures_of_a_run(run, smoke, tmp_path):  # noqa: F811
    code, out, _ = run("bench", "table", smoke)
    assert code == 0
    assert "Suite smoke; protocol causal" in out
    code, out, _ = run("bench", "table", smoke, "--out", "tables")
    assert code == 0
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    for name in ("scores.md", "scores.tex", "scores.csv", "kinds.md", "pairwise.csv",
                 "pairwise.png", "ranks.svg", "runtime.png"):  # fmt: skip
        assert name in names
    code, _, err = run("bench", "table", smoke, "--out", "tables")
    assert code == 2
    assert "already exists" in err
    first = (tmp_path / "tables" / "ranks.svg").read_bytes()
    assert run("bench", "table", smoke, "--out", "tables", "--force")[0] == 0
    assert (tmp_path / "tables" / "ranks.svg").read_bytes() == first, "the same picture again"


def test_failures_are_rows_the_run_goes_on(run, tmp_path):  # noqa: F811
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


def test_protocols_train_on_what_they_say(run, tmp_path):  # noqa: F811
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


def test_comparing_two_runs(run, tmp_path):  # noqa: F811
    rng = np.random.default_rng(0)
    base = rng.random(20) * 0.5
    make_results(tmp_path / "a", {"PCA": base, "LOF": base})
    make_results(tmp_path / "b", {"PCA": base + 0.1, "KNN": base})
    code, out, _ = run("bench", "compare", "a", "b")
    assert code == 0
    assert "the second run against the first" in out
    (line,) = [line for line in out.splitlines() if line.startswith("PCA (causal)")]
    assert "+0.1000" in line
    code, _, err = run("bench", "compare", "a", "b", "--detectors", "LOF")
    assert (code, "no rows of detector 'LOF'" in err) == (2, True)
    code, _, err = run("bench", "compare", "a", "b", "--metric", "VUS")
    assert (code, "metric 'VUS' is not one of" in err) == (2, True)
    code, _, err = run("bench", "compare", "a", "b", "--metric", "fit_seconds")
    assert (code, "metric 'fit_seconds' is not one of" in err) == (2, True)
    make_results(tmp_path / "c", {"PCA": base + 0.1, "LOF": base + rng.random(20) * 0.01})
    code, out, _ = run("bench", "compare", "a", "c", "--format", "csv")
    lines = list(csv.DictReader(out.splitlines()))
    by_p = sorted(lines, key=lambda line: float(line["Wilcoxon p"]))
    assert float(by_p[0]["Holm p"]) == pytest.approx(2 * float(by_p[0]["Wilcoxon p"]))


def test_comparing_with_published_values(run, tmp_path):  # noqa: F811
    make_results(tmp_path / "a", {"PCA": [0.2, 0.4, 0.6]})
    (tmp_path / "published.csv").write_text(
        "file,PCA,LOF\ns0.csv,0.3,1\ns1.csv,0.4,\ns2.csv,0.5,1\n"
    )
    words = ("bench", "compare", "a", "published.csv")
    code, out, _ = run(*words, "--column", "PCA", "--figure", "scatter.png")
    assert code == 0
    assert (tmp_path / "scatter.png").exists()
    (line,) = [line for line in out.splitlines() if line.startswith("all series")]
    assert line.split()[2:6] == ["3", "0.400", "0.400", "0.000"]
    for more, message in (
        (("--column", "PAC"), "--column must name a column of published.csv, got 'PAC'; did you"),
        ((), "--column must name a column of published.csv, got None"),
        (("--column", "PCA", "--figure", "x.bmp"), "x.bmp"),
    ):
        code, _, err = run(*words, *more)
        assert code == 2
        assert message in err


def test_transfer(run, tmp_path):  # noqa: F811
    data = tmp_path / "data"
    data.mkdir()
    for number in range(2, 8):
        path = write_series(data, f"00{number}_MSL_id_1_Sensor_tr_200_1st_250.csv")
        lines = path.read_text().splitlines()
        scaled = [f"{float(line.split(',')[0]) * number},{line}" for line in lines[1:]]
        path.write_text("\n".join([f"c,{lines[0]}", *scaled]) + "\n")
    write_suite(tmp_path, FILES)
    words = ("bench", "transfer", "smoke", "--among", tmp_path, "--data", data)
    code, out, _ = run(*words, "--figure", "transfer.png")
    assert code == 0
    assert (tmp_path / "transfer.png").exists()
    assert "telemetry-1" in out
    assert "telemetry-2" in out
    code, _, err = run(*words, "--by", "channel")
    assert (code, "by must be one of" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "smke"), "no suite 'smke'; did you mean 'smoke'"),
        (("run", "smoke", "-d", "AxonDA"), "no detector 'AxonDA'; did you mean 'AxonAD'"),
        (("run", "smoke", "--seeds", "one"), "seeds must be whole numbers"),
        (("run", "smoke", "--series", "yaw"), "no series has 'yaw' in its name"),
        (("run", "smoke", "--protocol", "parity"), "has no protocol 'parity'"),
        (
            ("run", "smoke", "--engine", "dask"),
            "engine must be one of 'local', 'together', 'ray', got 'dask'",
        ),
        (("run", "smoke", "--workers", "0"), "Invalid value for '--workers'"),
        (("run", "smoke", "--device", "tpu"), "device must be 'auto', 'cpu', 'cuda' or 'mps', got"),
        (("transfer", "smoke", "--among", "smoke", "--seeds", "x"), "seeds must be whole numbers"),
        (("run", "smoke", "--data", "x"), "makes its own series; leave out --data"),
        (("run", "tsb-ad-m", "--data", "none.zip"), "none.zip does not exist"),
        (("table", "nowhere"), "does not exist; expected rows of `axonad bench run`"),
        (("table", "."), "does not exist"),
        (("compare", "a", "b"), "does not exist"),
    ],
)
def test_mistakes_get_one_line(run, words, message):  # noqa: F811
    code, _, err = run("bench", *words)
    assert code == 2
    assert message in err
    assert err.strip().count("\n") == 0


def test_a_table_that_cannot_be_made(run, tmp_path):  # noqa: F811
    make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    for more, message in (
        (("--table", "pairwise"), "these rows give no table 'pairwise'"),
        (("--table", "nonsense"), "table must be one of"),
        (("--table", "combination"), "these rows give no table 'combination'"),
        (("--split", "tuning"), "none of 2 rows fits --split tuning"),
        (("--series", "s8,s9"), "none of 2 rows fits --series s8,s9"),
        (("--protocol", "fair"), "protocol must be one of"),
        (("--format", "word"), "format must be one of"),
    ):
        code, _, err = run("bench", "table", "a", *more)
        assert (code, message in err) == (2, True), err


def test_suites_are_listed(run):  # noqa: F811
    code, out, _ = run("bench", "suites")
    assert code == 0
    for name in ("tsb-ad-m", "telemetry", "coordination", "server-metrics", "smoke"):
        assert name in out


def test_every_failed_row_has_its_reason_in_the_summary(run, tmp_path):  # noqa: F811
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


def test_merging_runs_keeps_what_is_there(run, tmp_path):  # noqa: F811
    make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    make_results(tmp_path / "b", {"PCA": [0.9], "LOF": [0.3]})
    failed = make_row(key="PCA1", status="failed", reason="x", metrics={})
    with Results(tmp_path / "c") as results:
        results.append(failed)
    code, out, _ = run("bench", "merge", "c", "a", "b/rows.csv")
    assert code == 0
    assert "added 3 of 4 rows to c; it has 3 jobs" in out
    values = {row.key: row.value("VUS-PR") for row in read_rows(tmp_path / "c")}
    assert values == {"PCA0": 0.2, "PCA1": 0.4, "LOF0": 0.3}
    code, out, _ = run("bench", "merge", "c", "a")
    assert "added 0 of 2 rows" in out
    code, _, err = run("bench", "merge", "c", "nowhere")
    assert (code, "does not exist" in err) == (2, True)


def test_a_folder_with_two_windows_needs_a_choice(run, tmp_path):  # noqa: F811
    folder = make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    with Results(folder) as results:
        for row in list(results.rows):
            results.append(replace(row, key=f"{row.key}-40", window_rule="40", vus_window=40))
    code, _, err = run("bench", "table", "a")
    assert (code, "choose one VUS window (--window)" in err) == (2, True)
    code, out, _ = run("bench", "table", "a", "--window", "40")
    assert code == 0
    assert "VUS window rule 40" in out


def test_rows_of_changed_data_are_not_averaged(run, tmp_path):  # noqa: F811
    folder = make_results(tmp_path / "a", {"PCA": [0.2, 0.4]})
    with Results(folder) as results:
        first = results.rows[0]
        results.append(replace(first, key="new", label="LOF", fingerprint="cd"))
    code, _, err = run("bench", "table", "a")
    assert (code, "come from different data (fingerprints ab and cd)" in err) == (2, True)


def test_a_detector_that_failed_everywhere_does_not_block_the_rest(run, tmp_path):  # noqa: F811
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


def test_names_with_a_comma_can_be_chosen(run, tmp_path):  # noqa: F811
    make_results(tmp_path / "a", {"PCA, window 5": [0.2, 0.4], "LOF": [0.1, 0.3]})
    code, out, _ = run("bench", "table", "a", "-d", "PCA, window 5")
    assert code == 0
    assert "LOF" not in out


def test_a_run_in_which_all_fails_says_so_to_the_shell(run, tmp_path):  # noqa: F811
    data = tmp_path / "data"
    data.mkdir()
    write_series(data, labels=False)
    suite = write_suite(tmp_path, FILES)
    code, out, _ = run("bench", "run", suite, "--data", data, "--out", "res", "-d", "PCA")
    assert (code, "0 of 2 jobs ok" in out) == (1, True)


def test_transfer_needs_no_labels(run, tmp_path):  # noqa: F811
    data = tmp_path / "data"
    data.mkdir()
    for number in range(2, 6):
        path = write_series(data, f"00{number}_MSL_id_1_Sensor_tr_200_1st_250.csv", labels=False)
        lines = path.read_text().splitlines()
        scaled = [f"{float(line.split(',')[0]) * number},{line}" for line in lines[1:]]
        path.write_text("\n".join([f"c,{lines[0]}", *scaled]) + "\n")
    write_suite(tmp_path, FILES)
    words = ("bench", "transfer", "smoke", "--among", tmp_path, "--data", data, "--seeds", "1")
    assert run(*words)[0] == 0
