"""What users saw of release 0.2.0 is what they see now, through every way in."""

import copy
import pickle

import pytest

from axonad import MultiView
from tests.golden.cases import PAIRS
from tests.golden.form import compare
from tests.golden.record import WANTED, counts, differences, expected_of, run_ways
from tests.golden.ways import ALONE, TOGETHER, fleet

MODELS = sorted({pair.model for pair in PAIRS})


@pytest.fixture(scope="module", autouse=True)
def blamed_once():
    """Compute the blame of MultiView once for the same model and rows.

    A stream asks for it at every alarmed row, and each way in that streams asks again.
    """
    explain, models, known = MultiView._explain, {}, {}

    def told(model):
        if id(model) not in models:
            values, arrays = model._state()
            parts = {name: (array.dtype.str, array.tobytes()) for name, array in arrays.items()}
            models[id(model)] = model, pickle.dumps((values, parts))
        return models[id(model)][1]

    def once(self, X, *, blame):
        key = told(self), str(self.get_params()), X.shape, X.tobytes(), blame
        if key not in known:
            known[key] = explain(self, X, blame=blame)
        return copy.deepcopy(known[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MultiView, "_explain", once)
        yield


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
@pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")
def test_every_way_in_gives_what_is_recorded(pair, tmp_path):
    found = differences(pair, run_ways(pair, tmp_path, ALONE))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")
def test_fleet_and_server_give_what_is_recorded(model, tmp_path):
    found = [
        sentence
        for pair in PAIRS
        if pair.model == model
        for sentence in differences(pair, run_ways(pair, tmp_path, TOGETHER))
    ]
    assert not found, "\n".join(found)


def test_enough_is_recorded():
    found = counts()
    assert {name: found[name] for name in WANTED if found[name] < WANTED[name]} == {}
    assert len(PAIRS) >= 20


@pytest.fixture(scope="module")
def seen():
    """What a fleet gives of a pair with scores, events and refusals, and what is recorded of it."""
    pair = next(pair for pair in PAIRS if pair.name == "pca-budget--torn")
    found = fleet(pair, None)
    expected = expected_of(pair)["fleet"]
    assert compare(found, expected) == []
    return found, expected


def plant(outcome, what):
    """Change one number or word of an outcome."""
    event = next(event for event in outcome.events if event["category"] == "anomaly")
    if what == "score":
        outcome.scores[300] += 2e-4 * max(1.0, abs(outcome.scores[300]))
    elif what == "refusal":
        outcome.refused[0]["row"] += 1
    elif what == "lost refusal":
        del outcome.refused[0]
    elif what == "lost event":
        outcome.events.remove(event)
    elif what == "channels":
        event["channels"] = [*event["channels"], "other"]
    else:
        event[what] += 1


@pytest.mark.parametrize(
    "what",
    ["score", "start", "end", "peak", "fired", "channels", "refusal", "lost refusal", "lost event"],
)
def test_a_planted_change_is_found(seen, what):
    found, expected = seen
    changed = copy.deepcopy(found)
    plant(changed, what)
    (sentence,) = compare(changed, expected)
    assert sentence.startswith(what.split()[-1])


@pytest.mark.parametrize(
    ("sentence", "other"),
    [
        ("expected 11.6 to 16.2, was 13.7", "expected 11.6 to 16.2, was 13.9"),
        ("yaw_rate is shifted", "yaw_rate is frozen"),
        ("steering no longer follows yaw_rate", "steering no longer follows speed"),
    ],
)
def test_a_changed_sentence_is_found(seen, sentence, other):
    found, expected = copy.deepcopy(seen)
    expected.events[0]["sentence"], found.events[0]["sentence"] = sentence, other
    assert compare(found, expected)
    found.events[0]["sentence"] = sentence
    assert not compare(found, expected)
