"""``axonad bench compare``: two runs, and published values."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tests.cli.bench.small_results import make_results
from tests.cli.small_runs import assert_one_red_line


def test_comparing_two_runs(run, tmp_path):
    rng = np.random.default_rng(0)
    base = rng.random(20) * 0.5
    make_results(tmp_path / "a", {"PCA": base, "LOF": base})
    make_results(tmp_path / "b", {"PCA": base + 0.1, "KNN": base})
    assert_one_red_line(
        run("bench", "compare", "a", "none"),
        "none does not exist; expected rows or a CSV of published values",
    )
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


def test_comparing_with_published_values(run, tmp_path, saved_figures):
    make_results(tmp_path / "a", {"PCA": [0.2, 0.4, 0.6]})
    (tmp_path / "published.csv").write_text(
        "file,PCA,LOF\ns0.csv,0.3,1\ns1.csv,0.4,\ns2.csv,0.5,1\n"
    )
    words = ("bench", "compare", "a", "published.csv")
    code, out, _ = run(*words, "--column", "PCA", "--figure", "scatter.png")
    assert code == 0
    assert (tmp_path / "scatter.png").exists()
    _, *marks = saved_figures["scatter.png"].axes[0].lines  # the first is the diagonal
    points = sorted(tuple(point) for mark in marks for point in mark.get_xydata())
    np.testing.assert_allclose(points, [(0.3, 0.2), (0.4, 0.4), (0.5, 0.6)])
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
