"""Samples by HTTP: what the web server calls with the body of a request.

A request is stored whole or not at all. If it is answered, its samples are stored or counted as
refused, with the reason; if not, it can be sent again: samples that are stored already are refused
as duplicates.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from axonad.errors import InputError
from axonad.live.engine.contract import Engine
from axonad.live.inbox import OverloadError
from axonad.live.sample import Delivery, Receipt, Sample
from axonad.live.sources.messages import parse, parse_lines

NAME = "http"
JSON = "application/json"
LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl")
LARGE = 50_000  # bytes of a body that is parsed in a thread, so that others are answered meanwhile
PATIENCE = 0.5  # seconds to wait for room
LONGEST = 30.0  # seconds to wait until the samples are stored


class ContentTypeError(InputError):
    """The body has a type that is not read here."""


def parse_body(body: bytes, *, content_type: str, arrival: int) -> list[Sample]:
    """Return the samples of a request; ``content_type`` is its header, JSON if empty."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in LINES:
        return parse_lines(body, arrival=arrival)
    if kind not in ("", JSON):
        raise ContentTypeError(
            f"Content-Type must be {JSON} or {LINES[0]}, got {content_type!r:.60}"
        )
    return parse(body, arrival=arrival)


async def deliver(
    engine: Engine, body: bytes, *, content_type: str, arrival: int, longest: float = LONGEST
) -> Receipt:
    """Store the samples of a request and return how many were accepted and refused.

    Parameters
    ----------
    engine
        Who scores and stores them.
    body, content_type
        Of the request.
    arrival
        Microseconds since 1970, for samples without a time.
    longest
        Seconds to wait until they are stored.

    Raises
    ------
    InputError
        If the body cannot be used; nothing is stored. ``ContentTypeError`` for its type.
    OverloadError
        If the engine is full or could not store; the client should send the request again.
    """
    if len(body) > LARGE:
        samples = await asyncio.to_thread(
            parse_body, body, content_type=content_type, arrival=arrival
        )
    else:
        samples = parse_body(body, content_type=content_type, arrival=arrival)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Receipt] = loop.create_future()

    def done(receipt: Receipt) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_answer, answer, receipt)

    delivery = Delivery(samples=samples, source=NAME, done=done)
    try:
        engine.submit(delivery)
    except OverloadError:
        await asyncio.to_thread(engine.submit, delivery, timeout=PATIENCE)
    try:
        receipt = await asyncio.wait_for(answer, longest)
    except TimeoutError:
        raise OverloadError(f"the samples are not stored after {longest:g} s; try again") from None
    if receipt.error:
        raise OverloadError(f"the samples could not be stored: {receipt.error}")
    return receipt


def _answer(answer: asyncio.Future[Receipt], receipt: Receipt) -> None:
    if not answer.done():  # the client may have gone
        answer.set_result(receipt)
