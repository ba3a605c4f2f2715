"""fit_many: as many fits, and as independent of each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import axonad
from axonad import AxonAD, Series, fit_many
from axonad import joint_fit as fleet
from axonad.errors import ConfigError, DivergedError, FleetError, InputError, NotFittedError
from axonad.fast.gpu import training as stacks
from axonad.paper.variants import AxonADVariant
from tests.conftest import waves


def make(small, count=3, **changes):
    return [AxonAD(**{**small, "seed": seed, **changes}) for seed in range(count)]


def test_every_detector_ends_as_after_its_own_fit(small, tmp_path):
    names = ["speed", "yaw_rate", "torque"]
    data = [
        waves(500, seed=1),
        pd.DataFrame(waves(400, seed=2), columns=names),
        Series(values=waves(300, seed=3), channels=tuple(names)),
    ]
    detectors = make(small, epochs=6)
    assert fit_many(detectors, data) == detectors
    Y = waves(200, seed=9)
    Y[100:120, 1] = 0
    for place, (detector, twin, X) in enumerate(
        zip(detectors, make(small, epochs=6), data, strict=True)
    ):
        twin.fit(X)
        assert detector.fingerprint != twin.fingerprint, "it was trained in the stack"
        assert set(vars(detector)) == set(vars(twin))
        assert detector.channel_names == (None if place == 0 else tuple(names))
        assert detector.training_.epochs == twin.training_.epochs
        np.testing.assert_allclose(
            detector.training_.validation, twin.training_.validation, rtol=0.1
        )
        rows = len(detector.decision_scores_)
        assert rows == len(twin.decision_scores_)
        end = detector.decision_function(X)
        np.testing.assert_allclose(detector.decision_scores_, end, rtol=1e-5, atol=1e-6)
        assert detector.predict(X).sum() <= rows * 0.01
        correlation = np.corrcoef(detector.decision_function(Y), twin.decision_function(Y))[0, 1]
        assert correlation > 0.95
        detector.save(tmp_path / str(place))
        assert axonad.load(tmp_path / str(place)).fingerprint == detector.fingerprint


def test_paper_mode_too(small):
    detectors = [AxonAD.paper(**small, seed=seed) for seed in range(2)]
    fit_many(detectors, [waves(300), waves(300, seed=1)])
    twin = AxonAD.paper(**small, seed=0).fit(waves(300))
    assert detectors[0].training_.validation == pytest.approx(twin.training_.validation, rel=0.1)
    assert len(detectors[0].decision_scores_) == 300


def test_kinds_are_told_apart_and_single_ones_fitted_plainly(small, monkeypatch):
    sizes = []
    original = fleet.train_stack

    def spy(members, config, progress):
        sizes.append(sorted(len(m.series.rows) for m in members))
        return original(members, config, progress)

    monkeypatch.setattr(fleet, "train_stack", spy)
    detectors = make(small, 6)
    detectors[1].set_params(heads=4)
    detectors[2].set_params(lr=1e-4)
    detectors[4].set_params(lr=1e-4, align="end", contamination=1e-3)
    data = [waves(300), waves(300), waves(300), waves(200), waves(250), waves(300, channels=2)]
    fit_many(detectors, data)
    assert sorted(sizes) == [[160, 240], [200, 240]]
    for place in (1, 5):  # the only ones with four heads, and with two channels
        params = detectors[place].get_params()
        assert AxonAD(**params).fit(data[place]).fingerprint == detectors[place].fingerprint


def test_large_networks_on_a_cpu_are_fitted_one_by_one(small, monkeypatch):
    monkeypatch.setattr(stacks, "CPU_FLOATS", 1)
    detectors = make(small, 2)
    fit_many(detectors, [waves(200), waves(200)])
    twins = [twin.fit(waves(200)) for twin in make(small, 2)]
    assert [d.fingerprint for d in detectors] == [t.fingerprint for t in twins]


def test_stacks_are_even(small, monkeypatch):
    monkeypatch.setattr(fleet, "models_at_once", lambda net, batch_size, device: 4)
    jobs = [
        fleet._Job(i, d, None, d.training_data(waves(100)), torch.device("cpu"))
        for i, d in enumerate(make(small, 9))
    ]
    assert [len(stack) for stack in fleet._stacks(jobs)] == [3, 3, 3]


def test_order_and_company_do_not_matter(small):
    data = [waves(300, seed=seed) for seed in range(3)]
    first, turned, fewer = make(small), make(small), make(small)[:2]
    fit_many(first, data)
    fit_many(turned[::-1], data[::-1])
    fit_many(fewer, data[:2])
    for one, two in [*zip(first, turned, strict=True), *zip(first, fewer, strict=False)]:
        np.testing.assert_allclose(
            one.decision_function(data[0]), two.decision_function(data[0]), rtol=0.02, atol=0.02
        )
    again = make(small)
    fit_many(again, data)
    assert [d.fingerprint for d in again] == [d.fingerprint for d in first]


def test_bad_series_stop_nobody_else(small):
    data = [waves(300), waves(300), waves(10), waves(300, seed=4)]
    data[1][7, 2] = np.nan
    data[3][:] = 1e300 * np.sign(data[3])
    detectors = [*make(small, 4), AxonAD(**small)]
    detectors[1].fit(waves(200))
    before = detectors[1].fingerprint
    with pytest.raises(FleetError) as caught:
        fit_many(detectors, [*data, waves(200)])
    assert str(caught.value).splitlines()[:2] == [
        "3 of 5 detectors could not be fitted, the others are:",
        "detector 1: X has 1 NaN or infinite value in training data, first at row 7, channel 2; "
        "drop those rows or fill them (--fill)",
    ]
    assert {place: type(e) for place, e in caught.value.errors.items()} == dict.fromkeys(
        (1, 2, 3), InputError
    )
    assert detectors[1].fingerprint == before
    assert detectors[1].channel_names is None
    for place in (0, 4):
        assert len(detectors[place].decision_function(waves(50))) == 50
    for place in (2, 3):
        with pytest.raises(NotFittedError):
            detectors[place].decision_function(waves(50))


def test_trainings_that_diverge_stop_nobody_else(small):
    detectors = [*make(small, 2, lr=1e30, scaling="train"), *make(small, 2)]
    with pytest.raises(FleetError, match="2 of 4 detectors") as caught:
        fit_many(detectors, [waves(300) for _ in detectors])
    assert {place: type(e) for place, e in caught.value.errors.items()} == dict.fromkeys(
        (0, 1), DivergedError
    )
    assert not hasattr(detectors[0], "threshold_")
    assert "_trained" not in vars(detectors[0])
    assert detectors[3].threshold_ > 0


def test_many_failures_are_counted_not_listed(small):
    with pytest.raises(FleetError, match=r"detector 4: .*\nand 2 more$") as caught:
        fit_many(make(small, 7), [waves(5)] * 7)
    assert len(caught.value.errors) == 7


def test_an_interrupt_keeps_what_was_fitted(small, monkeypatch):
    """The short series is done after two epochs of two steps; then someone presses Ctrl-C."""

    class Impatient(fleet.Progress):
        steps = 0

        def advance(self, count=1):
            self.steps += 1
            if self.steps > 8:
                raise KeyboardInterrupt

    monkeypatch.setattr(fleet, "Progress", Impatient)
    short, long = make(small, 2, verbose=True)
    long.fit(waves(120))
    before = long.fingerprint
    with pytest.raises(KeyboardInterrupt):
        fit_many([long, short], [waves(900), waves(120)])
    assert short.training_.epochs == 2
    assert long.fingerprint == before
    assert short.verbose
    assert long.verbose


@pytest.mark.parametrize(
    ("detectors", "count", "message"),
    [
        ([AxonAD(), AxonAD()], 1, "one series per detector, got 2 detectors and 1 series"),
        ([AxonAD(), axonad.make_detector("LOF")], 2, "detector 1 must be an AxonAD, got LOF"),
        ([AxonAD()] * 2, 2, "detectors 0 and 1 are the same object; make one"),
    ],
)
def test_what_cannot_be_fitted_together(detectors, count, message):
    with pytest.raises(InputError, match=message):
        fit_many(detectors, [waves(200)] * count)


def test_parameters_are_checked_again(small):
    detectors = make(small, 3)
    detectors[1].heads = 3
    with pytest.raises(FleetError, match=r"detector 1: heads \(3\) must divide") as caught:
        fit_many(detectors, [waves(100)] * 3)
    assert isinstance(caught.value.errors[1], ConfigError)


def test_nothing_to_fit():
    assert fit_many([], []) == []


def test_global_random_state_is_untouched(small):
    torch.manual_seed(11)
    expected = torch.rand(2)
    torch.manual_seed(11)
    fit_many(make(small, 2), [waves(100)] * 2)
    assert torch.equal(torch.rand(2), expected)


def test_who_would_learn_the_same_is_trained_once(small, monkeypatch):
    trained = []
    original = AxonAD.train

    def spy(self, *data, **options):
        trained.append(self.tail)
        return original(self, *data, **options)

    monkeypatch.setattr(AxonAD, "train", spy)
    X, few = waves(300), {**small, "epochs": 2}
    detectors = [
        AxonAD(**{**few, "tail": 4}),
        AxonAD(**{**few, "tail": 2, "align": "end"}),
        AxonADVariant(**few, scores=("d_rec",)),
    ]
    fit_many(detectors, [X, X.copy(), X])
    assert trained == [4]
    for detector in detectors:
        alone = type(detector)(**detector.get_params()).fit(X)
        assert detector.fingerprint == alone.fingerprint
        np.testing.assert_array_equal(detector.decision_scores_, alone.decision_scores_)
    nets = [detector.net_ for detector in detectors]
    assert len({id(net) for net in nets}) == 3, "each has a network of its own"
    assert [net.config.tail for net in nets] == [4, 2, small["tail"]]


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"scaling": "train"}, {"validation": 0.3}, {"ema": 0.5}, {"epochs": 1}]
)
def test_who_learns_otherwise_is_trained_otherwise(small, change):
    X = waves(300)
    detectors = [AxonAD(**small), AxonAD(**{**small, **change})]
    fit_many(detectors, [X, X])
    assert detectors[0].fingerprint != detectors[1].fingerprint


def test_another_series_is_another_lesson(small):
    X = waves(300)
    Y = X.copy()
    Y[150, 1] += 0.5
    detectors = [AxonAD(**small), AxonAD(**small)]
    fit_many(detectors, [X, Y])
    assert detectors[0].fingerprint != detectors[1].fingerprint


def test_twins_in_a_stack_share_its_weights_and_its_failure(small):
    X, other = waves(300), waves(300, seed=1)
    detectors = [AxonAD(**small), AxonAD(**small), AxonAD(**{**small, "tail": 2})]
    fit_many(detectors, [X, other, X])
    first, twin = (dict(detectors[i].net_.state_dict()) for i in (0, 2))
    assert all(torch.equal(first[name], twin[name]) for name in first)
    assert detectors[0].training_ == detectors[2].training_
    assert detectors[0].training_ is not detectors[2].training_
    broken = [AxonAD(**small, lr=1e30), AxonAD(**{**small, "tail": 2}, lr=1e30), AxonAD(**small)]
    with pytest.raises(FleetError) as caught:
        fit_many(broken, [X, X, other])
    assert set(caught.value.errors) == {0, 1}
    assert broken[2].threshold_ > 0


def test_a_twin_keeps_its_own_names_and_its_own_way_of_training(small):
    class Other(AxonAD):
        def prepare(self, X, names, device, recordings):
            return super().prepare(X**3, names, device, recordings)

    X = waves(300)
    detectors = [AxonAD(**small), Other(**small)]
    fit_many(detectors, [X, X])
    first, second = (detector.net_.state_dict() for detector in detectors)
    assert any(not torch.equal(first[name], second[name]) for name in first)
    wild = X.copy()
    wild[5, 1] = 1e300
    frames = [pd.DataFrame(wild, columns=list(names)) for names in ("abc", "xyz")]
    with pytest.raises(FleetError, match="2 of 2 detectors could not be fitted:") as caught:
        fit_many([AxonAD(**small), AxonAD(**small)], frames)
    assert "'b'" in str(caught.value.errors[0])
    assert "'y'" in str(caught.value.errors[1])


@pytest.mark.parametrize(
    ("detectors", "series", "message"),
    [
        (
            AxonAD(),
            [waves(300)],
            "detectors must be a list with one .*, got AxonAD",
        ),
        ([AxonAD()], None, "series must be a list with one entry per detector, got NoneType"),
        ([AxonAD()], waves(300), "series must be a list .*, got ndarray; put a single one"),
        ([AxonAD()], pd.DataFrame(waves(300)), "series must be a list .*, got DataFrame"),
        ([AxonAD], [waves(300)], r"got the class AxonAD; make one with AxonAD\(\)"),
    ],
)
def test_what_is_no_list_is_refused(detectors, series, message):
    with pytest.raises(InputError, match=message):
        fit_many(detectors, series)


def test_a_bar_is_shown_if_a_twin_wants_one(small, monkeypatch):
    shown = []
    original = axonad.axon.Progress

    def spy(title, total, *, show):
        shown.append(show)
        return original(title, total, show=False)

    monkeypatch.setattr(axonad.axon, "Progress", spy)
    quiet, loud = AxonAD(**small), AxonAD(**{**small, "verbose": True, "tail": 2})
    X = waves(300)
    fit_many([quiet, loud], [X, X])
    assert shown[0] is True
    assert (quiet.verbose, loud.verbose) == (False, True)
