"""The stream and the consumer of ``[nats]``: made if they are missing, placed where to go on.

A consumer of JetStream sends a message again that was not acknowledged in time, but out of order,
after newer ones. Since the engine stores how far it came, the consumer is made anew with each
connection and begins right there. So messages come in the stream's order, always.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from axonad.errors import ConfigError
from axonad.live.config import Nats
from axonad.live.sources.tally import LOG
from axonad.live.sources.topics import Topics

if TYPE_CHECKING:
    from nats.js import JetStreamContext
    from nats.js.api import StreamInfo

ACK_WAIT = 30.0  # seconds
MAX_PENDING = 50_000  # messages sent and not acknowledged


async def prepare(js: JetStreamContext, config: Nats, topics: Topics, taken: int | None) -> int:
    """Make stream and consumer ready; return the sequence number after which messages come.

    ``taken`` is the last number that was handed over, None if that is not known.
    """
    from nats.js.errors import NotFoundError

    try:
        stream = await js.stream_info(config.stream)
    except NotFoundError:
        LOG.warning(
            "nats: there is no stream %s; it is created for the subjects %s, kept in a file, "
            "without a limit of size or age",
            config.stream,
            ", ".join(topics.filters),
        )
        stream = await js.add_stream(name=config.stream, subjects=list(topics.filters))
    if stream.config.retention == "interest":
        raise ConfigError(
            f"stream {config.stream} of [nats] has the retention policy interest, which loses "
            "messages while the server is away; use limits or workqueue"
        )
    try:
        before = await js.consumer_info(config.stream, config.durable)
        if taken is None:
            taken = before.ack_floor.stream_seq if before.ack_floor else 0
        await js.delete_consumer(config.stream, config.durable)
    except NotFoundError:
        pass
    taken = taken or 0
    if taken > stream.state.last_seq:
        LOG.warning(
            "nats: stream %s was made anew: its last message is %d, but %d is stored already; "
            "it is read from its beginning",
            config.stream,
            stream.state.last_seq,
            taken,
        )
        taken = 0
    await _add_consumer(js, config, topics, stream, taken)
    return taken


async def _add_consumer(
    js: JetStreamContext, config: Nats, topics: Topics, stream: StreamInfo, taken: int
) -> None:
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

    # A work queue holds what is not acknowledged only, and takes no other place to begin.
    is_queue = stream.config.retention == "workqueue"
    from_start = is_queue or taken == 0
    await js.add_consumer(
        config.stream,
        ConsumerConfig(
            durable_name=config.durable,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ACK_WAIT,
            max_ack_pending=MAX_PENDING,
            deliver_policy=DeliverPolicy.ALL if from_start else DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=None if from_start else taken + 1,
            filter_subject=topics.filters[0] if len(topics.filters) == 1 else None,
        ),
    )
