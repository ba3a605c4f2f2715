"""The split of generated streams."""

from __future__ import annotations

import pytest

from axonad.bench import sources
from axonad.errors import InputError
from axonad.paper.tables.split import split_table, streams
from tests.report.rows import make_row


@pytest.fixture(scope="module")
def subject():
    return sources.load(sources.find({"source": "telemetry", "steps": 2000}, seeds=[7])[0])


def make(subject, **more):
    given = {"dataset": "telemetry", "seed": 7, "steps": 2000, "fingerprint": subject.fingerprint}
    return make_row("A", "telemetry-7", **(given | more))


def test_streams_are_made_again_from_rows(subject):
    table = split_table([make(subject), make_row("B", "telemetry-7", None, dataset="telemetry")])
    paper, ours = table.text_rows()
    assert paper[:5] == ["paper's stream", "80000", "19", "40000", "43410"]
    first = min(event.start for event in subject.events)
    assert ours[:6] == ["telemetry-7", "2000", "19", "1000", str(first), str(len(subject.events))]
    assert float(ours[6]) == pytest.approx(subject.labels[1000:].mean(), abs=5e-4)


def test_another_stream_under_the_same_name_is_refused(subject):
    with pytest.raises(InputError, match="is not the stream the rows were made on"):
        streams([make(subject, fingerprint="0")])
    with pytest.raises(InputError, match="a split needs rows of generated streams"):
        streams([make_row()])
