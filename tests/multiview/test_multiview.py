"""MultiView against its views, one by one."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from axonad import Fleet, MultiView, load
from axonad.data.telemetry import generate_telemetry
from axonad.errors import ConfigError, InputError
from axonad.multiview import detector
from axonad.multiview.live import ManyWindows
from axonad.registry import make_detector
from axonad.score.level import Level
from axonad.selftest.ranking import Scorer, rank_faults
from axonad.views.view import LastFold, View
from tests.conftest import waves

SIZES = {"window": 16, "d_model": 16, "heads": 2, "epochs": 2, "device": "cpu", "verbose": False}
LIGHT = ("shape", "forecast", "relation")
CLASSES = {"shape": "ShapeMemory", "forecast": "Forecast", "relation": "Relation"}


def noisy(rows, seed):
    rng = np.random.default_rng(seed)
    return waves(rows, seed=seed) + 0.2 * rng.normal(size=(rows, 3))


@pytest.fixture(scope="module")
def fitted():
    return MultiView(**SIZES).fit(noisy(700, 0))


@pytest.mark.parametrize("align", ["center", "end"])
def test_the_score_is_the_weighted_sum_of_views_fitted_alone(align):
    X, Y = noisy(700, 0), noisy(300, 1)
    multi = MultiView(views=LIGHT, align=align).fit(X)
    expected = np.zeros(300)
    for name, cls in CLASSES.items():
        alone = make_detector(cls, align=align).fit(X)
        scores = alone.decision_function(Y)
        if name != "shape":
            scores = Level.fit(alone.decision_scores_).apply(scores)
        expected += multi.weights_[name] * scores
    np.testing.assert_allclose(multi.decision_function(Y), expected, rtol=1e-12, atol=1e-12)


def test_components_are_what_each_view_adds(fitted):
    found = fitted.explain(noisy(300, 1))
    assert list(found.components) == ["shape", "forecast", "relation", "network"]
    np.testing.assert_allclose(sum(found.components.values()), found.scores)


def test_a_faulty_channel_is_blamed(fitted):
    X = noisy(400, 1)
    X[200:230, 2] = 4 + np.random.default_rng(2).normal(size=30)
    found = fitted.explain(X)
    assert found.blame.shape == X.shape
    assert np.argmax(found.blame[215]) == 2
    np.testing.assert_allclose(found.blame.sum(axis=1), found.scores, atol=1e-9)


def test_align_may_change_after_the_fit_and_views_follow(fitted):
    X = noisy(300, 1)
    fitted.align = "end"
    ends = fitted.decision_function(X)
    np.testing.assert_allclose(ends[fitted.history - 1 :], fitted.score_ends(X)[0], rtol=1e-9)
    fitted.align = "center"
    assert not np.allclose(fitted.decision_function(X), ends)


def test_many_streams_score_like_each_alone(fitted):
    streams = {f"car {i}": noisy(fitted.history + 20 + i, 5 + i) for i in range(3)}
    fleet = Fleet(fitted)
    found = {name: [] for name in streams}
    for step in range(max(map(len, streams.values()))):
        rows = {name: X[step] for name, X in streams.items() if step < len(X)}
        for name, given in fleet.push(rows).items():
            found[name] += [score for score in given.scores.tolist() if not np.isnan(score)]
    for name, X in streams.items():
        np.testing.assert_allclose(found[name], fitted.score_ends(X)[0], rtol=1e-5, atol=1e-5)


def test_live_windows_are_kept_while_they_are_valid(fitted):
    live = fitted.live_windows()
    assert isinstance(live, ManyWindows)
    assert fitted.live_windows(live) is live
    other = MultiView(**SIZES).fit(noisy(700, 3))
    assert other.live_windows(live) is not live


def test_the_network_may_be_left_out_and_torch_with_it():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, axonad\n"
        "X = np.sin(np.arange(600)[:, None] / 7 + np.arange(2))\n"
        "X = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)\n"
        "multi = axonad.MultiView(views=('shape', 'forecast', 'relation')).fit(X)\n"
        "multi.explain(X)\n"
        "session = axonad.Session(multi)\n"
        "print(np.isfinite([session.push(row).scores[0] for row in X]).sum() > 100)\n"
    )
    done = subprocess.run(  # noqa: S603 - the code is above
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "True", done.stderr


def test_repeating_shapes_are_told_from_others():
    """A self-test finds that the shape memory sees faults in beats, and is blind on a drive."""
    rng = np.random.default_rng(0)
    beat = np.exp(-(((np.arange(60) - 20) / 3.0) ** 2))
    beats = np.tile(beat, 60)[:, None] * np.array([1.0, -0.5]) + 0.02 * rng.normal(size=(3600, 2))
    assert MultiView(views=LIGHT).fit(beats).weights_["relation"] == 0
    drive = generate_telemetry(steps=6_000, seed=7).train
    assert MultiView(views=LIGHT).fit(drive).weights_["relation"] == 0.5


def test_a_series_too_short_for_a_self_test_is_fitted():
    detector = MultiView(**SIZES).fit(noisy(60, 0))
    assert detector.skills_ is None
    assert "there was no self-test" in str(detector.fit_report_)
    with pytest.raises(InputError, match="window must be at most the series length 30, got"):
        MultiView(**SIZES).fit(noisy(30, 0))


def test_a_loaded_model_knows_weights_and_skills(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    twin = load(tmp_path / "m")
    assert twin.weights_ == fitted.weights_
    assert twin.skills_ == fitted.skills_


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weights": {"shape": 1.0}}, "it has weights of"),
        ({"weights": {"shape": "much"}}, "weight is 'much'"),
        ({"views": {}}, "shape"),
        ({"views": None}, "views"),
    ],
)
def test_a_damaged_state_is_refused(fitted, changed, message):
    values, arrays = fitted._state()
    twin = MultiView(**SIZES)
    twin.n_features_in_ = 3
    with pytest.raises((KeyError, TypeError, ValueError), match=message):
        twin._restore(values | changed, arrays)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"views": ()}, "views must be a tuple with at least one name"),
        ({"views": ("shapes",)}, "did you mean 'shape'"),
        ({"views": ("shape", "shape")}, "name each view once"),
        ({"views": "shape"}, "views must be a tuple"),
        ({"align": "middle"}, "align must be"),
        ({"self_tested": 1}, "self_tested must be"),
        ({"epochs": 0}, "epochs must be"),
    ],
)
def test_bad_parameters_get_one_sentence(params, message):
    with pytest.raises(ConfigError, match=message):
        MultiView(**params).fit(noisy(300, 0))


def test_the_report_says_how_long_each_part_of_the_fit_took():
    detector = MultiView(views=("forecast", "relation")).fit(waves(600))
    report = detector.fit_report_
    assert set(report.seconds) == {
        "forecast", "relation", "self-test", "learning", "reference", "calibration",
    }  # fmt: skip
    assert all(seconds >= 0 for seconds in report.seconds.values())
    assert report.to_json()["seconds"].keys() == report.seconds.keys()


@dataclass(kw_only=True, eq=False, repr=False)
class Memoriser(View):
    """Remembers every training row; any other row is a fault to it."""

    align: str = "center"

    def _learn(self, X, names):
        self._known = {row.tobytes() for row in X}
        start = int(0.8 * len(X))
        without = {row.tobytes() for row in X[:start]}
        return self._score(X), LastFold(start, {"_known": without})

    def _score(self, X):
        return np.array([float(row.tobytes() not in self._known) for row in X])


def test_a_view_that_memorises_its_training_rows_has_no_skill(monkeypatch):
    """Its score of a planted fault is above that of every row it was fitted on, but of no other."""
    monkeypatch.setitem(detector.VIEWS, "relation", f"{__name__}:Memoriser")
    X = noisy(1500, 0)
    multi = MultiView(views=("forecast", "relation")).fit(X)
    assert set(multi.skills_["relation"].values()) == {0.5}
    assert min(multi.skills_["forecast"].values()) > 0.6
    scorer = Scorer(lambda rows: multi.views_["relation"].score_ends(rows)[0], 1)
    fitted = rank_faults({"relation": scorer}, X[1200:], repeats=1)
    assert min(fitted["relation"].values()) > 0.95


@pytest.mark.parametrize("recordings", [1, 4])
def test_no_view_is_tested_on_rows_it_has_learned_from(recordings):
    """In white noise a row says nothing of others: who knows the rows finds what is reversed."""
    X = np.random.default_rng(0).normal(size=(2000, 3))
    parts = np.split(X, recordings)
    multi = MultiView(views=LIGHT).fit(parts if recordings > 1 else X)
    for name in LIGHT:
        assert multi.skills_[name]["reversed"] < 0.7, name
        assert multi.skills_[name]["other_course"] < 0.7, name
    view = multi.views_["shape"]
    scorer = Scorer(lambda rows: view.score_ends(rows)[0], view.history)
    fitted = rank_faults(
        {"shape": scorer}, X[1500:], kinds=("reversed", "other_course"), durations=(40, 60)
    )
    assert min(fitted["shape"].values()) > 0.8
