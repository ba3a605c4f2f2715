from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
import torch

import axonad
from axonad import make_detector
from tests.conftest import waves


@contextmanager
def enable_doubles():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("switch", [torch.no_grad, torch.inference_mode, enable_doubles])
@pytest.mark.parametrize("name", ["AxonAD", "USAD"])
def test_what_the_caller_switched_in_torch_changes_nothing(small, tmp_path, switch, name):
    few = small if name == "AxonAD" else {"window": 16, "epochs": 1, "verbose": False}
    X = waves(300)
    plain = make_detector(name, **few).fit(X)
    with switch():
        detector = make_detector(name, **few).fit(X)
        detector.save(tmp_path / "model")
        scores = axonad.load(tmp_path / "model").decision_function(X)
    assert detector.fingerprint == plain.fingerprint
    np.testing.assert_allclose(scores, plain.decision_function(X), rtol=1e-5, atol=1e-6)
