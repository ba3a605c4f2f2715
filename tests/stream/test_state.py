from __future__ import annotations

import json

import numpy as np
import pytest

from axonad import AxonAD, StreamScorer, load
from axonad.errors import FileError, ModelFileError, NotFittedError
from tests.conftest import SMALL, waves
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
    path.write_text(json.dumps({**document, "buffer": [[1.0]]}))
    with pytest.raises(ModelFileError, match="is damaged"):
        StreamScorer.restore(path, fitted)
    path.write_text(json.dumps({**document, "buffer": [[1.0, None, 2.0]]}))
    with pytest.raises(ModelFileError, match="is damaged: its buffer does not hold 3 finite"):
        StreamScorer.restore(path, fitted)
    path.write_text(json.dumps({**document, "silent": [0]}))
    with pytest.raises(ModelFileError, match="is damaged"):
        StreamScorer.restore(path, fitted)
    with pytest.raises(NotFittedError):
        StreamScorer.restore(path, AxonAD(**SMALL))
    path.write_text(path.read_text()[:50])
    with pytest.raises(ModelFileError, match="not valid JSON"):
        StreamScorer.restore(path, fitted)
    with pytest.raises(ModelFileError, match="is missing"):
        StreamScorer.restore(tmp_path / "none.json", fitted)
