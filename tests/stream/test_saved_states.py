from __future__ import annotations

import json

import pytest

from axonad import AxonAD, Session, load
from axonad.errors import ModelFileError, NotFittedError
from tests.conftest import SMALL, waves
from tests.fuzz.forging import seal_state
from tests.stream.conftest import assert_same


@pytest.mark.parametrize("stop", [0, 5, 15, 16, 40])
def test_a_restarted_process_continues_with_the_same_scores(fitted, tmp_path, stop):
    X = waves(60, seed=1)
    X[stop - 1 : stop, 0] = float("nan") if stop > 1 else X[stop - 1 : stop, 0]
    whole = Session(fitted, hold_limit=4).push(X)
    first = Session(fitted, hold_limit=4)
    begin = first.push(X[:stop])
    fitted.save(tmp_path / "model")
    second = Session(load(tmp_path / "model"), first.state())
    assert_same([begin, second.push(X[stop:])], whole)
    counts = second.counts()
    assert (counts["rows"], counts["held"], second.hold_limit) == (60, int(stop > 1), 4)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"buffer": [[1.0]]}, "its buffer does not hold 3 finite"),
        ({"buffer": [[1.0, None, 2.0]]}, "its buffer does not hold 3 finite"),
        ({"buffer": [["1", "2", "3"]]}, "its buffer does not hold 3 finite"),
        ({"buffer": [[]] * 4}, "its buffer does not hold 3 finite"),
        ({"buffer": [[1.0, 2.0, 3.0]] * 17}, "its buffer of 17 rows is longer than"),
        ({"buffer": ...}, "entry 'buffer' is missing"),
        ({"silent": [0]}, "silent does not fit 3 channels"),
        ({"silent": [0, 0, 41]}, "silent does not fit 3 channels and 40 rows"),
        ({"silent": [0, 0, -1]}, "expected a list of integers of at least 0"),
        ({"silent": [0, 0, 10**30]}, "Integer exceeds 64-bit range"),
        ({"counts": [40, 25, 0]}, "not enough values to unpack"),
        ({"counts": [40, 41, 0, 0]}, "contradict each other"),
        ({"counts": [40, 25, -1, 0]}, "expected a list of integers of at least 0"),
        ({"counts": [40, 25.0, 0, 0]}, "expected a list of integers of at least 0"),
        ({"counts": {}}, "expected a list of integers of at least 0"),
        ({"hold_limit": -1}, "hold_limit must be at least 0"),
        ({"hold_limit": ...}, "entry 'hold_limit' is missing"),
    ],
    ids=str,
)
def test_made_up_states_are_refused(fitted, changes, why):
    session = Session(fitted)
    session.push(waves(40))
    document = json.loads(session.state())
    assert Session(fitted, seal_state(document)).rows == 40
    changed = {k: v for k, v in (document | changes).items() if v is not ...}
    with pytest.raises(ModelFileError, match=rf"the state is damaged: .*{why}"):
        Session(fitted, seal_state(changed))


def test_states_that_cannot_be_used(fitted):
    state = Session(fitted, hold_limit=4).state()
    document = json.loads(state)
    with pytest.raises(ModelFileError, match="belongs to another detector"):
        Session(AxonAD(**SMALL, seed=1).fit(waves(100)), state)
    for changed in (document | {"hold_limit": 3}, {k: document[k] for k in ("kind", "format")}):
        with pytest.raises(ModelFileError, match="its content does not match its checksum"):
            Session(fitted, json.dumps(changed).encode())
    with pytest.raises(NotFittedError):
        Session(AxonAD(**SMALL), state)
    with pytest.raises(ModelFileError, match="not valid JSON"):
        Session(fitted, state[:50])
    with pytest.raises(ModelFileError, match="it is no 'axonad-session' document"):
        Session(fitted, b"[1]")
    with pytest.raises(ModelFileError, match="newer than 3"):
        Session(fitted, seal_state(document | {"format": 4}))


@pytest.mark.parametrize("kind", ["axonad-stream", "axonad-fleet"])
def test_a_state_of_an_older_version_is_refused_in_one_sentence(fitted, kind):
    for old in (1, 2):
        state = json.dumps({"kind": kind, "format": old}).encode()
        with pytest.raises(ModelFileError, match=r"axonad 0\.2 or older, .*; begin a new one$"):
            Session(fitted, state)
