"""scikit-learn's own checks of an estimator, and those a detector fails on purpose.

``run_sklearn_checks(make)`` runs ``sklearn.utils.estimator_checks.check_estimator`` on a new
detector. Every check has to pass but those that :func:`expected_failures` lists with a reason.
scikit-learn is imported when it is called; it must be 1.6 or newer.
"""

from __future__ import annotations

import warnings

from axonad.detector import Detector
from axonad.errors import DataWarning
from axonad.testing.requirements import CheckError, Make

LONGEST_HISTORY = 10
"""Rows a score may need: scikit-learn's smallest examples have 10."""

ALWAYS = {
    "check_outliers_train": "predict returns 0 and 1 (1 is an alarm), as in PyOD, not 1 and -1; "
    "decision_function is higher for anomalies, not lower",
    "check_do_not_raise_errors_in_init_or_set_params": "parameters are checked where they are "
    "set, not in fit: a typing mistake costs one line, not a training run",
}
WINDOWS = {
    "check_methods_sample_order_invariance": "rows are a time series; shuffled, they are another",
    "check_methods_subset_invariance": "a score needs the rows before it, so single rows have none",
}
_ORDER = tuple(WINDOWS)
_TEN_ROWS = ("check_estimators_nan_inf", "check_fit2d_1feature")
_RECOGNISED = "it recognises the series it was fitted on, where no row is its own neighbour"
BY_NAME = {
    "KNN": dict.fromkeys(_ORDER, _RECOGNISED),
    "LOF": dict.fromkeys(_ORDER, _RECOGNISED),
    "Forecast": dict.fromkeys(_TEN_ROWS, "the example has 10 rows, a forecast needs 11"),
    "RandomScore": dict.fromkeys(_ORDER, "its random numbers depend on the position of a row"),
}


def expected_failures(detector: Detector) -> dict[str, str]:
    """Return the checks that a detector fails on purpose, with the reason."""
    windows = WINDOWS if detector.history > 1 else {}
    return ALWAYS | windows | BY_NAME.get(type(detector).__name__, {})


def run_sklearn_checks(make: Make) -> dict[str, str]:
    """Run scikit-learn's checks; return their status by name, raise ``CheckError`` on a failure.

    ``make()`` has to return a new, unfitted detector whose ``history`` is at most
    :data:`LONGEST_HISTORY`. The status is ``"passed"``, ``"skipped"`` or ``"xfail"``, a failure
    that was expected; of checks with several parts, that of the worst.
    """
    from sklearn.utils.estimator_checks import check_estimator

    detector = make()
    if detector.history > LONGEST_HISTORY:
        raise CheckError(
            f"history is {detector.history}; scikit-learn's examples have {LONGEST_HISTORY} rows, "
            "choose a shorter window"
        )
    expected = expected_failures(detector)
    with warnings.catch_warnings():
        for text in (".*does not inherit from", ".*during set_params of param"):
            warnings.filterwarnings("ignore", text, UserWarning)
        warnings.simplefilter("ignore", DataWarning)  # some of the examples are tiny
        found = check_estimator(
            detector, expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    status: dict[str, str] = {}
    for result in found:
        name = result["check_name"]
        if result["status"] == "failed":
            raise CheckError(f"{name}: {result['exception']!s:.500}")
        if status.get(name) != "xfail":
            status[name] = result["status"]
    return status
