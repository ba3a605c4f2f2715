"""How the server is, for machines: ``/metrics`` for Prometheus, ``/health`` and ``/ready``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from axonad import __version__
from axonad.live.engine.contract import Health, Model
from axonad.live.record import STATES, VehicleStatus
from axonad.live.web.site import Here

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NAME = "axonad_live"

router = APIRouter(tags=["health"])


@router.get("/health", summary="Whether the process lives")
def get_health() -> dict[str, str]:
    """Return that the process answers."""
    return {"status": "alive"}


@router.get("/ready", summary="Whether samples can be stored")
def get_ready(site: Here, request: Request) -> JSONResponse:
    """Return whether the engine is ready, with 503 and the reason if it is not."""
    health = site.engine.health()
    if health.is_ready:
        return JSONResponse({"status": "ready"})
    reason = health.trouble if request.state.caller is not None else ""
    return JSONResponse(
        {"error": reason or "the engine is not ready"}, 503, headers={"retry-after": "5"}
    )


@router.get("/metrics", summary="Figures for Prometheus", response_class=PlainTextResponse)
def get_metrics(site: Here) -> PlainTextResponse:
    """Return the figures as Prometheus reads them."""
    text = write_metrics(
        site.engine.model, site.engine.health(), site.engine.vehicles(), clients=site.feed.clients
    )
    return PlainTextResponse(text, media_type=CONTENT_TYPE)


def write_metrics(
    model: Model, health: Health, vehicles: Iterable[VehicleStatus], *, clients: int
) -> str:
    """Return the figures in Prometheus' text format; no vehicle has a label of its own."""
    states = dict.fromkeys(STATES, 0) | Counter(status.state for status in vehicles)
    about = {"version": __version__, "detector": model.name, "model": model.fingerprint}
    gauges = (
        ("ready", "Whether samples can be stored.", int(health.is_ready)),
        ("trouble", "Whether something is wrong.", int(bool(health.trouble))),
        ("queue_samples", "Samples that wait to be scored.", health.waiting),
        ("queue_limit_samples", "Samples that fit into the queue.", health.queue),
        ("lag_seconds", "For which the oldest delivery has waited.", health.lag),
        ("commit_seconds", "That the last commit took.", health.commit_seconds),
        ("store_bytes", "That the store takes on disk.", health.store_bytes),
        ("page_clients", "Pages that are open and updated.", clients),
    )
    delays = [({"quantile": _quantile(name)}, value) for name, value in health.latency.items()]
    totals = [({"what": what}, count) for what, count in sorted(health.counts.items())]
    fine = [({"part": part.name}, int(not part.error)) for part in health.parts]
    parts = [
        ({"part": part.name, "what": what}, count)
        for part in health.parts
        for what, count in part.counts.items()
    ]
    families = [_family(name, "gauge", help, [({}, value)]) for name, help, value in gauges]
    families += [
        _family("info", "gauge", "What runs.", [(about, 1)]),
        _family(
            "vehicles", "gauge", "Vehicles by state.",
            [({"state": state}, count) for state, count in states.items()],
        ),
        _family("commits_total", "counter", "Commits to the store.", [({}, health.commits)]),
        _family("latency_seconds", "gauge", "From arrival to commit, lately.", delays),
        _family("counts_total", "counter", "Samples and rows by what became of them.", totals),
        _family("part_ok", "gauge", "Whether a source or sink works.", fine),
        _family("part_counts_total", "counter", "Messages of sources, notices of sinks.", parts),
    ]  # fmt: skip
    return "".join(families)


def _family(
    name: str, kind: str, help: str, values: Iterable[tuple[Mapping[str, str], float]]
) -> str:
    """Return one figure: its help, its type, a line per value."""
    lines = [f"# HELP {NAME}_{name} {help}", f"# TYPE {NAME}_{name} {kind}"]
    for labels, value in values:
        inner = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
        lines.append(f"{NAME}_{name}{{{inner}}} {value!r}" if inner else f"{NAME}_{name} {value!r}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    r"""Return a label's text as the format wants it.

    >>> _escape('a"b\n')
    'a\\"b\\n'
    """
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _quantile(name: str) -> str:
    """Return a percentile such as p99 as a share."""
    digits = name.removeprefix("p")
    return f"{float(digits) / 100:g}" if digits.isdigit() else name
