"""Figures for Prometheus, read by its own parser."""

from __future__ import annotations

from axonad.live.engine.contract import Health, Model, Part
from axonad.live.web.metrics import write_metrics
from tests.live.web.fake_engine import HOSTILE, FakeEngine


def test_figures_are_typed_escaped_and_have_no_label_per_vehicle():
    engine = FakeEngine(HOSTILE)
    engine.change(HOSTILE[0], state="alarm")
    model = Model('P"C\\A\n', "f", ("a",), 0.1, 1.0)
    health = Health(
        True,
        waiting=7,
        counts={"late": 3},
        latency={"p99": 0.25},
        parts=(Part("mqtt", "broker gone", {"bad": 4}),),
    )
    lines = write_metrics(model, health, engine.vehicles(), clients=2).splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert values['axonad_live_vehicles{state="alarm"}'] == "1"
    assert values['axonad_live_vehicles{state="ok"}'] == str(len(HOSTILE) - 1)
    assert values["axonad_live_queue_samples"] == "7"
    assert values['axonad_live_counts_total{what="late"}'] == "3"
    assert values['axonad_live_latency_seconds{quantile="0.99"}'] == "0.25"
    assert values['axonad_live_part_ok{part="mqtt"}'] == "0"
    assert values['axonad_live_part_counts_total{part="mqtt",what="bad"}'] == "4"
    assert health.told == "mqtt: broker gone"
    assert any('detector="P\\"C\\\\A\\n"' in name for name in values)
    assert len(values) < 30, "a thousand vehicles must not make a thousand lines"
    for name in values:
        family = name.split("{")[0]
        kind = "counter" if family.endswith("_total") else "gauge"
        assert f"# TYPE {family} {kind}" in lines
        assert any(line.startswith(f"# HELP {family} ") for line in lines)
