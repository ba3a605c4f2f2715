"""Early stopping, and which weights are kept."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.model.net import AxonNet
from axonad.train.checkpoint import BestWeights, Patience
from axonad.train.loop import validation_error
from tests.train.test_loop import NET, run


def test_without_validation_all_epochs_run():
    _, history, _ = run(validation=False, epochs=4)
    assert history.epochs == 4
    assert history.validation == []


def test_best_weights_are_restored_or_last_kept():
    """With a wild learning rate the last epoch is not the best; only restore_best goes back."""
    best, history, held_out = run(epochs=8, lr=0.1, patience=8, restore_best=True)
    assert history.kept_epoch == int(np.argmin(history.validation)) + 1
    assert validation_error(best, held_out, 64) == pytest.approx(min(history.validation), rel=1e-4)
    last, history, held_out = run(epochs=8, lr=0.1, patience=8, restore_best=False)
    assert history.kept_epoch == 8
    assert validation_error(last, held_out, 64) == pytest.approx(history.validation[-1], rel=1e-4)


def test_patience_wants_more_than_the_margin():
    patience = Patience(limit=3, margin=1e-4)
    ends = [patience.is_over(e) for e in (1.0, 0.5, 0.49995, 0.49992, 0.4999)]
    assert ends == [False, False, False, False, True]
    patience = Patience(limit=2, margin=1e-4)
    assert [patience.is_over(e) for e in (1.0, 0.5, 0.4, 0.6, 0.3, 0.3)] == [False] * 6


def test_training_stops_early():
    _, history, _ = run(epochs=50, lr=1e-9, patience=3)
    assert history.epochs == 4


def test_nan_never_becomes_the_best():
    net, best = AxonNet(NET), BestWeights()
    best.offer(net, float("nan"), 1)
    assert best.epoch == -1
    best.offer(net, 2.0, 2)
    assert best.epoch == 2
