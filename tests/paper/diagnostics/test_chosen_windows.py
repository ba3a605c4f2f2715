from __future__ import annotations

import numpy as np

from axonad.paper.diagnostics.chosen_windows import ENOUGH, choose_windows

T = 10


def make_labels(rows, *ranges):
    labels = np.zeros(rows, dtype=np.int8)
    for first, last in ranges:
        labels[first:last] = 1
    return labels


def test_windows_of_a_short_series_are_all_chosen_and_divided_by_their_last_step():
    labels = make_labels(200, (150, 160))
    chosen = choose_windows(labels, window=T, train_steps=100, seed=0)
    assert chosen.starts.tolist() == list(range(191))
    for start in range(191):
        assert chosen.training[start] == (start + T - 1 < 100)
        assert chosen.anomalous[start] == labels[start : start + T].any()
    assert chosen.reference.sum() == 91


def test_a_sample_is_half_training_a_quarter_anomalous_and_a_quarter_normal():
    labels = make_labels(4000, (3000, 3500))
    chosen = choose_windows(labels, window=T, train_steps=1500, seed=0, most=400)
    assert (np.diff(chosen.starts) > 0).all()
    assert (chosen.training & ~chosen.anomalous).sum() == 200
    assert (~chosen.training & chosen.anomalous).sum() == 100
    assert (~chosen.training & ~chosen.anomalous).sum() == 100
    again = choose_windows(labels, window=T, train_steps=1500, seed=1, most=400)
    assert chosen.starts.tolist() != again.starts.tolist()


def test_a_sample_without_enough_normal_test_windows_is_filled_up():
    labels = make_labels(2000, (520, 2000))
    chosen = choose_windows(labels, window=T, train_steps=500, seed=0, most=800)
    assert chosen.starts.size == np.unique(chosen.starts).size == 800
    few = (~chosen.training & ~chosen.anomalous).sum()
    assert few == 520 - T + 1 - (500 - T + 1), "all there are"
    assert (chosen.training & ~chosen.anomalous).sum() >= 400
    assert (~chosen.training & chosen.anomalous).sum() > 200, "of the windows that fill it up"


def test_the_reference_without_enough_normal_windows_is_the_whole_training_part():
    labels = make_labels(400, (20, 200), (300, 310))
    chosen = choose_windows(labels, window=T, train_steps=200, seed=0)
    assert (chosen.training & ~chosen.anomalous).sum() < ENOUGH
    assert chosen.reference.tolist() == chosen.training.tolist()


def test_predictors_learn_from_the_reference_or_a_sample_of_it(monkeypatch):
    chosen = choose_windows(make_labels(400, (300, 310)), window=T, train_steps=200, seed=0)
    assert chosen.learned(0).tolist() == np.flatnonzero(chosen.reference).tolist()
    monkeypatch.setattr("axonad.paper.diagnostics.chosen_windows.LEARNED", 30)
    some = chosen.learned(0)
    assert some.size == np.unique(some).size == 30
    assert chosen.reference[some].all()
