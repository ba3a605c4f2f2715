from __future__ import annotations

import json

import numpy as np
import pytest

from axonad import AxonAD, StreamScorer, load
from axonad.errors import FileError, ModelFileError, NotFittedError
from tests.conftest import SMALL, waves
from tests.fuzz.forging import forge
from tests.stream.conftest import assert_close


@pytest.mark.parametrize("stop", [0, 5, 15, 16, 40])
def test_a_restarted_process_continues_with_the_same_scores(fitted, tmp_path, stop):
    X = waves(60, seed=1)
    X[stop - 1 : stop, 0] = np.nan if stop > 1 else X[stop - 1 : stop, 0]
    whole = StreamScorer(fitted, hold_limit=4).push_many(X)
    first = StreamScorer(fitted, hold_limit=4)
    first.push_many(X[:stop])
    first.save(tmp_path / "state.json")
    fitted.save(tmp_path / "model")
    second = StreamScorer.restore(tmp_path / "state.json", load(tmp_path / "model"))
    rest = second.push_many(X[stop:])
    assert [r and r.step for r in rest] == [r and r.step for r in whole[stop:]]
    assert_close([r.score for r in rest if r], [r.score for r in whole[stop:] if r])
    assert (second.rows, second.held, second.hold_limit) == (60, int(stop > 1), 4)


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
        ({"silent": [0, 0, 10**30]}, "expected a list of integers of at least 0"),
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
def test_made_up_states_are_refused(fitted, tmp_path, changes, why):
    path = tmp_path / "state.json"
    scorer = StreamScorer(fitted)
    scorer.push_many(waves(40))
    scorer.save(path)
    forge(path)
    assert StreamScorer.restore(path, fitted).rows == 40
    forge(path, **changes)
    with pytest.raises(ModelFileError, match=rf"state\.json is damaged: .*{why}"):
        StreamScorer.restore(path, fitted)


def test_a_state_of_an_older_version_is_refused_in_one_sentence(fitted, tmp_path):
    path = tmp_path / "state.json"
    StreamScorer(fitted, hold_limit=4).save(path)
    document = json.loads(path.read_text())
    del document["checksum"]
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="entry 'checksum' is missing"):
        StreamScorer.restore(path, fitted)
    for old in (1, 2):
        forge(path, format=old)
        with pytest.raises(ModelFileError, match=r"axonad 0\.2 or older, .*; begin a new state$"):
            StreamScorer.restore(path, fitted)


def test_state_files_that_cannot_be_used(fitted, tmp_path):
    path = tmp_path / "state.json"
    StreamScorer(fitted).save(path)
    with pytest.raises(FileError, match="already exists"):
        StreamScorer(fitted).save(path)
    StreamScorer(fitted).save(path, overwrite=True)
    other = AxonAD(**SMALL, seed=1).fit(waves(100))
    with pytest.raises(ModelFileError, match="belongs to another detector"):
        StreamScorer.restore(path, other)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "hold_limit": 3}))
    with pytest.raises(ModelFileError, match="its content does not match its checksum"):
        StreamScorer.restore(path, fitted)
    with pytest.raises(NotFittedError):
        StreamScorer.restore(path, AxonAD(**SMALL))
    path.write_text(path.read_text()[:50])
    with pytest.raises(ModelFileError, match="not valid JSON"):
        StreamScorer.restore(path, fitted)
    with pytest.raises(ModelFileError, match="is missing"):
        StreamScorer.restore(tmp_path / "none.json", fitted)
