"""One sample at a time: the same scores a batch gives at each window's end."""

from axonad.stream.fleet import FleetScorer
from axonad.stream.judge import StreamResult
from axonad.stream.scorer import StreamScorer

__all__ = ["FleetScorer", "StreamResult", "StreamScorer"]
