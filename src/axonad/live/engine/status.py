"""What an engine tells of its model and its vehicles."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from axonad.detector import Detector
from axonad.live.engine.contract import Model, Part
from axonad.live.record import Micros, VehicleStatus
from axonad.live.sinks.contract import SinkStatus
from axonad.live.vehicle import VehicleStream


def describe_model(detector: Detector) -> Model:
    """Return what the page shows of a detector."""
    setup = detector.alarm_setup_
    return Model(
        name=type(detector).__name__,
        fingerprint=detector.fingerprint,
        channels=tuple(detector.channel_names or ()),
        interval=detector.interval_,
        threshold=detector.threshold_ if setup is None else setup.policy.start,
        units=dict(getattr(detector, "units_", None) or {}),
    )


def statuses(
    vehicles: Mapping[str, VehicleStream],
    known: Mapping[str, Micros],
    *,
    now: float,
    silent: float,
) -> list[VehicleStatus]:
    """Return the status of vehicles in memory and of those only stored, by name."""
    found = [_status(vehicle, now - vehicle.seen_at > silent) for vehicle in vehicles.values()]
    found += [
        VehicleStatus(name, "no data", time, time / 1e6, None, 0)
        for name, time in known.items()
        if name not in vehicles
    ]
    return sorted(found, key=lambda status: status.vehicle)


def percentiles(seconds: Collection[float]) -> dict[str, float]:
    """Return the median and the 99th percentile of latencies; nothing if there are none.

    >>> percentiles([3.0, 1.0, 2.0])
    {'p50': 2.0, 'p99': 3.0}
    """
    found = sorted(seconds)
    return {f"p{share}": found[len(found) * share // 100] for share in (50, 99) if found}


def part_of_sink(sink: SinkStatus, *, of: str = "") -> Part:
    """Return how a sink is, as engines tell it; ``of`` says whose it is, if there are several."""
    counts = {"told": sink.told, "failed": sink.failed, "given up": sink.given_up}
    return Part(f"{sink.name}{of}", sink.error, counts)


def _status(vehicle: VehicleStream, is_silent: bool) -> VehicleStatus:
    kinds = {event.kind for event in vehicle.firing.values()}
    state = "alarm" if kinds - {"drift"} else "drift" if kinds else "ok"
    return VehicleStatus(
        vehicle=vehicle.name,
        state="no data" if is_silent else state,
        last_time=vehicle.raster.newest,
        last_seen=vehicle.last_seen,
        score=vehicle.score,
        rows=vehicle.recent.count,
        firing=tuple(vehicle.firing),
        counts=dict(vehicle.counts),
    )
