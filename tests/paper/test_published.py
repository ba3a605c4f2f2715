"""The paper's own tables against our statistics, as far as published inputs go.

Its pairwise tables are over 180 series, of which values per series are published for 44, for
VUS-PR alone and for the leaderboard's runs of the baselines. So its p-values, medians and
intervals cannot be computed again; what can be checked is that its tables agree with each other,
with what 180 series allow, and in direction with the 44.
"""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from axonad.report.comparisons import compare_published
from axonad.report.statistics import compare, wilcoxon_p
from tests.report.rows import make_row

PAIRWISE = {
    "pairwise_ranking.csv": {"AUC-PR": "AUC-PR", "AUC-ROC": "AUC-ROC"},
    "pairwise_range.csv": {
        "VUS-PR": "VUS-PR", "R-based-F1": "Range-F1", "Affiliation-F1": "Affiliation-F1",
    },
}  # fmt: skip
DESCRIPTION = {
    "file", "ts_len", "anomaly_len", "num_anomaly", "avg_anomaly_len", "anomaly_ratio",
    "point_anomaly", "seq_anomaly",
}  # fmt: skip


@pytest.fixture(scope="module")
def tables(shared_data):
    folder = shared_data.parent / "paper" / "tables"
    if not folder.is_dir():
        pytest.skip(f"no tables of the paper: {folder} does not exist")
    return folder


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def published_pairs(tables):
    """Every (model, metric) of the pairwise tables, with the difference of the main table."""
    means = {line["model"].removesuffix(" (ours)"): line for line in read(tables / "tsb_ad_m.csv")}
    pairs = {}
    for file, metrics in PAIRWISE.items():
        for line in read(tables / file):
            for metric, name in metrics.items():
                low, high = json.loads(line[f"{metric} ci95"])
                pairs[line["model"], name] = {
                    "rate": float(line[f"{metric} win rate"]),
                    "mean": float(line[f"{metric} mean delta"]),
                    "median": float(line[f"{metric} median delta"]),
                    "p": float(line[f"{metric} wilcoxon p"]),
                    "low": low,
                    "high": high,
                    "difference": float(means[line["model"]][name]) - float(means["AxonAD"][name]),
                }
    return pairs


@pytest.fixture(scope="module")
def per_series(tables):
    return [
        make_row(method, line["file"], float(value), dataset=line["file"].split("_")[1])
        for line in read(tables / "published_vus_pr_per_series_dev.csv")
        for method, value in line.items()
        if method not in DESCRIPTION
    ]


def test_mean_deltas_are_baseline_minus_axonad(published_pairs):
    assert len(published_pairs) == 29 * 5
    for pair in published_pairs.values():
        assert pair["mean"] == pytest.approx(pair["difference"], abs=0.0011)  # two rounded means
        assert pair["low"] < pair["mean"] < pair["high"]


def test_win_rates_are_wins_of_180_but_for_one(published_pairs):
    """LOF's Affiliation-F1 rate .279 is 50 of 179: one series is not in it."""
    odd = {
        key
        for key, pair in published_pairs.items()
        if abs(round(pair["rate"] * 180) / 180 - pair["rate"]) > 0.00051
    }
    assert odd == {("LOF", "Affiliation-F1")}
    assert round(50 / 179, 3) == published_pairs["LOF", "Affiliation-F1"]["rate"]


def test_a_baseline_with_under_half_the_wins_has_a_negative_median(published_pairs):
    for key, pair in published_pairs.items():
        assert pair["rate"] < 0.5
        assert pair["median"] < 0 or key == ("VSVAE", "Affiliation-F1")  # printed as -0.0000


def test_p_values_are_possible_with_180_series(published_pairs):
    """The smallest p is that of 180 differences of one sign; with the wins given it is larger."""
    assert wilcoxon_p(np.arange(1.0, 181)) < min(pair["p"] for pair in published_pairs.values())
    for pair in published_pairs.values():
        wins = round(pair["rate"] * 180)
        extreme = np.concatenate([np.arange(1.0, wins + 1), -np.arange(wins + 1.0, 181)])
        assert pair["p"] > 0.99 * wilcoxon_p(extreme)  # the wins are the smallest differences


def test_wilcoxon_and_bootstrap_mostly_agree_but_not_always(published_pairs):
    """Twice the interval excludes zero where p is above .05; Holm's correction is not made."""
    odd = {
        key
        for key, pair in published_pairs.items()
        if (pair["p"] < 0.05) != (pair["high"] < 0 or pair["low"] > 0)
    }
    assert odd == {("OmniAnomaly", "Affiliation-F1"), ("VSVAE", "Affiliation-F1")}


def test_the_44_series_point_the_same_way(per_series, published_pairs):
    """Wins on 44 of the series cannot exceed wins on all; means and medians have one sign."""
    found = compare(per_series, reference="AxonAD (authors)")
    shared = [c for c in found if (c.baseline, "VUS-PR") in published_pairs]
    assert len(shared) == 21
    for c in shared:
        pair = published_pairs[c.baseline, "VUS-PR"]
        assert (c.series, c.left_out) == (44, 0)
        assert c.wins <= round(pair["rate"] * 180)
        assert c.losses <= 180 - round(pair["rate"] * 180)
        assert c.mean_delta < 0 > pair["mean"]
        assert c.median_delta < 0 > pair["median"]


def test_p_values_are_of_the_differences_by_series(per_series):
    value = {(row.label, row.series): row.value("VUS-PR") for row in per_series}
    series = sorted({row.series for row in per_series})
    for c in compare(per_series, reference="AxonAD (authors)"):
        deltas = [value[c.baseline, s] - value["AxonAD (authors)", s] for s in series]
        assert c.p_value == pytest.approx(wilcoxon_p(deltas))


def test_the_authors_mean_on_the_44_series(per_series):
    authors = {r.series: r.value("VUS-PR") for r in per_series if r.label == "AxonAD (authors)"}
    ours = [row for row in per_series if row.label == "KMeansAD"]
    found = compare_published(ours, published=authors)
    assert found.published.mean() == pytest.approx(0.354, abs=0.0005)
    assert found.ours.mean() == pytest.approx(0.354, abs=0.0005)
    assert (found.missing, found.unpublished) == (0, 0)
