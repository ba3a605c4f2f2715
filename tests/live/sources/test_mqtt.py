"""MQTT with a real broker. A publisher with QoS 1 loses nothing, whatever is killed."""

import random
import subprocess

import pytest

from axonad.live.config import Mqtt
from axonad.live.sources.mqtt import MqttSource
from tests.fuzz.message_mutations import mutated
from tests.live.sources.brokers import find, mosquitto, resident_mebibytes
from tests.live.sources.fake_engine import FakeEngine, wait_for, without_repeats

mqtt = pytest.importorskip("paho.mqtt.client")
pytestmark = pytest.mark.live


@pytest.fixture
def broker(tmp_path, request):
    """A broker; those of tests that kill it save their sessions."""
    found = mosquitto(tmp_path, saves="killed" in request.node.name)
    found.start()
    yield found
    found.close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("axonad.live.sources.mqtt.FINISH", 0.5)


@pytest.fixture
def run():
    """Start sources; stop them at the end."""
    started = []

    def start(engine, broker, **options):
        scheme = options.pop("scheme", "mqtt")
        source = MqttSource(Mqtt(url=f"{scheme}://127.0.0.1:{broker.port}", **options))
        started.append(source)
        source.start(engine)
        return source

    yield start
    for source in started:
        source.stop()


class Publisher:
    """Publishes with QoS 1 and sends again what the broker did not confirm."""

    def __init__(self, broker):
        self.client = mqtt.Client(
            mqtt.CallbackAPIVersion.VERSION2, client_id="publisher", clean_session=False
        )
        self.client.reconnect_delay_set(1, 1)
        self.client.max_queued_messages_set(0)
        self.client.connect("127.0.0.1", broker.port)
        self.client.loop_start()

    def publish(self, topic, payload, **options):
        return self.client.publish(topic, payload, qos=1, **options)

    def publish_rows(self, numbers):
        sent = [
            self.publish("fleet/car", f'{{"time": {number}, "x": {number}}}') for number in numbers
        ]
        wait_for(lambda: all(one.is_published() for one in sent), "the broker's confirmation")

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()


@pytest.fixture
def publisher(broker):
    found = Publisher(broker)
    yield found
    found.close()


def micros(numbers):
    return [number * 10**6 for number in numbers]


@pytest.mark.parametrize("version", [4, 5])
def test_messages_and_values_by_topic(broker, publisher, run, version):
    engine = FakeEngine()
    source = run(engine, broker, version=version)
    wait_for(lambda: source.status().is_connected)
    publisher.publish("fleet/car 1", '{"time": 1, "speed": 2.5}')
    publisher.publish("fleet/car 1/speed", "3.5")
    publisher.publish("fleet/car 1/speed", "broken")
    publisher.publish("fleet/car 1/speed", '{"time": 4, "value": 5}')
    wait_for(lambda: len(engine.samples) == 3)
    assert [dict(sample.values) for sample in engine.samples] == [
        {"speed": 2.5}, {"speed": 3.5}, {"speed": 5.0},
    ]  # fmt: skip
    assert engine.samples[1].time > 1.7e15, "the time of arrival"
    status = source.status()
    assert (status.messages, status.bad, status.error) == (4, 1, "")


@pytest.mark.parametrize("version", [4, 5])
def test_what_was_not_stored_comes_again_after_a_restart(broker, publisher, run, version):
    first = FakeEngine("withhold")
    source = run(first, broker, version=version)
    wait_for(lambda: source.status().is_connected)
    publisher.publish_rows(range(10))
    wait_for(lambda: first.withheld)
    source.stop()
    publisher.publish_rows(range(10, 30))  # while nobody is there
    second = FakeEngine()
    source = run(second, broker, version=version)
    wait_for(lambda: len(second.samples) == 30)
    assert [sample.time for sample in second.samples] == micros(range(30))
    wait_for(lambda: source.status().waiting == 0)
    source.stop()
    third = FakeEngine()
    source = run(third, broker, version=version)
    wait_for(lambda: source.status().is_connected)
    publisher.publish_rows([30])
    wait_for(lambda: third.samples)
    assert [sample.time for sample in third.samples] == micros([30]), "acknowledged is done"


