"""Files with the right checksum and any content, as somebody could make them up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import orjson


def seal(document: Any) -> str:
    """Return a document as JSON text, with the checksum of its content."""
    if not isinstance(document, dict):
        return json.dumps(document)
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return json.dumps({**content, "checksum": hashlib.sha256(text.encode()).hexdigest()})


def seal_state(document: Any) -> bytes:
    """Return a document as the bytes of a state, with the checksum of its content."""
    if not isinstance(document, dict):
        return json.dumps(document).encode()
    content = {key: value for key, value in document.items() if key != "checksum"}
    try:
        body = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # text or a number that no state can hold
        return json.dumps(document).encode()
    checksum = hashlib.sha256(body).hexdigest()
    return json.dumps({**json.loads(body), "checksum": checksum}).encode()


def forge(path: Path, **changes: Any) -> None:
    """Change entries of a JSON file, or remove those changed to ``...``, and seal it."""
    document = json.loads(path.read_text()) | changes
    path.write_text(seal({k: v for k, v in document.items() if v is not ...}))


def forge_arrays(path: Path, data: bytes) -> None:
    """Write the arrays' file that belongs to a JSON file, and the checksums of both."""
    recorded = json.loads(path.read_text())["arrays"]
    (path.parent / recorded["file"]).write_bytes(data)
    forge(path, arrays={**recorded, "sha256": hashlib.sha256(data).hexdigest()})
