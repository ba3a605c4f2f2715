"""Events to Prometheus Alertmanager by its API v2: resent while they fire, resolved once.

Alertmanager takes alerts with the same labels for the same alert, so the labels are what does not
change about an event, and everything else is an annotation. ``endsAt`` of a firing alert lies three
resends ahead: if the server dies, the alert ends by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import Any

import orjson

from axonad.live.config import Alertmanager
from axonad.live.duration import to_seconds
from axonad.live.links import event_link
from axonad.live.record import EventRecord, Notice
from axonad.live.sinks.event_json import iso_time
from axonad.live.sinks.post import check_url, post

AT_ONCE = 500  # alerts in one request


class AlertmanagerSink:
    """Posts alerts to ``/api/v2/alerts``."""

    name = "alertmanager"
    at_once = AT_ONCE
    give_up = 86_400.0

    def __init__(self, settings: Alertmanager, *, token: str = "", public_url: str = "") -> None:
        self.every = to_seconds("resend of [alertmanager]", settings.resend)
        base = check_url("url of [alertmanager]", settings.url).rstrip("/")
        self._url = f"{base}/api/v2/alerts"
        self._labels = dict(settings.labels)
        self._public_url = public_url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def tell(self, notices: Sequence[Notice]) -> None:
        """Post the newest state of each event."""
        newest = {notice.event.id: notice.event for notice in notices}
        self._post([self._alert(event) for event in newest.values()])

    def remind(self, firing: Sequence[EventRecord]) -> None:
        """Post all firing events again."""
        alerts = [self._alert(event) for event in firing]
        for first in range(0, len(alerts), AT_ONCE):
            self._post(alerts[first : first + AT_ONCE])

    def close(self) -> None:
        """Do nothing."""

    def _alert(self, event: EventRecord) -> dict[str, Any]:
        link = event_link(self._public_url, event.id)
        return alert(event, self._labels, self._ahead(event), link=link)

    def _ahead(self, event: EventRecord) -> int:
        """Return when the alert ends: for a firing one in the future, in microseconds."""
        firing = event.status == "firing"
        return round((time() + 3 * self.every) * 1e6) if firing else round(time() * 1e6)

    def _post(self, alerts: list[dict[str, Any]]) -> None:
        if alerts:
            post(self._url, orjson.dumps(alerts), headers=self._headers)


def alert(
    event: EventRecord, labels: Mapping[str, str], ends: int, *, link: str = ""
) -> dict[str, Any]:
    """Return an event as Alertmanager's API has it; ``link`` leads to its page."""
    channels = ", ".join(event.channels)
    plain = f"channels {channels}, score {event.score:.3g}"
    return {
        "labels": dict(labels)
        | {
            "alertname": f"axonad_{event.kind}",
            "vehicle": event.vehicle,
            "event": event.id,
        },
        "annotations": {
            "summary": f"{event.vehicle}: {event.kind} since {iso_time(event.begins)}",
            "description": event.sentence or event.reason or plain,
            "channels": channels,
            "severity": event.severity,
        },
        "startsAt": iso_time(event.begins),
        "endsAt": iso_time(ends),
    } | ({"generatorURL": link} if link else {})
