"""A grid stands for one detector per combination of its values."""

from __future__ import annotations

import pytest

from axonad.bench.grid import expand_grid
from axonad.bench.suite import read_suite
from axonad.errors import ConfigError
from tests.bench.jobs import SUITE, write_suite

GRID = {"window": [8, 16], "tail": [2, 3]}


def test_every_combination_is_a_detector_with_its_own_label():
    entry = {"name": "AxonAD", "label": "T {window}, k {tail}", "params": {"epochs": 1}}
    made = list(expand_grid({**entry, "grid": GRID}))
    assert [one["label"] for one in made] == [
        "T 8, k 2", "T 8, k 3", "T 16, k 2", "T 16, k 3",
    ]  # fmt: skip
    assert made[1] == {
        "name": "AxonAD",
        "label": "T 8, k 3",
        "params": {"epochs": 1, "window": 8, "tail": 3},
    }
    assert next(expand_grid({"name": "PCA", "grid": {"window": [8]}}))["label"] == "PCA, window 8"
    assert list(expand_grid(entry)) == [entry]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": {}}, "grid must list values"),
        ({"grid": [1, 2]}, "grid must list values"),
        ({"grid": {"window": 8}}, "grid.window must be a list of values, got 8"),
        ({"grid": {"window": []}}, r"grid.window must be a list of values, got \[\]"),
        ({"grid": {"window": [8, 8]}}, "grid.window lists a value twice"),
        ({"params": {"tail": 2}}, "tail is in the grid and is also set by params or on"),
        ({"on": {"SMD": {"tail": 2}}}, "tail is in the grid and is also set by params or on"),
        ({"label": "T {window}"}, "must name every parameter of the grid; {tail} is missing"),
        ({"label": "{window} {tail} {lr}"}, "names {lr}, which is not in the grid"),
        ({"label": 3}, "label must be a line of text, got 3"),
        ({"grid": {"window": list(range(200)), "tail": list(range(200))}}, "40,000 combinations"),
    ],
)
def test_nonsense_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        list(expand_grid({"name": "AxonAD", "grid": GRID} | change))


def test_a_suite_has_the_jobs_of_its_grid(tmp_path):
    suite = read_suite(write_suite(tmp_path, SUITE + "    grid.lr = [0.001, 0.01]\n"))
    jobs = suite.jobs(seeds=[1])
    assert [(job.label, job.params["lr"]) for job in jobs] == [
        ("AxonAD, lr 0.001", 0.001),
        ("AxonAD, lr 0.01", 0.01),
    ]
    assert all(job.params["window"] == 8 for job in jobs)
