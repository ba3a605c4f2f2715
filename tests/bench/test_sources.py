from __future__ import annotations

import pytest

from axonad.bench.sources import SeriesRef, load, load_training
from axonad.errors import InputError
from tests.bench.jobs import write_series


@pytest.mark.parametrize("labels", [False, True])
def test_a_series_without_a_labelled_anomaly_can_only_be_trained_on(tmp_path, labels):
    data = write_series(tmp_path, labels=labels)
    data.write_text(data.read_text().replace(",1\n", ",0\n"))
    ref = SeriesRef(source="files", name=data.name, dataset="MSL", location=str(tmp_path))
    with pytest.raises(InputError, match="has no labelled anomaly"):
        load(ref)
    assert load_training(ref).shape == (200, 2)
