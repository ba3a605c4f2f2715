"""Context channels of detectors: an input that is never judged, the same everywhere."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import axonad
from axonad import AxonAD, Fleet, Session, fit_many, make_detector
from axonad.alarms.recalibrate import recalibrate
from axonad.data.series import Series
from axonad.errors import ChannelError, ConfigError, DataWarning, InputError
from axonad.joint_scoring import score_tails
from axonad.stream.chunks import check_chunks, score_chunks
from tests.conftest import SMALL, waves
from tests.stream.conftest import assert_close

NAMES = ("speed", "ambient", "torque")
SMALL_VIEWS = {"views": ("shape", "forecast", "relation"), "self_tested": False}

OF_NETWORK = {name: value for name, value in SMALL.items() if name not in ("tail", "batch_size")}


def drive(rows=300, seed=0, start=18.0, stop=24.0):
    """Channels that move together, and an ambient temperature that shifts one of them."""
    values = waves(rows, seed=seed)
    values[:, 1] = np.linspace(start, stop, rows)
    values[:, 2] += 0.3 * (np.clip(values[:, 1], 18, 24) - 18)
    return values


def series(*args, **kwargs):
    return Series(values=drive(*args, **kwargs), channels=NAMES, name="drive.csv")


def fitted(name="Relation", **params):
    return make_detector(name, **params, context=("ambient",)).fit(series())


@pytest.fixture(scope="module")
def relation():
    return fitted(lags=2, smooth=5, align="end")


def test_winter_without_context_is_an_alarm_and_with_it_a_note(relation):
    winter = series(seed=1, start=-5, stop=2)
    plain = make_detector("Relation", lags=2, smooth=5, align="end").fit(series())
    assert plain.predict(winter).mean() > 0.9
    note = (
        r"^drive.csv: ambient is -5 to 2 here, training saw 18 to 24: new context, other .* at 18$"
    )
    with pytest.warns(DataWarning, match=note):
        assert relation.predict(winter).mean() < 0.1
    (new,) = relation.new_context(winter)
    assert (new.channel, new.low, new.high, new.judged_at) == ("ambient", -5.0, 2.0, (18.0,))
    assert relation.new_context(series(seed=2)) == ()


@pytest.mark.parametrize("name", ["Relation", "CrossChannelRidge"])
def test_context_conditions_the_others(name):
    """A torque that fits 24 degrees is wrong at 18; a detector without conditioning cannot know."""
    detector = fitted(name, smooth=5)
    cold = drive(seed=1, start=18, stop=18)
    wrong = cold.copy()
    wrong[:, 2] = drive(seed=1, start=24, stop=24)[:, 2]
    right, off = (detector.decision_function(X)[20:-20] for X in (cold, wrong))
    assert off.mean() > 2 * right.mean()
    found = detector.explain(wrong)
    assert found.blame is not None
    assert np.isneginf(found.blame[:, 1]).all()
    assert "ambient" not in {c for event in detector.events(wrong, top=3) for c in event.channels}


def test_expected_value_of_the_context_is_its_own(relation):
    X = drive(seed=1)
    expected = relation.expected(X)
    np.testing.assert_allclose(expected.value[5:, 1], X[5:, 1], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "params"),
    [("AxonAD", SMALL), ("Network", OF_NETWORK), ("MultiView", SMALL_VIEWS)],
)
def test_its_own_error_does_not_count(name, params):
    """Inside the training range, a context that jumps about is not an error of the context."""
    detector = fitted(name, **params)
    found = detector.explain(drive(160, seed=1))
    assert found.blame is not None
    assert np.isneginf(found.blame[:, 1]).all()
    if name == "AxonAD":
        whole = AxonAD(**params).fit(series()).window_terms(drive(160, seed=1)).terms["d_rec"]
        assert (detector.window_terms(drive(160, seed=1)).terms["d_rec"] < whole).all()


def test_without_context_nothing_is_saved_about_it(tmp_path, relation):
    make_detector("PCA").fit(series()).save(tmp_path / "plain")
    document = json.loads((tmp_path / "plain" / "detector.json").read_text())
    assert "context" not in document
    assert "context" not in document["params"]
    relation.save(tmp_path / "model")
    document = json.loads((tmp_path / "model" / "detector.json").read_text())
    assert document["context"]["columns"] == [1]
    assert document["context"]["low"] == [18.0]
    assert document["context"]["high"] == [24.0]
    assert axonad.load(tmp_path / "model").fingerprint == relation.fingerprint


def test_saved_views_keep_their_context(tmp_path):
    detector = fitted("MultiView", **SMALL_VIEWS)
    detector.save(tmp_path / "model")
    far = drive(160, seed=1, start=90, stop=95)
    with pytest.warns(DataWarning, match="new context"):
        expected = detector.decision_function(far)
    with pytest.warns(DataWarning, match="new context"):
        found = axonad.load(tmp_path / "model").decision_function(far)
    np.testing.assert_array_equal(found, expected)


def test_a_saved_context_that_is_missing_is_refused(tmp_path, relation):
    relation.save(tmp_path / "model")
    path = tmp_path / "model" / "detector.json"
    document = json.loads(path.read_text())
    del document["context"], document["checksum"]
    path.write_text(json.dumps(document))
    with (
        warnings.catch_warnings(),
        pytest.raises(axonad.errors.ModelFileError, match="context"),
    ):
        warnings.simplefilter("ignore")
        axonad.load(tmp_path / "model")


def test_a_stream_says_once_what_is_new_and_scores_as_a_batch(relation):
    X = drive(60, seed=1, start=20, stop=-5)
    expected = relation.score_ends(X)[0]
    session, live = Session(relation), []
    with pytest.warns(DataWarning) as said:
        live += [session.push(row).scores[0] for row in X[:40]]
    assert len(said) == 1
    assert said[0].filename == __file__
    twin = Session(relation, session.state())
    assert twin.new_context == session.new_context  # and nothing is said again
    live += twin.push(X[40:]).scores.tolist()
    assert_close(live[relation.history - 1 :], expected)
    assert twin.new_context[0].low == -5


def test_a_fleet_says_it_for_each_vehicle(relation):
    fleet = Fleet(relation)
    with pytest.warns(DataWarning, match=r"^vehicle 'cold': ambient is -5 here") as said:
        for _ in range(3):
            fleet.push({"cold": [0.0, -5.0, 0.0], "warm": [0.0, 20.0, 0.0]})
    assert len(said) == 1
    assert said[0].filename == __file__
    twin = Fleet(relation, fleet.state())
    assert twin.new_context("cold") == fleet.new_context("cold") != ()
    assert twin.new_context("warm") == ()


def test_chunks_are_the_whole_and_say_it_once(relation):
    winter = series(200, seed=1, start=-5, stop=2)
    with pytest.warns(DataWarning, match="-5 to 2 here") as said:
        whole = relation.explain(winter)
    chunks = [winter.rows(i, i + 50) for i in range(0, 200, 50)]
    with pytest.warns(DataWarning) as said_of_chunks:
        check_chunks(relation, chunks)
    parts = list(score_chunks(relation, chunks))  # which says nothing
    assert [str(each.message) for each in said_of_chunks] == [str(each.message) for each in said]
    assert_close(np.concatenate([found.scores for _, found in parts]), whole.scores)
    assert_close(
        np.concatenate([found.blame for _, found in parts])[:, [0, 2]], whole.blame[:, [0, 2]]
    )
    np.testing.assert_array_equal(np.concatenate([s.values for s, _ in parts]), winter.values)


def test_rows_without_usable_values_are_not_new_context(relation):
    values, unusable = drive(60, seed=1), np.zeros(60, dtype=bool)
    values[:3], unusable[:3] = 0.0, True
    gappy = Series(values=values, channels=NAMES, unusable=unusable)
    assert relation.new_context(gappy) == ()


def test_no_fault_is_planted_into_the_context(relation):
    with pytest.warns(DataWarning, match=r"left out, because they only set the scene .*: ambient"):
        found = relation.self_test(series(600, seed=1), repeats=1, sizes=(4.0,), verbose=False)
    assert found.channels == ("speed", "torque")
    with pytest.raises(InputError, match="ambient only set the scene"):
        relation.self_test(series(600, seed=1), channels=("ambient",))


def test_recalibration_learns_no_range_of_the_context(relation):
    recordings = [series(seed=seed) for seed in (1, 2)]
    setup, _ = recalibrate(relation, recordings, budget="1 per 500 steps")
    assert setup.rules is not None
    assert setup.rules.context == (1,)


def test_fit_many_is_fit():
    detectors = fit_many([AxonAD(**SMALL, context=("ambient",)) for _ in range(2)], [series()] * 2)
    alone = AxonAD(**SMALL, context=("ambient",)).fit(series())
    assert detectors[0].context_ is not None
    assert detectors[0].context_.to_json() == alone.context_.to_json()
    far = drive(60, seed=1, start=40, stop=50)
    (scores, _), *_ = score_tails([detectors[0]], far)
    with pytest.warns(DataWarning, match="new context"):
        np.testing.assert_allclose(scores, detectors[0].decision_function(far), rtol=1e-5)


def test_parameters(relation):
    sklearn = pytest.importorskip("sklearn.base")
    assert sklearn.clone(relation).context == ("ambient",)
    assert "context=('ambient',)" in repr(relation)
    with pytest.raises(ConfigError, match=r"context is now \(\) but the detector was fitted"):
        fitted("PCA").set_params(context=()).decision_function(series())
    with pytest.raises(ConfigError, match="context must be a tuple"):
        make_detector("PCA", context="ambient")
    with pytest.raises(ChannelError, match="'ambiant' not in the training data; did you mean 'amb"):
        make_detector("PCA", context=("ambiant",)).fit(series())
    frame = pd.DataFrame(drive(), columns=NAMES)[["torque", "ambient", "speed"]]
    assert fitted("PCA").new_context(frame) == ()


def test_the_report_names_candidates_and_not_what_is_context():
    assert "note: ambient only rises; if" in str(make_detector("PCA").fit(series()).fit_report_)
    assert "note: ambient" not in str(fitted("PCA").fit_report_)
