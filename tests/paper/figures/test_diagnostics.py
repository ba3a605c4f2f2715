from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.rules import RULES
from axonad.paper.figures.diagnostics import draw_parts, draw_queries, draw_rules
from tests.paper.findings import make_finding, make_sample
from tests.report.figures import legend, lines, names_on_y, texts
from tests.report.rows import make_row


def test_parts_of_every_series_have_a_panel(tmp_path, drawn):
    samples = {"x": make_sample("001_A_id_1_x.csv"), "y": make_sample("b", kinds=True)}
    draw_parts(tmp_path / "parts.png", samples=samples)
    (figure,) = drawn
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("001_A_id_1", "b")
    normal, anomalous = first.collections
    expected = [samples["x"]["normal"][name] for name in ("d_rec", "d_q")]
    np.testing.assert_allclose(normal.get_offsets(), np.transpose(expected))
    assert len(anomalous.get_offsets()) == 30
    assert [len(cloud.get_offsets()) for cloud in second.collections] == [30, 20, 10]
    one_part, other_part, total = first.lines
    assert (one_part.get_xdata()[0], other_part.get_ydata()[0]) == (1.0, 2.0), "thresholds"
    np.testing.assert_allclose(total.get_xdata() + total.get_ydata(), 3.0, atol=1e-9)
    assert set(legend(figure)) == {
        "normal", "anomalous", "anomalous, other faults", "anomalous, coordination",
        "one part at its threshold", "sum at its threshold",
    }  # fmt: skip


def test_of_many_series_some_are_shown(tmp_path, drawn, monkeypatch):
    monkeypatch.setattr("axonad.paper.figures.diagnostics.MOST", 3)
    draw_parts(tmp_path / "x.png", samples={str(i): make_sample(f"s{i}") for i in range(5)})
    assert [axis.get_title() for axis in drawn[0].axes] == ["s0", "s2", "s4"]
    assert drawn[0].get_supxlabel() == "rz(d_rec)   (3 of 5 series)"


def test_queries_are_of_the_series_whose_d_q_ranks_best(tmp_path, drawn):
    found = [make_finding("a"), make_finding("b")]
    found[1].measures["VUS-PR d_q"] = 0.9
    samples = {f.key: make_sample(f.row.series, kinds=True) for f in found}
    draw_queries(tmp_path / "x.png", samples=samples, findings=found)
    (figure,) = drawn
    plane, time = figure.axes
    assert figure.get_suptitle().startswith("b: event at step 520, drift;")
    target = np.array(samples[found[1].key]["event"]["target"])
    for phase, part in (("before", slice(20)), ("during", slice(20, 40)), ("after", slice(40, 60))):
        for side in ("actual", "predicted"):
            np.testing.assert_allclose(lines(plane, f"{side}, {phase}"), [target[part].T])
    ((steps, values),) = lines(time, "rz(d_q)")
    assert (steps, values) == (list(range(500, 560)), list(range(60)))
    (event,) = time.patches
    assert (event.get_x(), event.get_x() + event.get_width()) == (520, 540)


def test_rules_show_the_gain_of_sums_and_the_mean_of_every_rule(tmp_path, drawn):
    measures = {f"VUS-PR {rule}": 0.1 * i for i, rule in enumerate(RULES)} | {"tail ratio": 2.0}
    found = [Finding(row=make_row("AxonAD", name, 0.5), measures=measures) for name in "abc"]
    draw_rules(tmp_path / "x.png", findings=found)
    (figure,) = drawn
    tails, means = figure.axes
    better = max(measures["VUS-PR d_rec"], measures["VUS-PR d_q"])
    ((ratio, gain),) = lines(tails, "sum (paper)")
    assert (ratio, gain) == ([2.0] * 3, pytest.approx([measures["VUS-PR sum"] - better] * 3))
    assert len(lines(tails, "log (ours)")) == 1
    assert names_on_y(means)[-1] == f"{next(iter(RULES))} alone"
    assert texts(means) == [f"{measures[f'VUS-PR {rule}']:.3f}" for rule in reversed(RULES)]
    assert figure.get_suptitle().endswith("3 series.")


def test_figures_are_drawn_the_same_each_time(tmp_path):
    found = [make_finding(name) for name in ("a", "b")]
    samples = {f.key: make_sample(f.row.series, kinds=i == 1) for i, f in enumerate(found)}
    for again in ("one", "two"):
        draw_parts(tmp_path / again / "parts.svg", samples=samples)
        draw_queries(tmp_path / again / "queries.svg", samples=samples, findings=found)
        draw_rules(tmp_path / again / "rules.svg", findings=found)
    for name in ("parts.svg", "queries.svg", "rules.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_figures_that_cannot_be_drawn_say_why(tmp_path):
    with pytest.raises(InputError, match=r"samples\.jsonl has no windows of these series"):
        draw_parts(tmp_path / "a.png", samples={})
    found = [make_finding("a")]
    samples = {found[0].key: make_sample("a", event=False)}
    with pytest.raises(InputError, match="no sampled series has an event"):
        draw_queries(tmp_path / "a.png", samples=samples, findings=found)
