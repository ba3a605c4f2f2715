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
    Entry(
        "AxonADVariant",
        "axonad.paper.variants:AxonADVariant",
        "the ablations: AxonAD that predicts, learns or scores otherwise",
    ),
    # networks, trained on a clean prefix
    Entry(
        "AnomalyTransformer",
        "axonad.baselines.anomaly_transformer:AnomalyTransformer",
        "error of a row, larger where attention stays near",
    ),
    Entry("AutoEncoder", "axonad.baselines.auto_encoder:AutoEncoder", "what a bottleneck loses"),
    Entry("CNN", "axonad.baselines.cnn:CNN", "error of a convolutional forecast of the next row"),
    Entry("Donut", "axonad.baselines.donut:Donut", "unlikeliness of a row under a VAE of windows"),
    Entry("FITS", "axonad.baselines.fits:FITS", "error of a row interpolated among frequencies"),
    Entry("GDN", "axonad.baselines.gdn:GDN", "error of a row forecast along a graph of channels"),
    Entry("LSTMAD", "axonad.baselines.lstm_ad:LSTMAD", "error of a recurrent forecast of a row"),
    Entry("M2N2", "axonad.baselines.m2n2:M2N2", "error of an autoencoder that adapts as it scores"),
    Entry("MAVAE", "axonad.baselines.mavae:MAVAE", "unlikeliness under a VAE with attention"),
    Entry("OFA", "axonad.baselines.ofa:OFA", "error of a row reconstructed by a language model"),
    Entry("OmniAnomaly", "axonad.baselines.omni_anomaly:OmniAnomaly", "what a recurrent VAE loses"),
    Entry("SISVAE", "axonad.baselines.sisvae:SISVAE", "unlikeliness under a smooth sequential VAE"),
    Entry(
        "TFTResidual",
        "axonad.baselines.tft_residual:TFTResidual",
        "distance of a row from a fusion transformer's median",
    ),
    Entry("TimesNet", "axonad.baselines.times_net:TimesNet", "error of a row folded by periods"),
    Entry("TranAD", "axonad.baselines.tran_ad:TranAD", "error of a row reconstructed twice"),
    Entry("USAD", "axonad.baselines.usad:USAD", "reconstruction error of two autoencoders"),
    Entry("VASP", "axonad.baselines.vasp:VASP", "what a narrow recurrent VAE loses"),
    Entry("VSVAE", "axonad.baselines.vsvae:VSVAE", "unlikeliness under a VAE of its attention"),
    Entry("WVAE", "axonad.baselines.wvae:WVAE", "unlikeliness under a denoising recurrent VAE"),
    # classical ones, which TSB-AD fits on the series they score
    Entry("CBLOF", "axonad.baselines.cblof:CBLOF", "far from large clusters", "series"),
    Entry("COPOD", "axonad.baselines.copod:COPOD", "values in their channels' tails", "series"),
    Entry("EIF", "axonad.baselines.eif:EIF", "isolated by few slanted random cuts", "series"),
    Entry("HBOS", "axonad.baselines.hbos:HBOS", "values in empty histogram bins", "series"),
    Entry("IForest", "axonad.baselines.iforest:IForest", "isolated by few random cuts", "series"),
    Entry("KMeansAD", "axonad.baselines.kmeans_ad:KMeansAD", "far from typical windows", "series"),
    Entry("KNN", "axonad.baselines.knn:KNN", "far from the nearest training rows", "series"),
    Entry("LOF", "axonad.baselines.lof:LOF", "thinner here than around neighbours", "series"),
    Entry("PCA", "axonad.baselines.pca:PCA", "far from the leading directions", "series"),
    Entry(
        "RobustPCA",
        "axonad.baselines.robust_pca:RobustPCA",
        "far from the low-rank part of the series",
        "series",
    ),
    # simple rivals
    Entry(
        "ControlChart",
        "axonad.baselines.control_chart:ControlChart",
        "smoothed rows outside the training covariance",
    ),
    Entry(
        "CrossChannelRidge",
        "axonad.baselines.ridge:CrossChannelRidge",
        "a channel that is not what the others predict",
    ),
    Entry(
        "RandomScore", "axonad.baselines.random_score:RandomScore", "nothing: the floor of chance"
    ),
    Entry(
        "WindowStatistics",
        "axonad.baselines.window_statistics:WindowStatistics",
        "windows whose statistics resemble no training window's",
    ),
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
        return detector.load_state(document, arrays)
    except AxonADError as error:
        raise ModelFileError(f"{path} cannot be used: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        reason = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{path} is damaged: {reason}") from None
