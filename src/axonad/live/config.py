"""The configuration of ``axonad live``: one TOML file, a default for every key.

Each table is a dataclass below, and its fields are the keys. A key that does not exist is refused
with the closest one that does. Durations are text such as ``"500ms"`` or ``"2s"``. Secrets are
never keys themselves: ``*_file`` names a file, ``*_env`` an environment variable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axonad.config import build, check_choice, check_int, read_toml
from axonad.errors import ConfigError, suggest
from axonad.live.links import check_public_url

OVERLOAD = ("hold", "shed")
ENGINES = ("local", "ray")


@dataclass(frozen=True, kw_only=True)
class Server:
    """The web server: page, REST, metrics and HTTP input."""

    host: str = "127.0.0.1"  # address to listen on; others than loopback need keys
    port: int = 8757  # 0 takes a free one
    keys_file: str = ""  # hashed keys, written by `axonad live-key`; needed beyond loopback
    tls_cert: str = ""  # certificate chain, a PEM file; with tls_key the server speaks HTTPS
    tls_key: str = ""  # private key of the certificate, a PEM file
    hosts: tuple[str, ...] = ()  # further host names under which the page is reached
    public_url: str = ""  # where people open the page, for links to events; none: without links
    max_body: int = 8_000_000  # bytes of a request
    rate: float = 200.0  # requests per second and client that are answered
    burst: int = 1_000  # requests that a client may send at once before `rate` counts


@dataclass(frozen=True, kw_only=True)
class Storing:
    """The database, and for how long it keeps what."""

    url: str = "sqlite:axonad-live.db"  # or postgresql://user@host/database
    password_file: str = ""  # of PostgreSQL
    password_env: str = ""  # environment variable with the password, instead of a file
    keep_days: float = 30.0  # of courses (scores and values) and of vehicles that fell silent
    keep_events_days: float = 365.0  # of events
    max_size: int = 10_000_000_000  # bytes; the oldest courses go first
    snapshot_rows: int = 100  # rows after which a vehicle's state is written whole


@dataclass(frozen=True, kw_only=True)
class Input:
    """How samples become rows, and what happens to those that do not fit."""

    rate: str = ""  # of the raster, such as "10Hz"; default: that of the training data
    max_age: str = ""  # for which a value is held on the raster; default: as the model says
    lateness: str = "0s"  # how long a row waits for samples that come out of order
    max_ahead: str = "10s"  # a sample further ahead of clock and vehicle is refused
    ignore_extra: bool = True  # leave out channels that the model does not know
    hold_limit: int | None = None  # more rows in which a value is held; default: 0 with ages, or 10
    queue: int = 200_000  # samples that may wait to be scored
    overload: str = "hold"  # with a full queue: "hold" the sources, or "shed" samples
    batch: int = 20_000  # samples scored and stored together at most
    commit_every: str = "100ms"  # shortest time between two commits
    expire: str = "10min"  # silence after which a vehicle leaves memory; its state stays stored
    silent_after: str = "10s"  # silence after which a vehicle is shown as "no data"
    max_vehicles: int = 100_000  # vehicles in memory; samples of further ones are refused


@dataclass(frozen=True, kw_only=True)
class Mqtt:
    """Input by MQTT; off without a URL."""

    url: str = ""  # mqtt://host:1883 or mqtts://host:8883
    topics: tuple[str, ...] = ("fleet/{vehicle}", "fleet/{vehicle}/{channel}")  # to subscribe to
    client_id: str = "axonad-live"  # name at the broker, under which it keeps the session
    version: int = 5  # 4 is MQTT 3.1.1
    username: str = ""  # none: without authentication
    password_file: str = ""  # file with the password
    password_env: str = ""  # environment variable with it, instead
    tls_ca: str = ""  # certificates to trust, a PEM file; default: those of the system
    tls_cert: str = ""  # certificate of this client, a PEM file
    tls_key: str = ""  # private key of that certificate
    session: str = "1h"  # how long the broker keeps messages while the server is away


@dataclass(frozen=True, kw_only=True)
class Nats:
    """Input by NATS JetStream; off without a URL."""

    url: str = ""  # nats://host:4222 or tls://host:4222
    stream: str = "FLEET"  # JetStream stream; made if there is none
    subjects: tuple[str, ...] = ("fleet.{vehicle}", "fleet.{vehicle}.{channel}")  # to read
    durable: str = "axonad-live"  # name of the consumer; one server per name
    username: str = ""  # none: without authentication
    password_file: str = ""  # file with the password
    password_env: str = ""  # environment variable with it, instead
    tls_ca: str = ""  # certificates to trust, a PEM file; default: those of the system
    fetch: int = 500  # messages asked for at a time


@dataclass(frozen=True, kw_only=True)
class Alertmanager:
    """Notifications to Prometheus Alertmanager; off without a URL."""

    url: str = ""  # such as http://alertmanager:9093
    resend: str = "1min"  # how often a firing event is sent again
    labels: Mapping[str, str] = field(default_factory=dict)  # of your own, added to each alert
    token_file: str = ""  # file with a bearer token
    token_env: str = ""  # environment variable with it, instead


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Notifications by HTTP POST; off without a URL."""

    url: str = ""  # address that gets the POST requests
    secret_file: str = ""  # signs the body with HMAC-SHA256
    secret_env: str = ""  # environment variable with the secret, instead of a file
    timeout: str = "10s"  # of one request
    give_up: str = "1d"  # age after which a notification is no longer tried


