"""``axonad live``: watch a fleet, day and night."""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from axonad.alarms.recalibrate import recalibrate
from axonad.cli.terminal import print_line, print_note
from axonad.config import check_choice
from axonad.data.vehicle import SAMPLE_RATE
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.live.config import ENGINES, LiveConfig, read_config
from axonad.progress import working
from axonad.registry import load, make_detector
from axonad.saving import FILES

DEMO = "demo"  # as the simulated fleet was asked for until 0.2
SEED = 3
DRIVES = 5  # simulated to fit the demo's model: three to learn from, two for its alarms


def live(
    model: Annotated[
        Path | None, typer.Argument(help="Folder of a model with alarms; none with --demo.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Watch a simulated fleet of eight cars instead.")
    ] = False,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Configuration, a TOML file.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; others than loopback need keys.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="Port of the page; 0 takes a free one.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="Database: sqlite:FILE or postgresql://user@host/database.")
    ] = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Also read samples from standard input, JSON lines.")
    ] = False,
    engine: Annotated[
        str | None, typer.Option(help="Where to score: local, or ray for a cluster.")
    ] = None,
    actors: Annotated[
        int | None, typer.Option(min=1, help="Number of actors of the Ray engine.")
    ] = None,
    new_model: Annotated[
        bool,
        typer.Option(
            "--new-model", help="Forget the states of another model's vehicles; events stay."
        ),
    ] = False,
) -> None:
    """Score the live samples of a fleet and show it on a page; stop with Ctrl-C.

    Samples come by HTTP (POST /api/v1/samples) and, as configured, by MQTT or NATS. States and
    events are stored, so that a restart goes on where it was.
    """
    _check_model(model, demo=demo)
    settings = _override(read_config(config), host, port, store, engine, actors)
    if demo and store is None and config is None:
        settings = replace(settings, store=replace(settings.store, url="sqlite::memory:"))
    _log()
    if model is None:
        _run_demo(settings)
        return
    from axonad.live.running import run_live
    from axonad.live.sources.choose import open_sources

    detector = _load(model)
    sources = open_sources(settings, stdin=stdin)
    run_live(
        detector, settings, sources=sources, announce=partial(_announce, settings),
        explaining=_load(model),
        new_model=new_model,
    )  # fmt: skip


def _check_model(model: Path | None, *, demo: bool) -> None:
    """Raise an error unless there is either a model or ``--demo``."""
    if demo and model is not None:
        raise ConfigError(
            f"--demo has a model of its own, got {str(model)!r}; leave one of them out"
        )
    if not demo and model is None:
        raise ConfigError("axonad live needs the folder of a model, or --demo")
    if str(model) == DEMO and not any((Path(DEMO) / name).exists() for name in FILES):
        raise ConfigError(
            f"{DEMO} is not the folder of a model; the simulated fleet is axonad live --demo"
        )


def _run_demo(config: LiveConfig) -> None:
    from axonad.live.running import run_live
    from axonad.live.simulated import FAULT_AFTER, SimulatedFleet, training_drives
    from axonad.live.sources.choose import open_sources

    with working("simulating drives and fitting a model"):
        *normal, other, another = training_drives(DRIVES, seed=SEED)
        detector = make_detector(
            "MultiView", views=("forecast", "relation"), context=("coolant_temperature",), seed=SEED
        )
        detector.fit(normal)
        setup, _ = recalibrate(
            detector, [other, another], budget="1 per hour", seconds_per_step=1 / SAMPLE_RATE
        )
        detector.set_alarms(setup)
        fleet = SimulatedFleet(seed=SEED)
    print_line(
        f"eight simulated cars; the yaw rate sensor of {fleet.faulty} begins to fail "
        f"{FAULT_AFTER:.0f} s after the start"
    )
    sources = [*open_sources(config), fleet]
    run_live(
        detector, config, sources=sources, announce=partial(_announce, config),
        explaining=deepcopy(detector),
    )  # fmt: skip


def _announce(config: LiveConfig, address: str) -> None:
    kind, _, place = config.store.url.partition(":")
    kept = f"kept in {place}" if kind == "sqlite" else "kept in PostgreSQL"
    kept = "lost at the end" if place == ":memory:" else kept
    print_line(f"states and events are {kept}")
    print_line(f"watching; open {address} (Ctrl-C stops)")


def _override(
    config: LiveConfig,
    host: str | None,
    port: int | None,
    store: str | None,
    engine: str | None,
    actors: int | None,
) -> LiveConfig:
    """Return the configuration with the options of the command line in place of its keys."""
    server, parts = config.server, config.engine
    server = replace(
        server, host=server.host if host is None else host,
        port=server.port if port is None else port,
    )  # fmt: skip
    parts = replace(parts, kind=engine or parts.kind, actors=actors or parts.actors)
    check_choice("--engine", parts.kind, ENGINES)
    storing = config.store if store is None else replace(config.store, url=store)
    return replace(config, server=server, engine=parts, store=storing)


def _load(model: Path) -> Detector:
    detector = load(model)
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)
    return detector


class _Notes(logging.Handler):
    """Prints what the server has to say."""

    def emit(self, record: logging.LogRecord) -> None:
        print_note(record.getMessage())
        if record.exc_info and record.exc_info[1] is not None:
            print_note(f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}")


def _log() -> None:
    log = logging.getLogger("axonad.live")
    log.setLevel(logging.INFO)
    if not any(isinstance(handler, _Notes) for handler in log.handlers):
        log.addHandler(_Notes())
        log.propagate = False
