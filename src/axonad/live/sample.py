"""What sources hand over: samples of vehicles, and deliveries that are acknowledged when stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from axonad.data.raster import SECOND

MAX_NAME = 128  # characters of the name of a vehicle or channel


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of some channels of a vehicle at one time, in microseconds since 1970 (UTC)."""

    vehicle: str
    time: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a delivery: how many samples were taken, and how many for which reason not.

    ``error`` is set if nothing of it was stored; the source then offers it again.
    """

    accepted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    error: str = ""


def ignore_receipt(receipt: Receipt) -> None:
    """Do nothing with a receipt, for sources that need none."""


@dataclass(slots=True)
class Delivery:
    """Samples of one message or request, in the order they came.

    ``done`` is called once, from the engine's thread, after the samples are stored for good or
    refused. ``position`` is the place of the message in its source, such as ``("nats:FLEET", 17)``;
    it is stored with the samples, and the source asks for it when it starts again.
    """

    samples: list[Sample]
    source: str
    done: Callable[[Receipt], None] = ignore_receipt
    position: tuple[str, int] | None = None


def to_seconds(micros: int) -> float:
    """Return microseconds as seconds."""
    return micros / SECOND
