from __future__ import annotations

from axonad.paper.figures.split import draw_split
from tests.paper.tables.test_split import make, subject
from tests.report.figures import legend, texts

__all__ = ["subject"]


def test_split_and_faults_of_a_stream_are_drawn(subject, tmp_path, drawn):
    draw_split(tmp_path / "split.svg", [make(subject)])
    (figure,) = drawn
    (axis,) = figure.axes
    train, test = axis.patches
    assert (train.get_x(), train.get_width()) == (0, 1000)
    assert (test.get_x(), test.get_width()) == (1000, 1000)
    assert list(axis.lines[0].get_xdata()) == [800, 1000], "validation"
    kinds = [event.kind.replace("_", " ") for event in subject.events]
    assert set(legend(figure)) == set(kinds)
    for bars in axis.collections:
        spans = sorted(path.get_extents().intervalx.tolist() for path in bars.get_paths())
        events = [e for e in subject.events if e.kind.replace("_", " ") == bars.get_label()]
        assert spans == sorted([event.start, event.end] for event in events)
    first = min(event.start for event in subject.events)
    assert texts(axis)[-1].startswith(f"test: {len(kinds)} faults, rate ")
    assert texts(axis)[-1].endswith(f"first at {first:,}")
    assert axis.get_ylabel() == "telemetry-7"
