"""Saved states of streams as bytes: a JSON document with kind, format, fingerprint and checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from axonad import modelfile
from axonad.errors import ModelFileError

FORMAT = 3  # the first that release 0.3 reads
OLD_KINDS = ("axonad-stream", "axonad-fleet")
SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY


def pack(document: Mapping[str, Any], *, kind: str) -> bytes:
    """Return a document of finite JSON values as bytes, with its checksum."""
    body = orjson.dumps({"kind": kind, "format": FORMAT, **document}, option=SORTED)
    return body[:-1] + b',"checksum":"' + _digest(body) + b'"}\n'


def unpack(data: bytes, *, kind: str, fingerprint: str, of: str) -> dict[str, Any]:
    """Return a document; raise ModelFileError if it is damaged or not of this detector.

    ``of`` says in the message what it is.
    """
    content = modelfile.parse(data, of)
    document: dict[str, Any] = content if isinstance(content, dict) else {}
    if document.get("kind") in OLD_KINDS and document.get("format") in (1, 2):
        raise ModelFileError(
            f"{of} was saved by axonad 0.2 or older, whose streams no later version goes on with; "
            "begin a new one"
        )
    if document.get("kind") != kind:
        raise ModelFileError(f"{of} was not written by axonad: it is no {kind!r} document")
    modelfile.check_format(of, document.get("format"), FORMAT)
    checksum = document.pop("checksum", None)
    try:
        body = orjson.dumps(document, option=SORTED)
    except (TypeError, ValueError) as error:  # such as half of a character
        raise modelfile.damaged(of, error) from None
    if not isinstance(checksum, str) or checksum.encode("ascii", "replace") != _digest(body):
        raise ModelFileError(
            f"{of} is damaged or was edited: its content does not match its checksum; save again"
        )
    if document.get("detector") != fingerprint:
        raise ModelFileError(f"{of} belongs to another detector; pass the one it was saved with")
    return document


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
