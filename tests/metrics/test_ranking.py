from __future__ import annotations

import pytest

from axonad.metrics.case import Case
from axonad.metrics.ranking import auc_pr, auc_roc

CASE = Case.from_scores([1.0, 2.0, 2.0, 3.0], [0, 0, 1, 1])


def test_a_tie_is_half_a_win():
    assert auc_roc(CASE) == pytest.approx(3.5 / 4)  # of four pairs, three wins and a tie


def test_average_precision_by_hand():
    # alarms from 3 on: precision 1, recall 1/2; from 2 on: precision 2/3, recall 1
    assert auc_pr(CASE) == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)
