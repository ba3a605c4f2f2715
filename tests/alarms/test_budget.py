"""Budgets of false events: what is understood, and the exact Poisson interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from axonad.alarms.budget import Budget, Rate, at_most, poisson_interval, smallest_promise
from axonad.errors import ConfigError, InputError


@pytest.mark.parametrize(
    ("text", "events", "count", "unit", "words"),
    [
        ("1 per hour", 1, 1, "hour", "1 per hour"),
        ("2 per day", 2, 1, "day", "2 per day"),
        ("3 per 10000 steps", 3, 10_000, "step", "3 per 10,000 steps"),
        ("0.5 per 10,000 STEPS", 0.5, 10_000, "step", "0.5 per 10,000 steps"),
        (" 1  per 8 hours ", 1, 8, "hour", "1 per 8 hours"),
    ],
)
def test_budgets_are_read_and_shown(text, events, count, unit, words):
    budget = Budget.parse(text)
    assert budget == Budget(events, count, unit)
    assert str(budget) == words
    assert Budget.parse(str(budget)) == budget
    assert Budget.parse(budget) is budget


@pytest.mark.parametrize(
    "text", ["", "1", "hourly", "1 per fortnight", "one per hour", "1 per -2 hours", "1..2 per day",
             "1 per 1.2.3 steps", None, 3],
)  # fmt: skip
def test_nonsense_is_refused_in_one_sentence(text):
    with pytest.raises(ConfigError, match='must be written like "1 per hour", "2 per day" or'):
        Budget.parse(text)


@pytest.mark.parametrize("text", ["0 per hour", "-1 per day", "1 per 0 steps"])
def test_a_budget_of_nothing_is_refused(text):
    with pytest.raises(ConfigError, match=f"must be above 0, got '{text}'; no threshold can"):
        Budget.parse(text)


def test_periods_in_steps_and_a_missing_time_between_steps():
    assert Budget.parse("2 per hour").steps(0.1) == pytest.approx(36_000)
    assert Budget.parse("2 per hour").per_step(0.1) == pytest.approx(2 / 36_000)
    assert Budget.parse("2 per 50 steps").steps(None) == 50
    with pytest.raises(InputError, match="a budget per day needs the time between two steps"):
        Budget.parse("2 per day").steps(None)


@pytest.mark.parametrize("events", [0, 1, 2, 7, 40, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_interval_is_that_of_the_chi_square_quantiles(events, confidence):
    tail = (1 - confidence) / 2
    low = chi2.ppf(tail, 2 * events) / 2 if events else 0.0
    high = chi2.ppf(1 - tail, 2 * events + 2) / 2
    assert poisson_interval(events, confidence=confidence) == pytest.approx((low, high), rel=1e-9)


@given(st.integers(0, 60), st.floats(0.01, 80))
def test_probability_of_few_events_by_definition(events, mean):
    expected = sum(
        math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(events + 1)
    )
    assert at_most(events, mean) == pytest.approx(expected, rel=1e-9)


def test_what_so_many_hours_can_promise():
    assert smallest_promise(3.1) == pytest.approx(0.966, abs=1e-3)  # the example of the docs
    assert at_most(0, smallest_promise(3.1) * 3.1) == pytest.approx(0.05)


def test_a_rate_and_its_interval():
    rate = Rate.of(4, steps=72_000, period=36_000)
    assert rate.value == 2
    assert rate.interval == pytest.approx((0.5449, 5.1208), abs=1e-3)
