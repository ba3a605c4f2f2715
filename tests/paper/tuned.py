"""Made-up rows of a grid of settings."""

from __future__ import annotations

from itertools import product

import numpy as np

from axonad.paper.tuning import TUNED, name_setting
from tests.report.rows import make_row

GRID = {"window": (50, 100), "d_model": (128,), "heads": (8,), "lr": (5e-4, 1e-3),
        "tail": (3, 10), "horizon": (1,)}  # fmt: skip


def tuned_row(setting, series, value, **more):
    params = dict(zip(TUNED, setting, strict=True))
    return make_row(name_setting(setting), series, value, params=params, **more)


def tuned_rows(grid=None, series=4, seed=0):
    """Return rows of every combination; window 100 and tail 10 are better than the others."""
    rng = np.random.default_rng(seed)
    ease = rng.uniform(0.2, 0.5, series)
    return [
        tuned_row(
            setting, f"s{i}",
            float(ease[i] + 0.1 * (setting[0] == 100) + 0.05 * (setting[4] == 10)
                  + 0.01 * rng.normal()),
        )
        for setting in product(*(grid or GRID).values())
        for i in range(series)
    ]  # fmt: skip
