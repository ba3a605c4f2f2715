from __future__ import annotations

import pytest

from axonad.paper.diagnostics.as_run import PREDICTED
from axonad.paper.figures.probe import draw_probe
from axonad.paper.tables.as_run import LABELS
from tests.paper.findings import make_as_run
from tests.report.figures import names_on_y


def test_every_predictor_has_its_series_and_its_mean(tmp_path, drawn):
    values = {f"probe AP {name}": i / 10 for i, name in enumerate(PREDICTED)}
    found = [
        make_as_run("a", **values),
        make_as_run("b", **{k: v + 0.2 for k, v in values.items()}),
    ]
    draw_probe(tmp_path / "probe.png", findings=found)
    (axis,) = drawn[0].axes
    assert names_on_y(axis) == [LABELS[name] for name in PREDICTED]
    points, means = axis.lines[0::2], axis.lines[1::2]  # two series have no interval
    for i, (cloud, mean) in enumerate(zip(points, means, strict=True)):
        assert cloud.get_xdata().tolist() == pytest.approx([i / 10, i / 10 + 0.2])
        assert mean.get_xdata()[0] == pytest.approx(i / 10 + 0.1)
