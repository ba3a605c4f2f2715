import sys

import pytest

from axonad.errors import AxonADError, MissingDependencyError
from axonad.live.config import parse_config
from axonad.live.sources.choose import open_sources


def test_sources_are_off_without_a_url():
    assert open_sources(parse_config({})) == []
    assert [source.name for source in open_sources(parse_config({}), stdin=True)] == ["stdin"]


def test_a_source_that_was_not_started_has_a_status_and_can_be_stopped():
    tables = {"mqtt": {"url": "mqtt://localhost"}, "nats": {"url": "nats://localhost"}}
    for source in open_sources(parse_config(tables)):
        assert (source.status().name, source.status().is_connected) == (source.name, False)
        source.stop()


@pytest.mark.parametrize(("name", "module"), [("mqtt", "paho.mqtt.client"), ("nats", "nats")])
def test_a_missing_package_is_named_with_its_command(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'axonad\[{name}\]'"):
        open_sources(parse_config({name: {"url": f"{name}://host"}}))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"mqtt": {"url": "mqtt://bob:hunter2@h"}}, "must not contain a user or password"),
        ({"mqtt": {"url": "http://h"}}, "url of [mqtt] must be like mqtt://host:1883"),
        ({"mqtt": {"url": "mqtt://h:99999999"}}, "url of [mqtt] is no URL"),
        ({"mqtt": {"url": "mqtt://h", "version": 3}}, "must be 5, or 4 for MQTT 3.1.1, got 3"),
        ({"mqtt": {"url": "mqtt://h", "client_id": ""}}, "client_id of [mqtt]"),
        ({"mqtt": {"url": "mqtt://h", "tls_ca": "ca.pem"}}, "need a URL with mqtts://"),
        ({"mqtt": {"url": "mqtts://h", "tls_ca": "no.pem"}}, "no.pem cannot be read"),
        ({"mqtt": {"url": "mqtt://h", "session": "long"}}, "session of [mqtt]"),
        ({"mqtt": {"url": "mqtt://h", "topics": []}}, "at least one pattern"),
        ({"nats": {"url": "nats://h", "stream": "a.b"}}, "stream of [nats]"),
        ({"nats": {"url": "nats://h", "password_env": "PATH"}}, "needs a username"),
        ({"nats": {"url": "nats://h", "fetch": 0}}, "fetch of [nats]"),
        ({"nats": {"url": "nats://h", "username": "u", "password_env": "NOT_SET_4711"}},
         "the environment variable NOT_SET_4711 is not set"),
    ],
)  # fmt: skip
def test_settings_are_checked_before_anything_starts(table, words):
    with pytest.raises(AxonADError) as caught:
        open_sources(parse_config(table))
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)
