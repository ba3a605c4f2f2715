"""The self-test: plant faults into normal data, see which a detector would catch.

``detector.self_test(X)`` runs it and returns a :class:`~axonad.selftest.result.SelfTest`;
``rank_faults`` compares detectors, or parts of one, without a threshold.
"""

from axonad.selftest.kinds import KINDS
from axonad.selftest.ranking import Scorer, rank_faults
from axonad.selftest.result import Cell, Row, SelfTest
from axonad.selftest.settings import Settings
from axonad.selftest.trial import run_self_test

__all__ = ["KINDS", "Cell", "Row", "Scorer", "SelfTest", "Settings", "rank_faults", "run_self_test"]
