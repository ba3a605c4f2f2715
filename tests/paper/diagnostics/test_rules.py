"""How both parts are combined into one score."""

from __future__ import annotations

import numpy as np

from axonad.paper.diagnostics.rules import PAPER, RULES, Parts, place_query

T, K = 10, 4


def test_every_rule_gives_a_score_per_step_and_sees_a_rise_in_either_part():
    quiet = np.zeros(100)
    raised = quiet.copy()
    raised[40:45] = 50
    for parts in (Parts(raised, quiet, T, K, "center"), Parts(quiet, raised, T, K, "center")):
        for name, rule in RULES.items():
            score = rule(parts)
            assert score.shape == (100 + T - 1,)
            blind = {"d_rec": parts.d_rec, "d_q": parts.d_q, "d_q placed": parts.d_q}.get(name)
            if blind is None or blind.any():
                assert 40 <= int(score.argmax()) < 60, name


def test_the_sum_is_the_detectors_score(fitted):
    from axonad.paper.probe import probe
    from tests.conftest import waves

    X = waves(200, seed=3)
    found = probe(fitted, X)
    parts = Parts(found.d_rec, found.d_q, fitted.window, fitted.tail, fitted.align)
    np.testing.assert_allclose(
        PAPER["sum"](parts), fitted.decision_function(X), rtol=1e-5, atol=1e-4
    )


def test_a_mismatch_is_placed_in_the_middle_of_the_tail():
    d_q = np.arange(20.0)
    placed = place_query(Parts(d_q, d_q, T, 4, "center"))
    # window 0 ends at step 9, its tail is steps 6 to 9, the middle one 8
    assert placed[8] == 0
    assert placed[9] == 1
    assert placed.size == 20 + T - 1
    assert placed[-1] == 19


def test_rules_by_hand():
    parts = Parts(np.array([1.0, 20.0, -1.0]), np.array([0.0, 2.0, 3.0]), 1, 1, "end")
    expected = {
        "sum": [1, 22, 2],
        "max": [1, 20, 3],
        "clipped": [1, 12, 2],
        "ranks": [2 + 1, 3 + 2, 1 + 3],
        "log": [np.log(2), np.log(21) + np.log(3), -np.log(2) + np.log(4)],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(RULES[name](parts), values, err_msg=name)
