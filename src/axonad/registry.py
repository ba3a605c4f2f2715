"""Detectors by name: a table of strings, so that listing them imports none of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from axonad import modelfile
from axonad.config import build
from axonad.detector import Detector
from axonad.errors import (
    AxonADError,
    MissingDependencyError,
    ModelFileError,
    UnknownNameError,
    suggest,
)
from axonad.extras import need
from axonad.saving import FILES, FORMAT, KIND

LONGEST_NAME = 100  # characters; longer ones are not compared with the known names


class Entry(NamedTuple):
    """One registered detector: its name, ``module:class``, and what its score measures."""

    name: str
    path: str
    summary: str
    learns_from: str = "prefix"
    """What TSB-AD fits it on: the clean training ``"prefix"``, or the ``"series"`` it scores."""


def _baseline(path: str, summary: str, learns_from: str = "prefix") -> Entry:
    """Return the entry of ``module:class`` in ``axonad.baselines``."""
    return Entry(path.partition(":")[2], f"axonad.baselines.{path}", summary, learns_from)


REGISTRY: tuple[Entry, ...] = (
    Entry(
        "MultiView",
        "axonad.multiview.detector:MultiView",
        "several views of a series, weighed by a self-test",
    ),
    Entry("AxonAD", "axonad.axon:AxonAD", "errors of reconstruction and of predicted queries"),
    Entry(
        "AxonADVariant",
        "axonad.paper.variants:AxonADVariant",
        "AxonAD with the paper's ablations: other targets, losses and score terms",
    ),
    # Views: each sees one aspect of a series.
    Entry("Forecast", "axonad.views.forecast:Forecast", "error of a linear forecast of each row"),
    Entry(
        "Relation",
        "axonad.views.relation:Relation",
        "error of each channel predicted from the others, now and before",
    ),
    Entry("Network", "axonad.views.network:Network", "reconstruction error of the worst channel"),
    Entry("ShapeMemory", "axonad.views.shape:ShapeMemory", "distance to the nearest known shape"),
    # Networks.
    _baseline(
        "anomaly_transformer:AnomalyTransformer", "error weighted by association discrepancy"
    ),
    _baseline("auto_encoder:AutoEncoder", "reconstruction error of an autoencoder of rows"),
    _baseline("cnn:CNN", "forecast error of a convolutional network"),
    _baseline("donut:Donut", "negative log-likelihood under a VAE of windows"),
    _baseline("fits:FITS", "error of interpolation in the frequency domain"),
    _baseline("gdn:GDN", "forecast error of a graph network of channels"),
    _baseline("lstm_ad:LSTMAD", "forecast error of an LSTM"),
    _baseline("m2n2:M2N2", "reconstruction error of an autoencoder that adapts while scoring"),
    _baseline("mavae:MAVAE", "negative log-likelihood under a recurrent VAE with attention"),
    _baseline("ofa:OFA", "reconstruction error of a pretrained GPT-2"),
    _baseline("omni_anomaly:OmniAnomaly", "reconstruction error of a recurrent VAE"),
    _baseline("sisvae:SISVAE", "negative log-likelihood under a smooth sequential VAE"),
    _baseline("tft_residual:TFTResidual", "forecast error of a Temporal Fusion Transformer"),
    _baseline("times_net:TimesNet", "reconstruction error of windows folded by their periods"),
    _baseline("tran_ad:TranAD", "two-phase reconstruction error of a transformer"),
    _baseline("usad:USAD", "reconstruction error of two coupled autoencoders"),
    _baseline("vasp:VASP", "reconstruction error of a recurrent VAE with a narrow bottleneck"),
    _baseline("vsvae:VSVAE", "negative log-likelihood under a VAE with variational attention"),
    _baseline("wvae:WVAE", "negative log-likelihood under a denoising recurrent VAE"),
    # Classical detectors, which TSB-AD fits on the series they score.
    _baseline("cblof:CBLOF", "distance to the nearest large cluster", "series"),
    _baseline("copod:COPOD", "tail probabilities of each channel", "series"),
    _baseline("eif:EIF", "few random oblique cuts isolate the row", "series"),
    _baseline("hbos:HBOS", "histogram density of each channel", "series"),
    _baseline("iforest:IForest", "few random axis-parallel cuts isolate the row", "series"),
    _baseline("kmeans_ad:KMeansAD", "distance to the nearest cluster of windows", "series"),
    _baseline("knn:KNN", "distance to the nearest training rows", "series"),
    _baseline("lof:LOF", "local density relative to that of the neighbours", "series"),
    _baseline("pca:PCA", "distance from the leading principal directions", "series"),
    _baseline("robust_pca:RobustPCA", "distance from the low-rank part of the series", "series"),
    # Simple detectors for comparison.
    _baseline("control_chart:ControlChart", "Mahalanobis distance of smoothed rows"),
    _baseline("ridge:CrossChannelRidge", "error of each channel predicted from the others"),
    _baseline("random_score:RandomScore", "random numbers: the chance level"),
    _baseline("window_statistics:WindowStatistics", "distance between statistics of windows"),
)


def list_detectors() -> tuple[Entry, ...]:
    """Return every registered detector: name, module and class, summary."""
    return REGISTRY


def detector_class(name: str) -> type[Detector]:
    """Return the class registered under ``name``."""
    for entry in REGISTRY:
        if entry.name == name:
            module, cls = entry.path.split(":")
            found: type[Detector] = getattr(need(module, what=f"{name} needs"), cls)
            return found
    known = [entry.name for entry in REGISTRY]
    hint = suggest(name, known) or f"; known: {', '.join(known)}"
    raise UnknownNameError(f"no detector {name!r}{hint}")


def make_detector(name: str, **params: Any) -> Detector:
    """Return an unfitted detector by name, with the given parameters."""
    return build(detector_class(name), params)


def load(folder: str | os.PathLike[str]) -> Detector:
    """Return the fitted detector saved in ``folder``; no code from the folder is executed."""
    document, arrays = modelfile.read(Path(folder), names=FILES, kind=KIND, newest=FORMAT)
    path = Path(folder) / FILES[0]
    modelfile.warn_without_checksum(path, document)
    try:
        params = modelfile.check_entries("params", document["params"])
        for name in (document["detector"], *params):
            if not isinstance(name, str) or len(name) > LONGEST_NAME:
                raise ValueError(f"no detector and no parameter is named {name!r:.40}")
        detector = build(detector_class(document["detector"]), params)
        return detector.load_state(document, arrays)
    except MissingDependencyError:
        raise
    except AxonADError as error:
        raise ModelFileError(f"{modelfile.shown(path)} cannot be used: {error!s:.300}") from None
    except modelfile.MISFITS as error:
        raise modelfile.damaged(path, error) from None
