"""What a source counts and says: messages, bad ones, and trouble, without filling the log."""

from __future__ import annotations

import logging
from time import monotonic
from typing import Any

from axonad.live.sources.contract import SourceStatus
from axonad.live.sources.handover import Handover

LOG = logging.getLogger("axonad.live")
EVERY = 10.0  # seconds between two lines about bad messages


class Tally:
    """Counts of one source, and its last trouble; written by the source's thread alone."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.messages = 0
        self.bad = 0
        self.is_connected = False
        self._trouble = ""
        self._told = -EVERY  # when the last line about bad messages was written
        self._untold = 0

    def note_bad(self, where: str, error: Exception) -> None:
        """Count a bad message; write a line for the first, then one every ten seconds."""
        self.bad += 1
        now = monotonic()
        if now - self._told < EVERY:
            self._untold += 1
            return
        more = f" ({self._untold} more since the last such line)" if self._untold else ""
        LOG.warning("%s: left out a bad message from %.80s: %s%s", self.name, where, error, more)
        self._told, self._untold = now, 0

    def note_trouble(self, text: str) -> None:
        """Remember what is wrong with the connection; write a line when it changes."""
        if text and text != self._trouble:
            LOG.warning("%s: %s", self.name, text)
        self._trouble = text

    def note_connected(self, where: str) -> None:
        """Remember that all is well."""
        LOG.info("%s: connected to %s", self.name, where)
        self.is_connected = True
        self._trouble = ""

    def status(self, handover: Handover[Any] | None) -> SourceStatus:
        """Return what the page shows of a source; None before it was started."""
        waiting, error = (0, "") if handover is None else (handover.waiting, handover.error)
        return SourceStatus(
            name=self.name,
            is_connected=self.is_connected,
            messages=self.messages,
            bad=self.bad,
            waiting=waiting,
            error=self._trouble or error,
        )
