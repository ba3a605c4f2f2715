"""The loop the networks share: what a recorded step may rely on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.errors import ConfigError
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


def test_an_epoch_of_few_windows_visits_and_judges_so_many():
    X = waves(1500)
    detector = make("AutoEncoder", epochs=2, batch_size=50, epoch_windows=200, verbose=False)
    seen = {"train": [], "judged": []}
    original = type(detector)._loss

    def spy(net, x, epoch):
        seen["train" if net.training else "judged"].append(x.clone())
        return original(detector, net, x, epoch)

    detector._loss = spy
    detector.fit(X)
    assert sum(map(len, seen["train"])) == 2 * 200
    assert sum(map(len, seen["judged"])) == 2 * 200
    first, second = torch.cat(seen["train"][:4]), torch.cat(seen["train"][4:])
    assert not torch.equal(first, second), "drawn anew"
    judged = torch.cat(seen["judged"][:4])
    assert torch.equal(judged, torch.cat(seen["judged"][4:])), "always the same"
    assert len(torch.unique(judged.flatten(1), dim=0)) == 200


def test_a_short_series_has_no_fewer_windows_for_it():
    X = waves(300)
    whole, capped = (
        make("AutoEncoder", epoch_windows=n).fit(X).decision_scores_ for n in (None, 10_000)
    )
    np.testing.assert_array_equal(whole, capped)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "all"])
def test_a_wrong_number_of_windows_is_refused(bad):
    with pytest.raises(ConfigError, match=rf"epoch_windows .*got {bad!r}"):
        make("AutoEncoder", epoch_windows=bad)


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted({*NAMES, *MORE} - {"OFA"}))
def test_a_card_trains_and_scores_as_the_processor_does(name):
    """Recorded steps and passes included: enough windows for several of each."""
    X = waves(6000)
    detector = make(name, device="cuda", epochs=2, batch_size=64).fit(X)
    found = detector.decision_function(X)
    detector.set_params(device="cpu")
    np.testing.assert_allclose(found, detector.decision_function(X), rtol=0.02, atol=0.02)
