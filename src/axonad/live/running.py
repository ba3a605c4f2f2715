"""Put a live server together, store, engine, sources, sinks and page, and run it."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from axonad.detector import Detector
from axonad.live.config import LiveConfig
from axonad.live.engine.contract import Engine, Part
from axonad.live.engine.local import LocalEngine
from axonad.live.engine.status import describe_model, part_of_sink
from axonad.live.sample import Receipt
from axonad.live.sinks.choose import open_sinks
from axonad.live.sinks.runner import SinkRunner
from axonad.live.sinks.sentences import Sentences
from axonad.live.sources.contract import Source
from axonad.live.sources.http import deliver
from axonad.live.store.choose import open_store
from axonad.live.watch import hold_limit
from axonad.live.web.app import create_app
from axonad.live.web.expected import expect_of
from axonad.live.web.explaining import Explainer, sentence_of
from axonad.live.web.security import cautions, open_keys
from axonad.live.web.serve import Source as Startable
from axonad.live.web.serve import serve

log = logging.getLogger("axonad.live")

NO_HOLD = (
    "the model does not say for how long a channel's value is held, so channels that are sent less "
    "often than there are rows are missing in between; axonad recalibrate on normal recordings "
    "writes it into the model, max_age of [input] sets it"
)


@dataclass(frozen=True)
class Bound:
    """A source with the engine it serves."""

    source: Source
    engine: Engine

    def start(self) -> None:
        """Begin to bring samples."""
        self.source.start(self.engine)

    def stop(self) -> None:
        """Bring no more."""
        self.source.stop()


def run_live(
    detector: Detector,
    config: LiveConfig,
    *,
    sources: Sequence[Source],
    announce: Callable[[str], None],
    explaining: Detector | None = None,
    new_model: bool = False,
) -> None:
    """Serve until a signal comes.

    Parameters
    ----------
    detector
        A fitted, causal detector with an alarm policy.
    config
        The configuration.
    sources
        Where samples come from, besides HTTP.
    announce
        Called with the address of the page once it can be opened.
    explaining
        The same detector loaded a second time, for explanations, so that they do not disturb the
        scoring; None shows events, and tells them, without explanations.
    new_model
        Forget the states of vehicles of another model that the store holds; events stay.
    """
    keys = open_keys(config.server)
    for caution in cautions(config.server):
        log.warning("%s", caution)
    if detector.hold_ is None and not config.input.max_age:
        log.warning("%s", NO_HOLD)
    explain = None
    if explaining is not None:
        explain = Explainer(explaining, hold_limit=hold_limit(detector, config.input))
    sinks: list[SinkRunner] = []
    makers: list[SinkRunner] = []
    engine: Engine
    if config.engine.kind == "ray":
        engine = _ray_engine(detector, config, new_model=new_model)
    else:
        store = open_store(config.store)
        if new_model:
            store.replace_model(detector.fingerprint)
        engine = LocalEngine(detector, store, config)
        sentences = Sentences(store, partial(sentence_of, engine, explain))
        sinks = [SinkRunner(sink, store, sentences=sentences) for sink in open_sinks(config)]
        makers = [SinkRunner(sentences, store)]
    app = create_app(
        engine,
        config,
        keys,
        expect=expect_of(detector),
        explain=explain,
        deliver=_deliver,
    )
    for source in sources:
        engine.attach(partial(_of_source, source))
    for sink in sinks:
        engine.attach(partial(_of_sink, sink))
    parts: list[Startable] = [*sinks, *makers, *(Bound(source, engine) for source in sources)]
    serve(app, config.server, engine=engine, sources=parts, announce=announce)


def _ray_engine(detector: Detector, config: LiveConfig, *, new_model: bool) -> Engine:
    from axonad.live.engine.partition import read_model
    from axonad.live.engine.ray_cluster import RayEngine

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        detector.save(folder)
        files = read_model(folder)
    return RayEngine(describe_model(detector), files, config, new_model=new_model)


def _of_source(source: Source) -> Part:
    found = source.status()
    error = found.error if found.error or found.is_connected else "not connected"
    return Part(found.name, error, {"messages": found.messages, "bad": found.bad})


def _of_sink(sink: SinkRunner) -> Part:
    return part_of_sink(sink.status)


async def _deliver(engine: Engine, body: bytes, content_type: str, arrival: float) -> Receipt:
    return await deliver(engine, body, content_type=content_type, arrival=round(arrival * 1e6))
