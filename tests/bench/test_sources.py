from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from axonad.bench import sources
from axonad.bench.sources import SeriesRef, load, load_training
from axonad.errors import ChannelError, ConfigError, InputError
from tests.bench.jobs import write_series
from tests.conftest import waves


@pytest.mark.parametrize("labels", [False, True])
def test_a_series_without_a_labelled_anomaly_can_only_be_trained_on(tmp_path, labels):
    data = write_series(tmp_path, labels=labels)
    data.write_text(data.read_text().replace(",1\n", ",0\n"))
    ref = SeriesRef(source="files", name=data.name, dataset="MSL", location=str(tmp_path))
    with pytest.raises(InputError, match="has no labelled anomaly"):
        load(ref)
    assert load_training(ref).shape == (200, 2)


def test_own_files_of_any_format(tmp_path):
    frame = pl.DataFrame(waves(200), schema=["a", "b", "c"])
    frame = frame.with_columns(Label=pl.Series([0] * 150 + [1] * 20 + [0] * 30))
    frame.write_csv(tmp_path / "one.csv")
    frame.write_parquet(tmp_path / "two.parquet")
    (tmp_path / "bad.csv").write_text("a,a\n1,2\n")
    paths = [str(path) for path in sorted(tmp_path.iterdir())]
    data = {"source": "recordings", "paths": paths, "train": 0.6}
    refs = {ref.name: ref for ref in sources.find(data, seeds=[1])}
    assert set(refs) == {"one.csv", "two.parquet", "bad.csv"}
    one, two = (sources.load(refs[name]) for name in ("one.csv", "two.parquet"))
    assert (one.train_steps, one.scored_from, int(one.labels.sum())) == (120, 120, 20)
    np.testing.assert_array_equal(one.values, two.values)
    with pytest.raises(ChannelError, match="appears more than once"):
        sources.load(refs["bad.csv"])
    late = {**data, "train": 0.8}
    with pytest.raises(InputError, match="10 anomalous rows among the first 160"):
        sources.load(next(r for r in sources.find(late, seeds=[1]) if r.name == "one.csv"))
    with pytest.raises(ConfigError, match="data has no setting 'colour'"):
        sources.find({**data, "colour": 1}, seeds=[1])
