"""Notices to a topic of an MQTT broker, with QoS 1: each is confirmed by the broker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from axonad.config import check_bool
from axonad.errors import ConfigError
from axonad.live.config import Mqtt, MqttEvents
from axonad.live.record import EventRecord, Notice
from axonad.live.sinks.contract import SinkError
from axonad.live.sinks.event_json import event_json
from axonad.live.sources.mqtt_client import read_connection

SECONDS = 10.0  # to wait for the broker
FORBIDDEN = "+#/\0"  # in the part of a topic that a vehicle's name becomes


class MqttSink:
    """Publishes each notice as JSON."""

    name = "mqtt"
    at_once = 100
    every = 0.0
    give_up = 86_400.0

    def __init__(self, broker: Mqtt, settings: MqttEvents, *, public_url: str = "") -> None:
        if not broker.url:
            raise ConfigError("[mqtt_events] needs the broker: set url of [mqtt]")
        check_bool("retain of [mqtt_events]", settings.retain)
        if any(sign in settings.topic for sign in "+#\0"):
            raise ConfigError(
                f"topic of [mqtt_events] must not contain + or #, got {settings.topic!r}"
            )
        self._topic, self._retain = settings.topic, settings.retain
        self._public_url = public_url
        own = replace(broker, client_id=f"{broker.client_id}-events", session="0s")
        self._connection = read_connection(own)
        self._client: Any = None

    def tell(self, notices: Sequence[Notice]) -> None:
        """Publish notices; raise SinkError unless the broker confirms them all."""
        try:
            client = self._connected()
            sent = [self._publish(client, notice) for notice in notices]
            for message in sent:
                message.wait_for_publish(SECONDS)
                if not message.is_published():
                    raise SinkError(f"{self._connection.address} does not confirm events")
        except (OSError, RuntimeError, ValueError) as error:
            self.close()
            raise SinkError(f"{self._connection.address} takes no events: {error}") from None
        except SinkError:
            self.close()
            raise

    def remind(self, firing: Sequence[EventRecord]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop_stop()

    def _publish(self, client: Any, notice: Notice) -> Any:
        event = event_json(notice.event, public_url=self._public_url)
        body = {"id": notice.id, "what": notice.what, "event": event}
        name = "".join("_" if sign in FORBIDDEN else sign for sign in notice.event.vehicle)
        topic = self._topic.replace("{vehicle}", name)
        return client.publish(topic, orjson.dumps(body), qos=1, retain=self._retain)

    def _connected(self) -> Any:
        if self._client is None:
            client = self._connection.make_client()
            self._connection.connect(client)
            client.loop_start()
            self._client = client
        return self._client
