"""Detectors by name: a table of strings, read without importing any of them."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from axonad import modelfile
from axonad.config import build
from axonad.detector import FILES, FORMAT, KIND, Detector
from axonad.errors import AxonADError, ModelFileError, UnknownNameError, suggest


class Entry(NamedTuple):
    """One registered detector."""

    name: str
    path: str
    summary: str
    learns_from: str = "prefix"
    """What TSB-AD fits it on: a clean ``"prefix"``, or the scored ``"series"`` itself."""


REGISTRY: tuple[Entry, ...] = (
    Entry("AxonAD", "axonad.axon:AxonAD", "reconstruction error and surprised attention queries"),
    Entry("CNN", "axonad.baselines.cnn:CNN", "error of a convolutional forecast of the next row"),
    Entry("AutoEncoder", "axonad.baselines.auto_encoder:AutoEncoder", "what a bottleneck loses"),
    Entry("LSTMAD", "axonad.baselines.lstm_ad:LSTMAD", "error of a recurrent forecast of a row"),
    Entry("USAD", "axonad.baselines.usad:USAD", "reconstruction error of two autoencoders"),
    Entry("TranAD", "axonad.baselines.tran_ad:TranAD", "error of a row reconstructed twice"),
    Entry("OmniAnomaly", "axonad.baselines.omni_anomaly:OmniAnomaly", "what a recurrent VAE loses"),
    Entry("Donut", "axonad.baselines.donut:Donut", "unlikeliness of a row under a VAE of windows"),
    Entry("FITS", "axonad.baselines.fits:FITS", "error of a row interpolated among frequencies"),
    Entry("M2N2", "axonad.baselines.m2n2:M2N2", "error of an autoencoder that adapts as it scores"),
)


def list_detectors() -> tuple[Entry, ...]:
    """Return every registered detector: name, where it lives, what it does."""
    return REGISTRY


def detector_class(name: str) -> type[Detector]:
    """Return the class registered under ``name``."""
    for entry in REGISTRY:
        if entry.name == name:
            module, cls = entry.path.split(":")
            found: type[Detector] = getattr(import_module(module), cls)
            return found
    known = [entry.name for entry in REGISTRY]
    hint = suggest(name, known) or f"; known: {', '.join(known)}"
    raise UnknownNameError(f"no detector {name!r}{hint}")


def make_detector(name: str, **params: Any) -> Detector:
    """Return an unfitted detector by name, with the given parameters."""
    return build(detector_class(name), params)


def load(folder: str | os.PathLike[str]) -> Detector:
    """Return the fitted detector saved in ``folder``. Loading never executes code from it."""
    document, arrays = modelfile.read(Path(folder), names=FILES, kind=KIND, newest=FORMAT)
    path = Path(folder) / FILES[0]
    try:
        detector = make_detector(str(document["detector"]), **dict(document["params"]))
        return detector._load(document, arrays)
    except AxonADError as error:
        raise ModelFileError(f"{path} cannot be used: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        reason = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{path} is damaged: {reason}") from None