@dataclass(frozen=True, kw_only=True)
class MqttEvents:
    """Notifications to a topic of the broker of ``[mqtt]``; off without a topic."""

    topic: str = ""  # such as "fleet/{vehicle}/events"
    retain: bool = False  # whether the broker keeps the last notification for new subscribers


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Where vehicles are scored: in this process, or on the actors of a Ray cluster."""

    kind: str = "local"  # local or ray
    actors: int = 2  # of Ray, among which the vehicles are divided
    address: str = ""  # of a Ray cluster; default: one on this machine
    threads: int = 1  # of numpy and PyTorch, per process


@dataclass(frozen=True, kw_only=True)
class LiveConfig:
    """The whole configuration; one field per table of the file."""

    server: Server = Server()
    store: Storing = Storing()
    input: Input = Input()
    mqtt: Mqtt = Mqtt()
    nats: Nats = Nats()
    alertmanager: Alertmanager = Alertmanager()
    webhook: Webhook = Webhook()
    mqtt_events: MqttEvents = MqttEvents()
    engine: Engine = Engine()


def read_config(path: Path | None) -> LiveConfig:
    """Return the configuration of a TOML file; the defaults without one."""
    return LiveConfig() if path is None else parse_config(read_toml(path))


def parse_config(document: Mapping[str, Any]) -> LiveConfig:
    """Return a configuration from the tables of a file.

    >>> parse_config({"server": {"port": 80}}).server.port
    80
    >>> parse_config({"server": {"prot": 80}})
    Traceback (most recent call last):
    axonad.errors.ConfigError: [server] has no key 'prot'; did you mean 'port'?
    """
    tables = {field.name: field for field in dataclasses.fields(LiveConfig)}
    found = {}
    for name, table in document.items():
        if name not in tables:
            hint = suggest(name, list(tables)) or f"; the tables are {', '.join(tables)}"
            raise ConfigError(f"the configuration has no table [{name}]{hint}")
        cls = type(tables[name].default)
        if not isinstance(table, Mapping):
            raise ConfigError(f"{name} must be a table, [{name}] with its keys below it")
        found[name] = _table(name, cls, table)
    config = LiveConfig(**found)
    check_choice("overload of [input]", config.input.overload, OVERLOAD)
    check_choice("kind of [engine]", config.engine.kind, ENGINES)
    check_int("port of [server]", config.server.port, low=0, high=65_535)
    if config.server.public_url:
        check_public_url(config.server.public_url)
    return config


def _table(name: str, cls: type, table: Mapping[str, Any]) -> Any:
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key, value in table.items():
        if key not in fields:
            hint = suggest(key, list(fields)) or f"; its keys are {', '.join(fields)}"
            raise ConfigError(f"[{name}] has no key {key!r}{hint}")
        _check_type(f"{key} of [{name}]", value, fields[key])
    return build(cls, table)


def _check_type(what: str, value: Any, known: dataclasses.Field[Any]) -> None:
    """Raise ``ConfigError`` if a value is not of the type of the key's default."""
    default = known.default
    if default is dataclasses.MISSING:
        wanted, right = "a table of text", isinstance(value, Mapping)
    elif isinstance(default, bool):
        wanted, right = "true or false", isinstance(value, bool)
    elif isinstance(default, int) or default is None:
        wanted, right = "a whole number", type(value) is int and value >= 0
    elif isinstance(default, float):
        right = type(value) in (int, float) and 0 <= value < float("inf")
        wanted = "a number that is not negative"
    elif isinstance(default, tuple):
        wanted = "a list of text"
        right = isinstance(value, list) and all(isinstance(item, str) for item in value)
    else:
        wanted, right = "text", isinstance(value, str)
    if not right:
        raise ConfigError(f"{what} must be {wanted}, got {value!r}")
