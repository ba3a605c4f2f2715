"""Detectors and data that several tests of the baselines use."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import axonad
from axonad.baselines._neural import NeuralDetector
from axonad.baselines._vae import Gaussian
from tests.quick import QUICK

WINDOWED = ("KMeansAD", "PCA", "CBLOF", "IForest", "EIF", "COPOD", "HBOS", "KNN", "LOF")
FORECASTERS = ("CNN", "LSTMAD", "GDN", "TFTResidual")
LAST_ROW = ("TranAD", "Donut", "FITS", "M2N2", "TimesNet", "AnomalyTransformer", "OFA")
VARIATIONAL = ("VASP", "WVAE", "SISVAE", "MAVAE", "VSVAE")
NEURAL = (*FORECASTERS, *LAST_ROW, *VARIATIONAL, "AutoEncoder", "USAD", "OmniAnomaly")


def make_quick(name: str, **changes: Any) -> NeuralDetector:
    """Return a neural baseline that is quick to fit."""
    detector = axonad.make_detector(name, **{**QUICK[name], **changes})
    assert isinstance(detector, NeuralDetector)
    return detector


def fit_and_score(name, X, Y=None, **params):
    return axonad.make_detector(name, **params).fit(X).decision_function(X if Y is None else Y)


def noise(rows=120, channels=4, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, channels)) ** 3


def gaussian(*shape: int, seed: int = 0) -> Gaussian:
    generator = torch.Generator().manual_seed(seed)
    mean, raw = (torch.randn(*shape, generator=generator) for _ in range(2))
    return Gaussian(mean, raw.exp())
