"""What people have done about the events of a stream: seen, or set aside for a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axonad.config import check_int
from axonad.errors import UnknownNameError


class Marks:
    """Whether the current event is acknowledged or shelved, and which channels are shelved.

    ``names`` are those of the channels, None if they have none. ``shelf`` says for each channel up
    to which row its events are set aside.
    """

    def __init__(
        self,
        names: Sequence[str] | None,
        *,
        acknowledged: bool = False,
        shelved: bool = False,
        shelf: Mapping[str, int] | None = None,
    ) -> None:
        self.acknowledged, self.shelved = acknowledged, shelved
        self._names, self._shelf = names, dict(shelf or {})

    def begin(self, cause: Sequence[str], *, row: int) -> None:
        """Begin an event with the channel that is blamed most for it; nobody has seen it yet."""
        self.acknowledged = self.shelved = False
        self.look(cause, row=row)

    def look(self, cause: Sequence[str], *, row: int) -> None:
        """Mark the current event as shelved if its channel is."""
        is_shelved = any(self._shelf.get(name, -1) >= row for name in cause)
        self.shelved = self.shelved or is_shelved

    def shelve(self, channel: str, *, row: int, rows: int) -> None:
        """Set aside the events of a channel for so many rows from ``row`` on."""
        if self._names is not None and channel not in self._names:
            raise UnknownNameError(f"no channel {channel!r} among {', '.join(self._names)}")
        check_int("rows", rows, low=1)
        self._shelf[channel] = row + rows

    def state(self) -> dict[str, Any]:
        """Return all of it, as JSON values."""
        return {
            "acknowledged": self.acknowledged, "shelved": self.shelved, "shelf": dict(self._shelf)
        }  # fmt: skip
