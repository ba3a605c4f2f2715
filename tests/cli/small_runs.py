"""Small inputs, quick parameters and the shape of an error, for the tests of the commands."""

from __future__ import annotations

import numpy as np
import polars as pl

from tests.conftest import waves

NAMES = ["speed", "yaw_rate", "torque"]
QUICK = ["--detector", "AxonAD", "-s", "window=16", "-s", "d_model=16", "-s", "heads=2",
         "-s", "tail=4", "-s", "epochs=2", "-s", "device=cpu"]  # fmt: skip


def frame(rows, seed=0, label=False, time=False):
    data = pl.DataFrame(waves(rows, seed=seed), schema=NAMES)
    if label:
        data = data.with_columns(Label=pl.lit(0).cast(pl.Int64))
    if time:
        data = data.with_columns(t_s=pl.Series(np.arange(rows) / 10))
    return data


def assert_one_red_line(answer, message):
    """Check what a command that was refused has answered: exit code, stdout and stderr."""
    code, _, err = answer
    assert code == 2
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def assert_refused(run, folder, words, message):
    """Run a command beside some input files; it must end in one red line and write nothing."""
    frame(50).write_csv(folder / "t.csv")
    pl.DataFrame({"x": np.zeros(50)}).write_csv(folder / "other.csv")
    (folder / "bad.toml").write_text("threshold = {a = 1}")
    labelled = pl.DataFrame({"score": np.arange(50), "Label": np.arange(50) // 25})
    labelled.write_csv(folder / "labelled.csv")
    before = sorted(folder.iterdir())
    assert_one_red_line(run(*words), message)
    assert sorted(folder.iterdir()) == before, "a refused command leaves nothing behind"
