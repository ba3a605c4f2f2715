"""Tables 1 and 2: the paper's lines as printed, ours beneath, and no silent comparison."""

from __future__ import annotations

import csv
import io

import pytest

from axonad.paper.published import paper_scores
from axonad.paper.tables.scores import (
    one_drive_paper_table,
    telemetry_paper_table,
    tsb_ad_paper_table,
)
from axonad.report.quality import PAPER_METRICS
from tests.report.rows import make_row, make_rows

SERIES = {"AxonAD": [0.6, 0.8, 0.7, 0.9], "PCA": [0.5, 0.5, 0.3, 0.2], "CNN": [None, 0.95, None]}


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def lines(table):
    return {(r["detector"], r["figures"]): r for r in records(table)}


def test_the_papers_lines_are_its_own_and_axonad_comes_last():
    table = tsb_ad_paper_table(make_rows(SERIES))
    found = lines(table)
    for name, published in paper_scores("tsb_ad_m").items():
        for metric in PAPER_METRICS:
            assert float(found[name, "paper"][metric]) == published[metric].mean
    assert [r["detector"] for r in records(table)][:2] == ["VASP", "VASP"]
    assert records(table)[-1]["detector"] == "AxonAD"
    assert float(found["USAD", "paper"]["VUS-PR to AxonAD"]) == pytest.approx(0.412 - 0.493)
    assert found["OFA", "ours, not run"]["series"] == "0 of 4"


def test_a_detector_without_all_series_is_marked_and_never_the_best():
    table = tsb_ad_paper_table(make_rows(SERIES))
    cnn = lines(table)["CNN", "ours, parity"]
    assert cnn["series"] == "1 of 4"
    assert float(cnn["VUS-PR to AxonAD"]) == pytest.approx(0.95 - 0.8), "on the series both have"
    shown = next(r for r in table.text_rows() if r[:2] == ["CNN", "ours, parity"])
    assert shown[2] == "0.950†"
    markdown = table.to_markdown()
    assert "| CNN | ours, parity | 0.950† |" in markdown
    assert "| AxonAD | ours, parity | **0.750 ± 0.129** |" in markdown, "the best of ours"
    assert "| AxonAD | paper | **0.437 ± 0.323** |" in markdown, "the best of the paper's"
    assert "† not over all 4 series" in markdown
    assert "Failed runs: 2." in markdown
    assert "1 of 4" not in tsb_ad_paper_table(make_rows({"AxonAD": [0.5, 0.6]})).to_text()


def test_protocols_are_named_and_compared_with_their_own_axonad():
    rows = make_rows({"AxonAD": [0.6, 0.8], "PCA": [0.5, 0.5]})
    rows += make_rows({"AxonAD": [0.2, 0.4], "PCA": [0.1, 0.3]}, protocol="causal")
    found = lines(tsb_ad_paper_table(rows))
    assert float(found["PCA", "ours, parity"]["VUS-PR to AxonAD"]) == pytest.approx(-0.2)
    assert float(found["PCA", "ours, causal"]["VUS-PR to AxonAD"]) == pytest.approx(-0.1)
    assert found["AxonAD", "ours, causal"]["VUS-PR to AxonAD"] == ""


def test_seeds_of_a_series_are_averaged_and_their_spread_is_shown():
    rows = [make_row("AxonAD", f"s{i}", v, seed=s) for i, s, v in
            [(0, 1, 0.2), (0, 2, 0.4), (1, 1, 0.4), (1, 2, 0.8)]]  # fmt: skip
    rows += make_rows({"PCA": [0.3, 0.3]})
    found = lines(tsb_ad_paper_table(rows))
    ours = found["AxonAD", "ours, parity"]
    assert (ours["seeds"], ours["series"]) == ("2", "2 of 2")
    assert float(ours["VUS-PR"]) == pytest.approx(0.45)
    assert float(ours["VUS-PR ± over seeds"]) == pytest.approx(0.3 / 2**0.5)  # means 0.3 and 0.6
    assert found["PCA", "ours, parity"]["VUS-PR ± over seeds"] == ""
    drives = [make_row("AxonAD", f"s{seed}", 0.5, seed=seed) for seed in range(3)]
    table = telemetry_paper_table(drives)
    assert "VUS-PR ± over seeds" not in table.headings(), "a drive has one seed"
    assert lines(table)["AxonAD", "ours, parity"]["seeds"] == "3"


def test_the_order_of_detectors_is_held_against_the_papers():
    means = {"AxonAD": 0.9, "OmniAnomaly": 0.8, "USAD": 0.7, "LOF": 0.1}
    rows = make_rows({name: [value] * 2 for name, value in means.items()})
    assert "4 detectors with all series: Spearman 1.00." in tsb_ad_paper_table(rows).to_text()
    turned = make_rows({name: [1 - value] * 2 for name, value in means.items()})
    assert "Spearman -1.00." in tsb_ad_paper_table(turned).to_text()


def test_on_one_drive_every_fit_counts():
    values = {2024: 0.2, 2025: 0.4, 2026: 0.6}
    rows = [make_row("AxonAD", "drive", v, seed=s, params={"seed": s}) for s, v in values.items()]
    rows.append(make_row("PCA", "drive", 0.3, seed=2024))
    table = one_drive_paper_table(rows)
    found = lines(table)
    assert "| 0.400 ± 0.200 |" in table.to_markdown().replace("**", "")
    for name in ("AxonAD", "PCA"):
        assert found[name, "ours, parity"]["series"] == "3 of 3"
    assert float(found["PCA", "ours, parity"]["VUS-PR to AxonAD"]) == pytest.approx(-0.1)
