"""Events as messages of a real MQTT broker."""

import json

import pytest

from axonad.live.config import Mqtt, MqttEvents
from axonad.live.sinks.runner import SinkRunner
from tests.live.sources.brokers import mosquitto
from tests.live.sources.fake_engine import wait_for

mqtt = pytest.importorskip("paho.mqtt.client")
pytestmark = pytest.mark.live


@pytest.fixture
def broker(tmp_path):
    found = mosquitto(tmp_path, saves=False)
    found.start()
    yield found
    found.close()


@pytest.fixture
def messages(broker):
    """What arrives at the topics of vehicles."""
    arrived, subscribed = [], []
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.on_message = lambda client, data, message: arrived.append(message)
    client.on_subscribe = lambda *args: subscribed.append(args)
    client.connect("127.0.0.1", broker.port)
    client.subscribe("fleet/+/events", qos=1)
    client.loop_start()
    wait_for(lambda: subscribed, "the subscription")
    yield arrived
    client.disconnect()
    client.loop_stop()


def test_messages_tell_the_sentence_and_link_to_the_page(drive, broker, messages):
    from axonad.live.sinks.mqtt import MqttSink

    settings = Mqtt(url=f"mqtt://127.0.0.1:{broker.port}")
    events = MqttEvents(topic="fleet/{vehicle}/events")
    sink = MqttSink(settings, events, public_url="https://fleet.example.org")
    runner = SinkRunner(sink, drive.store, sentences=drive.sentences)
    drive.send(160)
    drive.send(240)
    runner.round()
    wait_for(lambda: len(messages) == 2, "the messages")
    sink.close()
    assert {message.topic for message in messages} == {"fleet/b/events"}
    bodies = [json.loads(message.payload) for message in messages]
    assert [body["what"] for body in bodies] == ["fired", "resolved"]
    for event in (body["event"] for body in bodies):
        assert event["sentence"].startswith("yaw_rate ")
        assert event["link"] == f"https://fleet.example.org/events/{event['id']}"
