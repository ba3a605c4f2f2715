"""VASP's loss."""

from __future__ import annotations

import torch

import axonad
from axonad.baselines._vae import kl
from tests.conftest import waves
from tests.quick import QUICK


def test_vasp_weighs_the_divergence():
    X, spread = waves(300), []
    for weight in (0.0, 50.0):
        params = QUICK["VASP"] | {"epochs": 10, "patience": 10, "lr": 1e-2, "kl_weight": weight}
        detector = axonad.make_detector("VASP", **params).fit(X)
        with torch.no_grad():
            x = torch.from_numpy(detector._scaler.apply(X))[:240].reshape(20, 12, 3)
            spread.append(kl(detector._net(x)[1]).mean().item())
    assert spread[1] < 0.1 * spread[0]
