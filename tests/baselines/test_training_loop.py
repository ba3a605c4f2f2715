"""The training loop of the neural baselines: batches and windows per epoch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from axonad.baselines import _training_loop
from axonad.errors import ConfigError
from tests.baselines.detectors import make_quick
from tests.conftest import waves


@given(count=st.integers(1, 60), size=st.integers(1, 20))
def test_no_batch_holds_a_single_window(count, size):
    parts = list(_training_loop.batches(torch.arange(count), size))
    assert min(len(part) for part in parts) >= 2
    assert max(len(part) for part in parts) <= max(size, 2) + 1
    assert torch.cat(parts).tolist() == (list(range(count)) if count > 1 else [0, 0])


def test_an_epoch_of_few_windows_visits_and_judges_so_many():
    X = waves(1500)
    detector = make_quick("AutoEncoder", epochs=2, batch_size=50, epoch_windows=200, verbose=False)
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
        make_quick("AutoEncoder", epoch_windows=n).fit(X).decision_scores_ for n in (None, 10_000)
    )
    np.testing.assert_array_equal(whole, capped)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "all"])
def test_a_wrong_number_of_windows_is_refused(bad):
    with pytest.raises(ConfigError, match=rf"epoch_windows .*got {bad!r}"):
        make_quick("AutoEncoder", epoch_windows=bad)
