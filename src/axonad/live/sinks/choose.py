"""The sinks that a configuration asks for."""

from __future__ import annotations

from axonad.live.config import LiveConfig
from axonad.live.secrets import read_secret
from axonad.live.sinks.contract import Sink


def open_sinks(config: LiveConfig) -> list[Sink]:
    """Return the sinks of a configuration; settings, files and packages are checked here."""
    found: list[Sink] = []
    public = config.server.public_url
    if (alerts := config.alertmanager).url:
        from axonad.live.sinks.alertmanager import AlertmanagerSink

        token = read_secret("token of [alertmanager]", file=alerts.token_file, env=alerts.token_env)
        found.append(AlertmanagerSink(alerts, token=token, public_url=public))
    if (hook := config.webhook).url:
        from axonad.live.sinks.webhook import WebhookSink

        secret = read_secret("secret of [webhook]", file=hook.secret_file, env=hook.secret_env)
        found.append(WebhookSink(hook, secret=secret, public_url=public))
    if config.mqtt_events.topic:
        from axonad.live.sinks.mqtt import MqttSink

        found.append(MqttSink(config.mqtt, config.mqtt_events, public_url=public))
    return found
