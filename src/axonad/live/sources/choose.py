"""The sources that a configuration asks for."""

from __future__ import annotations

from collections.abc import Callable

from axonad.live.config import LiveConfig
from axonad.live.sources.contract import Source


def open_sources(
    config: LiveConfig, *, stdin: bool = False, on_end: Callable[[], None] | None = None
) -> list[Source]:
    """Return the sources of a configuration, not started; HTTP is part of the web server.

    Settings, files and packages are checked here, brokers are not contacted. With ``stdin``,
    standard input is one of them, and ``on_end`` is called when its last line is stored.
    """
    found: list[Source] = []
    if config.mqtt.url:
        from axonad.live.sources.mqtt import MqttSource

        found.append(MqttSource(config.mqtt))
    if config.nats.url:
        from axonad.live.sources.nats import NatsSource

        found.append(NatsSource(config.nats))
    if stdin:
        from axonad.live.sources.lines import LinesSource

        found.append(LinesSource(on_end=on_end))
    return found
