"""Notices to a webhook: one POST each, signed, with the notice's id.

The header ``X-AxonAD-Signature: sha256=…`` is the HMAC-SHA256 of ``timestamp.body`` with the
secret, ``timestamp`` being the header ``X-AxonAD-Timestamp``, so that an old request cannot be sent
again by somebody else. A receiver that sees an ``X-AxonAD-Id`` twice can skip the second one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from time import time

import orjson

from axonad.live.config import Webhook
from axonad.live.duration import to_seconds
from axonad.live.record import EventRecord, Notice
from axonad.live.sinks.event_json import event_json
from axonad.live.sinks.post import check_url, post


class WebhookSink:
    """Posts each notice to one address."""

    name = "webhook"
    at_once = 1
    every = 0.0

    def __init__(self, settings: Webhook, *, secret: str = "", public_url: str = "") -> None:
        self.give_up = to_seconds("give_up of [webhook]", settings.give_up)
        self._url = check_url("url of [webhook]", settings.url)
        self._timeout = to_seconds("timeout of [webhook]", settings.timeout)
        self._secret = secret.encode()
        self._public_url = public_url

    def tell(self, notices: Sequence[Notice]) -> None:
        """Post notices, one request each; raise SinkError at the first that fails."""
        for notice in notices:
            event = event_json(notice.event, public_url=self._public_url)
            body = orjson.dumps({"id": notice.id, "what": notice.what, "event": event})
            headers = {"X-AxonAD-Id": notice.id}
            if self._secret:
                stamp = str(int(time()))
                headers |= {
                    "X-AxonAD-Timestamp": stamp,
                    "X-AxonAD-Signature": sign(self._secret, stamp, body),
                }
            post(self._url, body, headers=headers, timeout=self._timeout)

    def remind(self, firing: Sequence[EventRecord]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def sign(secret: bytes, stamp: str, body: bytes) -> str:
    """Return the signature of a body sent at a time.

    >>> sign(b"secret", "0", b"{}")[:23]
    'sha256=4bbe8d39de1ffea4'
    """
    digest = hmac.new(secret, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"
