from __future__ import annotations

import pytest

from axonad.bench.sources import SeriesRef
from axonad.errors import FileError, InputError
from axonad.paper.transfer import segments
from axonad.paper.transfer.check import check_transfer, dataset_features
from axonad.paper.transfer.segments import (
    Segments,
    compare_segments,
    read_segments,
    summarise_segments,
)
from tests.conftest import waves


def made_up(ref):
    return waves(300 + 10 * int(ref.name[1:]), seed=int(ref.name[1:])) * int(ref.name[1:])


def refs(*numbers, dataset="A", split=""):
    return [SeriesRef(source="files", name=f"s{n}", dataset=dataset, split=split) for n in numbers]


@pytest.fixture
def read(monkeypatch):
    """The names of the series read, as they are read."""
    names = []

    def load(ref):
        names.append(ref.name)
        return made_up(ref)

    monkeypatch.setattr(segments, "load_training", load)
    return names


def fill(folder, *, role="other", **groups):
    with Segments(folder) as ledger:
        for dataset, numbers in groups.items():
            list(summarise_segments(refs(*numbers, dataset=dataset), ledger, role=role))
    return read_segments(folder)


def test_a_segment_is_read_once(tmp_path, read):
    first = fill(tmp_path, A=(1, 2))
    again = fill(tmp_path, A=(1, 2, 3))
    assert read == ["s1", "s2", "s3"]
    assert again[:2] == first
    assert again[0].steps == 310
    assert again[0].features["scale.std"] == pytest.approx(first[0].features["scale.std"])


def test_comparison_equals_the_check_on_the_series_themselves(tmp_path, read):
    fill(tmp_path, A=(1, 2), B=(3, 4), C=(5,))
    rows = fill(tmp_path, role="target", T=(6,))
    found = dict(compare_segments(rows))
    series = [(r.dataset, r.name, made_up(r)) for r in refs(1, 2, 3, 4, 5, 6)]
    assert found["all series"] == check_transfer(dataset_features(series, by="series"), "s6")
    assert "tuning series" not in found
    sets = zip("AABBCT", series, strict=True)
    by_set = dataset_features([(name, s, x) for name, (_, s, x) in sets], by="dataset")
    expected = check_transfer(by_set, "T")
    assert found["all data sets"].mahalanobis_percentile == expected.mahalanobis_percentile
    assert found["all data sets"].nearest == expected.nearest


def test_tuning_series_are_a_comparison_of_their_own(tmp_path, read):
    with Segments(tmp_path) as ledger:
        list(summarise_segments(refs(1, 2, split="tuning"), ledger, role="other"))
        list(summarise_segments(refs(3, 4, split="eval"), ledger, role="other"))
        list(summarise_segments(refs(6, 7, dataset="T"), ledger, role="target"))
    found = compare_segments(read_segments(tmp_path))
    assert [(among, one.target, len(one.ranking) - 1) for among, one in found] == [
        ("tuning series", "s6", 2), ("tuning series", "s7", 2),
        ("all series", "s6", 4), ("all series", "s7", 4),
    ]  # fmt: skip


def test_what_cannot_be_compared(tmp_path, read):
    with pytest.raises(FileError, match="run `axonad paper transfer` first"):
        read_segments(tmp_path)
    with pytest.raises(InputError, match="a target and 2 others, got 0 and 2"):
        compare_segments(fill(tmp_path, A=(1, 2)))
    path = tmp_path / segments.FILE
    path.write_text(path.read_text().replace(",other,", ",nobody,"))
    with pytest.raises(
        InputError, match=r"row 1: role must be one of target, other .*got 'nobody'"
    ):
        read_segments(tmp_path)
