"""What all routes of the server share."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request

from axonad.live.config import LiveConfig
from axonad.live.engine.contract import Engine
from axonad.live.sample import Receipt
from axonad.live.web.expected import Expect
from axonad.live.web.explaining import Explain
from axonad.live.web.feed import Feed
from axonad.live.web.security import Caller, Door


class Deliver(Protocol):
    """Takes the body of a request with samples; returns once they are stored.

    Raises ``InputError`` for a body that cannot be used, ``OverloadError`` if there is no room.
    """

    async def __call__(
        self, engine: Engine, body: bytes, content_type: str, arrival: float
    ) -> Receipt:
        """Return what became of the samples."""


@dataclass(frozen=True, eq=False)
class Site:
    """An engine and everything that shows it."""

    engine: Engine
    config: LiveConfig
    door: Door
    feed: Feed
    expect: Expect | None = None
    explain: Explain | None = None
    deliver: Deliver | None = None
    started: str = field(default_factory=lambda: secrets.token_hex(8))
    """Another one after each start, so that pages notice."""


def site_of(request: Request) -> Site:
    """Return the site of a request."""
    return cast(Site, request.app.state.site)


def caller_of(request: Request) -> Caller:
    """Return who sent a request; the guard has let nobody else pass."""
    return cast(Caller, request.state.caller)


Here = Annotated[Site, Depends(site_of)]
Who = Annotated[Caller, Depends(caller_of)]
