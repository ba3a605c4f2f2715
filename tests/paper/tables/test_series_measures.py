from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.tables.series_measures import exceeds, gather, interval
from tests.paper.findings import make_finding
from tests.report.rows import make_row


def test_failures_are_counted_and_nothing_else_is_mixed():
    found = [make_finding("a"), make_finding("b", value=None)]
    assert gather(found).series == ("a",)
    assert "1 runs failed" in gather(found).setting
    with pytest.raises(InputError, match="all 1 runs failed; the first said: broke"):
        gather([make_finding("b", value=None)])
    other = Finding(row=make_row("AxonAD", "a", 0.5, protocol="causal"), measures={})
    with pytest.raises(InputError, match="the findings mix protocols"):
        gather([make_finding("a"), other])


def test_interval_over_series_equals_its_naive_twin():
    values = np.random.default_rng(0).normal(size=40)
    drawn = values[np.random.default_rng(0).integers(40, size=(4000, 40))]
    for statistic in (np.mean, np.median):
        expected = np.quantile(statistic(drawn, axis=1), [0.025, 0.975])
        found = interval(np.r_[values, np.nan], statistic)
        assert found == pytest.approx(expected), "what is missing is left out"
    assert np.isnan(interval(values[:2], np.median)).all()


def test_exceeds_keeps_what_is_missing():
    np.testing.assert_array_equal(exceeds(np.array([0.1, 0.5, np.nan]), 0.1), [0, 1, np.nan])
