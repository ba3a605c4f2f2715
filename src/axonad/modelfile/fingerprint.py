"""A hash that identifies what a detector has learned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.modelfile.document import plain


def fingerprint(values: Any, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a SHA-256 digest of JSON values and arrays."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=plain).encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
