"""``axonad bench merge``: rows of several runs."""

from __future__ import annotations

from axonad.bench.results import Results, read_rows
from tests.bench.jobs import make_row
from tests.cli.bench.small_results import make_results


def test_merging_runs_keeps_what_is_there(run, tmp_path):
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
