from __future__ import annotations

import math

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.measure import MEASURES
from axonad.paper.diagnostics.rules import RULES
from axonad.paper.figures.diagnostics import draw_parts, draw_queries, draw_rules
from axonad.paper.tables.diagnostics import diagnostics_table, rules_table, series_table
from axonad.paper.tables.series_measures import gather, interval
from tests.report.rows import make_row


def make_finding(series, seed=0, value=0.5, **measures):
    row = make_row("AxonAD", series, value, seed=seed)
    known = dict.fromkeys(MEASURES, 0.25) | {k.replace("_", " "): v for k, v in measures.items()}
    known |= {k.replace("d q", "d_q").replace("d rec", "d_rec"): v for k, v in known.items()}
    kept = {name: known[name] for name in MEASURES}
    return Finding(row=row, measures=kept if value is not None else {})


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


def test_failures_are_counted_and_nothing_else_is_mixed():
    found = [make_finding("a"), make_finding("b", value=None)]
    assert "1 runs failed" in diagnostics_table(found).notes[0]
    assert gather(found).series == ("a",)
    with pytest.raises(InputError, match="all 1 runs failed; the first said: broke"):
        gather([make_finding("b", value=None)])
    other = Finding(row=make_row("AxonAD", "a", 0.5, protocol="causal"), measures={})
    with pytest.raises(InputError, match="diagnostics are of one protocol"):
        gather([make_finding("a"), other])


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


def test_interval_over_series_is_the_bootstraps():
    rng = np.random.default_rng(0)
    values = rng.normal(size=40)
    low, high = interval(values, np.mean)
    width = 2 * 1.96 * values.std() / np.sqrt(40)
    assert high - low == pytest.approx(width, rel=0.1)
    assert np.isnan(interval(values[:2], np.median)).all()


def test_every_table_is_text_markdown_latex_and_csv():
    found = [make_finding(name) for name in "abc"]
    for make in (diagnostics_table, rules_table, series_table):
        table = make(found)
        for text in (table.to_text(), table.to_markdown(), table.to_latex(), table.to_csv()):
            assert "nan" not in text.lower().replace("anomal", "")
        assert table.to_latex().isascii()


def make_sample(series, *, kinds=False, event=True):
    rng = np.random.default_rng(len(series))
    cloud = {name: (100 * rng.standard_cauchy(30)).tolist() for name in ("d_rec", "d_q")}
    odd = {**cloud, "kind": ["drift", "correlation_break", "spike"] * 10} if kinds else cloud
    sample = {
        "key": series, "series": series, "dataset": "D", "normal": cloud, "anomalous": odd,
        "thresholds": {"d_rec": 1.0, "d_q": 2.0, "sum": 3.0},
    }  # fmt: skip
    path = rng.normal(size=(60, 2)).tolist()
    there = {
        "start": 520, "stop": 540, "first": 500, "kind": "drift" if kinds else "",
        "d_rec": [0] * 60, "d_q": list(range(60)), "predicted": path, "target": path,
        "explained": 0.8,
    }  # fmt: skip
    return sample | ({"event": there} if event else {})


def test_figures_are_drawn_the_same_each_time(tmp_path):
    found = [make_finding(name) for name in ("001_A_id_1_x.csv", "b", "cc")]
    samples = {f.key: make_sample(f.row.series, kinds=i == 1) for i, f in enumerate(found)}
    for again in ("one", "two"):
        draw_parts(tmp_path / again / "parts.svg", samples=samples)
        draw_queries(tmp_path / again / "queries.svg", samples=samples, findings=found)
        draw_rules(tmp_path / again / "rules.svg", findings=found)
    for name in ("parts.svg", "queries.svg", "rules.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_figures_that_cannot_be_drawn_say_why(tmp_path):
    with pytest.raises(InputError, match="no windows of these series were kept"):
        draw_parts(tmp_path / "a.png", samples={})
    found = [make_finding("a")]
    samples = {found[0].key: make_sample("a", event=False)}
    with pytest.raises(InputError, match="no series that was kept has an event"):
        draw_queries(tmp_path / "a.png", samples=samples, findings=found)
