"""The loop the networks share: what a recorded step may rely on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.baselines.test_neural import NAMES, make
from tests.baselines.test_neural_more import NAMES as MORE
from tests.conftest import waves

PARITY = {"USAD": {"tsb_ad": True}}


@pytest.mark.parametrize("name", sorted({*NAMES, *MORE} - {"OFA"}))  # which needs its weights
def test_epochs_of_one_stage_have_one_loss(name):
    """A recorded step is kept as long as the stage is: the loss may not change within it."""
    detector = make(name, **PARITY.get(name, {}))
    torch.manual_seed(0)
    net, x = detector._build(3).train(), torch.rand(4, detector.history, 3)

    def loss(epoch):
        torch.manual_seed(1)
        return float(detector._loss(net, x, epoch).detach())

    same = [(a, b) for a, b in ((1, 2), (2, 9), (30, 31), (40, 50)) if stage_equal(detector, a, b)]
    for first, second in same:
        assert loss(first) == pytest.approx(loss(second), rel=1e-6), (first, second)


def stage_equal(detector, first, second):
    return detector._stage(first) == detector._stage(second)


@pytest.mark.parametrize("name", ["WVAE", "VSVAE", "TranAD", "USAD"])
def test_a_loss_that_changes_with_the_epoch_says_so(name):
    detector = make(name, **PARITY.get(name, {}))
    assert not stage_equal(detector, 1, 2)


def test_a_loss_that_rises_late_says_so():
    detector = make("MAVAE")
    assert stage_equal(detector, 1, 20)
    assert not stage_equal(detector, 30, 31)


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted({*NAMES, *MORE} - {"OFA"}))
def test_a_card_trains_and_scores_as_the_processor_does(name):
    """Recorded steps and passes included: enough windows for several of each."""
    X = waves(6000)
    detector = make(name, device="cuda", epochs=2, batch_size=64).fit(X)
    found = detector.decision_function(X)
    detector.set_params(device="cpu")
    np.testing.assert_allclose(found, detector.decision_function(X), rtol=0.02, atol=0.02)