def test_nothing_is_lost_when_the_broker_is_killed(broker, publisher, run):
    engine = FakeEngine()
    source = run(engine, broker)
    wait_for(lambda: source.status().is_connected)
    publisher.publish_rows(range(200))
    engine.mode = "withhold"  # so that the broker has messages to send again
    publisher.publish_rows(range(200, 400))
    wait_for(lambda: engine.withheld)
    broker.kill()
    assert (broker.folder / "mosquitto.db").exists()
    wait_for(lambda: not source.status().is_connected)
    assert "127.0.0.1" in source.status().error
    engine.release()
    broker.start()
    wait_for(lambda: source.status().is_connected and publisher.client.is_connected())
    publisher.publish_rows(range(400, 600))
    wait_for(lambda: len(without_repeats(engine.samples)) == 600)
    assert without_repeats(engine.samples) == micros(range(600))
    assert source.status().error == ""


def test_a_full_engine_holds_the_broker_and_goes_on_later(broker, publisher, run):
    engine = FakeEngine("full")
    source = run(engine, broker)
    wait_for(lambda: source.status().is_connected)
    publisher.publish_rows(range(15_000))  # more than may be on the way
    wait_for(lambda: source.status().messages == 10_000)
    wait_for(lambda: engine.refusals > 20)
    assert source.status().messages == 10_000, "no message without an acknowledgement before"
    assert source.status().is_connected
    engine.mode = "store"
    wait_for(lambda: len(engine.samples) == 15_000)
    assert [sample.time for sample in engine.samples] == micros(range(15_000))
    assert len(engine.stored) < 1_500, "messages that arrive together are one delivery"


def test_retained_messages_are_left_out(broker, publisher, run):
    publisher.publish("fleet/car", '{"x": 1}', retain=True).wait_for_publish(30)
    engine = FakeEngine()
    source = run(engine, broker)
    wait_for(lambda: source.status().messages == 1)
    publisher.publish_rows([5])
    wait_for(lambda: engine.samples)
    assert [sample.time for sample in engine.samples] == micros([5])


# paho leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_password_and_tls(tmp_path, run):
    openssl, passwd = find("openssl"), find("mosquitto_passwd")
    cert, key, users = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "users"
    subprocess.run(  # noqa: S603
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
         "-out", cert, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    users.touch(mode=0o600)
    command = [passwd, "-b", users, "axonad", "hunter2"]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    secret = tmp_path / "secret"
    secret.touch(mode=0o600)
    secret.write_text("hunter2\n")
    wrong = tmp_path / "wrong"
    wrong.touch(mode=0o600)
    wrong.write_text("hunter3\n")
    broker = mosquitto(
        tmp_path,
        f"certfile {cert}\nkeyfile {key}\npassword_file {users}\nallow_anonymous false\n",
        saves=False,
    )
    try:
        broker.start()
        good = {"scheme": "mqtts", "username": "axonad", "password_file": str(secret)}
        no_ca = run(FakeEngine(), broker, client_id="a", **good)
        wait_for(lambda: "certificate verify failed" in no_ca.status().error)
        bad = good | {"password_file": str(wrong), "tls_ca": str(cert)}
        refused = run(FakeEngine(), broker, client_id="b", **bad)
        wait_for(lambda: "Not authorized" in refused.status().error)
        assert "hunter" not in refused.status().error
        source = run(FakeEngine(), broker, client_id="c", tls_ca=str(cert), **good)
        wait_for(lambda: source.status().is_connected)
        assert not no_ca.status().is_connected
        assert not refused.status().is_connected
    finally:
        broker.close()


def test_thousands_of_damaged_messages(broker, publisher, run):
    rng = random.Random(0)
    engine = FakeEngine()
    source = run(engine, broker, topics=("fleet/{vehicle}", "fleet/{vehicle}/{channel}"))
    wait_for(lambda: source.status().is_connected)
    sizes = []
    for round_number in range(4):
        for number in range(1_500):
            topic = rng.choice(["fleet/car", "fleet/car/speed", "fleet/é", "fleet/" + "x" * 200])
            publisher.publish(topic, mutated(rng))
            if number % 300 == 299:
                wait_for(lambda n=round_number * 1_500 + number + 1: source.status().messages == n)
        engine.stored.clear()
        sizes.append(resident_mebibytes())
    assert source.status().is_connected
    assert 1_000 < source.status().bad < 6_000
    assert sizes[-1] - sizes[1] < 50, sizes
    publisher.publish_rows([5])
    wait_for(lambda: 5 * 10**6 in without_repeats(engine.samples))
