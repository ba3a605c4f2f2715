"""A model with a channel that is named like a time, on files."""

import numpy as np
import pandas as pd
import polars as pl

from axonad import Series, make_detector
from tests.conftest import waves

NAMES = ["speed", "yaw_rate", "torque"]


def test_a_model_with_such_a_channel_reads_it_from_files(run, tmp_path):
    timed = pd.DataFrame(waves(300), columns=NAMES).assign(time=np.arange(300) / 10)
    timed.to_csv(tmp_path / "drive.csv", index=False)
    make_detector("PCA").fit(Series.from_frame(timed, time=False)).save(tmp_path / "model")
    for more in ([], ["--chunk", "100"]):
        code, _, err = run("score", "model", "drive.csv", "--out", f"scores{len(more)}.csv", *more)
        assert (code, err) == (0, "")
    tables = [pl.read_csv(tmp_path / f"scores{n}.csv") for n in (0, 2)]
    assert tables[0].equals(tables[1]) and tables[0].height == 300
