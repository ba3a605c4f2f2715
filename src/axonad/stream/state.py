"""Files with the state of streams: the detector's fingerprint, the hold limit and the lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axonad import modelfile
from axonad.config import check_int
from axonad.detector import Detector
from axonad.errors import ModelFileError

FORMAT = 3  # the first that release 0.3 reads


def write_state(
    path: str | Path,
    state: Mapping[str, Any],
    *,
    kind: str,
    detector: Detector,
    hold_limit: int,
    overwrite: bool,
) -> None:
    """Write a state to one JSON file."""
    document = {
        "kind": kind,
        "format": FORMAT,
        "detector": detector.fingerprint,
        "hold_limit": hold_limit,
        **state,
    }
    modelfile.write_document(path, document, overwrite=overwrite)


@contextmanager
def reading_state(
    path: str | Path, *, kind: str, detector: Detector
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield a file's document and hold limit; errors in the body report the file as damaged."""
    document = modelfile.read_document(path, kind=kind, newest=FORMAT)
    if document["format"] < FORMAT:
        raise ModelFileError(
            f"{modelfile.shown(path)} was saved by axonad 0.2 or older, whose streams no later "
            "version goes on with; begin a new state"
        )
    if document.get("detector") != detector.fingerprint:
        raise ModelFileError(
            f"{modelfile.shown(path)} belongs to another detector; pass the one it was saved with"
        )
    try:
        check_int("hold_limit", document["hold_limit"], low=0)
        yield document, document["hold_limit"]
    except modelfile.MISFITS as error:
        raise modelfile.damaged(path, error) from None
