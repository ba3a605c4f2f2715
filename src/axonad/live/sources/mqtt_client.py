"""A client of paho-mqtt made from ``[mqtt]``: address, protocol version, session, password, TLS."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axonad.errors import ConfigError, FileError
from axonad.extras import need
from axonad.live.config import Mqtt
from axonad.live.duration import to_seconds
from axonad.live.secrets import read_secret, split_url

if TYPE_CHECKING:
    from paho.mqtt.client import Client

SCHEMES = {"mqtt": 1883, "mqtts": 8883}
VERSIONS = (4, 5)
KEEPALIVE = 30  # seconds
RECEIVE_MAXIMUM = 10_000  # messages on their way that are not acknowledged (MQTT 5)
MAX_PACKET = 16_000_000  # bytes; a broker leaves out larger messages (MQTT 5)
MAX_SESSION = 2**32 - 2  # seconds


@dataclass(frozen=True, kw_only=True, repr=False)  # no repr: it has the password
class Connection:
    """How to connect; checked once, when the server starts."""

    host: str
    port: int
    version: int
    client_id: str
    session: int  # seconds
    username: str
    password: str
    tls: ssl.SSLContext | None

    @property
    def address(self) -> str:
        """The broker, for messages."""
        return f"{self.host}:{self.port}"

    def make_client(self) -> Client:
        """Return a client that is not connected yet."""
        paho = need("paho.mqtt.client", what="sources of [mqtt] need")
        is_new = self.version == 5
        client = paho.Client(
            paho.CallbackAPIVersion.VERSION2,
            client_id=self.client_id,
            protocol=paho.MQTTv5 if is_new else paho.MQTTv311,
            clean_session=None if is_new else self.session == 0,
            manual_ack=True,
            reconnect_on_failure=False,
        )
        if self.username:
            client.username_pw_set(self.username, self.password or None)
        if self.tls is not None:
            client.tls_set_context(self.tls)
        return client  # type: ignore[no-any-return]

    def connect(self, client: Client) -> None:
        """Connect; raise OSError if nobody answers. The broker's word comes by ``on_connect``."""
        options: dict[str, Any] = {}
        if self.version == 5:
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties

            wanted: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            wanted.SessionExpiryInterval = self.session
            wanted.ReceiveMaximum = RECEIVE_MAXIMUM
            wanted.MaximumPacketSize = MAX_PACKET
            options = {"clean_start": self.session == 0, "properties": wanted}
        client.connect(self.host, self.port, keepalive=KEEPALIVE, **options)


def read_connection(config: Mqtt) -> Connection:
    """Return how to connect; raise an error that names the key if a setting cannot be used."""
    need("paho.mqtt.client", what="sources of [mqtt] need")
    parts, port = split_url("url of [mqtt]", config.url, schemes=SCHEMES)
    if config.version not in VERSIONS:
        raise ConfigError(f"version of [mqtt] must be 5, or 4 for MQTT 3.1.1, got {config.version}")
    if not config.client_id:
        raise ConfigError("client_id of [mqtt] must not be empty; the broker knows a session by it")
    password = read_secret("password of [mqtt]", file=config.password_file, env=config.password_env)
    if password and not config.username:
        raise ConfigError("password of [mqtt] needs a username")
    uses_tls = parts.scheme == "mqtts"
    if not uses_tls and (config.tls_ca or config.tls_cert or config.tls_key):
        raise ConfigError("tls_ca, tls_cert and tls_key of [mqtt] need a URL with mqtts://")
    return Connection(
        host=str(parts.hostname),
        port=port,
        version=config.version,
        client_id=config.client_id,
        session=min(int(to_seconds("session of [mqtt]", config.session)), MAX_SESSION),
        username=config.username,
        password=password,
        tls=make_tls("[mqtt]", config.tls_ca, config.tls_cert, config.tls_key)
        if uses_tls
        else None,
    )


def make_tls(table: str, ca: str, cert: str = "", key: str = "") -> ssl.SSLContext:
    """Return settings of TLS that check the broker's certificate and name."""
    if bool(cert) != bool(key):
        raise ConfigError(f"tls_cert and tls_key of {table} go together; set both or none")
    try:
        context = ssl.create_default_context(cafile=ca or None)
        if cert:
            context.load_cert_chain(cert, key)
    except (ssl.SSLError, ValueError):
        files = ", ".join(filter(None, (ca, cert, key)))
        raise ConfigError(f"TLS of {table}: {files} cannot be used; expected PEM files") from None
    except OSError as error:
        files = ", ".join(filter(None, (ca, cert, key)))
        raise FileError(f"TLS of {table}: {files} cannot be read: {error.strerror}") from None
    return context
