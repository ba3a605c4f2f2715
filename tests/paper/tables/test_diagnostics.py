from __future__ import annotations

import math

import pytest

from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.rules import RULES
from axonad.paper.tables.diagnostics import diagnostics_table, rules_table, series_table
from tests.paper.findings import make_finding
from tests.report.rows import make_row


def lines_of(table):
    return {line[0]: line for line in table.rows}


def test_seeds_are_averaged_before_series():
    found = [
        make_finding("a", 0, kl_spearman=0.2),
        make_finding("a", 1, kl_spearman=0.4),
        make_finding("b", 0, kl_spearman=0.9),
        make_finding("c", 0, kl_spearman=0.5),
    ]
    line = lines_of(diagnostics_table(found))["Spearman of query deviation and tail KL, median"]
    assert line[1] == 0.677
    assert line[2] == pytest.approx(0.5)
    assert line[4] == 3
    share = lines_of(diagnostics_table(found))["the same at least 0.5, share of series"]
    assert share[1:3] == (0.75, pytest.approx(2 / 3))


def test_the_sum_is_compared_with_the_better_part():
    better = {"AUC-PR d_rec": 0.3, "AUC-PR d_q": 0.6, "AUC-PR sum": 0.7}
    worse = {"AUC-PR d_rec": 0.3, "AUC-PR d_q": 0.6, "AUC-PR sum": 0.5}
    equal = {"AUC-PR d_rec": 0.6, "AUC-PR d_q": 0.6, "AUC-PR sum": 0.6}
    found = [
        Finding(row=make_row("AxonAD", name, 0.5), measures=one)
        for name, one in (("a", better), ("b", worse), ("c", equal))
    ]
    line = lines_of(diagnostics_table(found))
    text = "sum beats the better part in AUC-PR, share of series"
    assert line[text][1:3] == (0.4, pytest.approx(1 / 3))
    assert math.isnan(line["ours: Spearman of sum and d_q, median"][2])
    barely = {"AUC-PR d_rec": 0.5, "AUC-PR d_q": 0.1, "AUC-PR sum": 0.501}
    found.append(Finding(row=make_row("AxonAD", "d", 0.5), measures=barely))
    line = lines_of(diagnostics_table(found))
    assert line[text][2] == 0.5
    clear = "ours: sum beats the better part in AUC-PR by more than 0.01, share of series"
    assert line[clear][2] == 0.25


def test_rules_say_whose_they_are():
    measures = {f"VUS-PR {rule}": 0.1 * i for i, rule in enumerate(RULES)}
    found = [
        Finding(row=make_row("AxonAD", name, 0.5), measures=measures) for name in ("a", "b", "c")
    ]
    lines = lines_of(rules_table(found))
    assert lines["sum"][1] == "paper"
    assert {line[1] for name, line in lines.items() if name not in ("d_rec", "d_q", "sum")} == {
        "ours"
    }
    assert lines["d_rec"][6:9] == (0, 0, 3)
    assert lines["log placed"][6:9] == (3, 3, 3)
    assert lines["sum"][5].extra == (0.0, 0.0)


def test_every_table_is_text_markdown_latex_and_csv():
    found = [make_finding(name) for name in "abc"]
    for make in (diagnostics_table, rules_table, series_table):
        table = make(found)
        for text in (table.to_text(), table.to_markdown(), table.to_latex(), table.to_csv()):
            assert "nan" not in text.lower().replace("anomal", "")
        assert table.to_latex().isascii()
