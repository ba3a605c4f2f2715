"""The part of a detector that has alarms: its events, and a budget of false ones set in ``fit``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from axonad.alarms.budget import Budget
from axonad.alarms.calibration import Calibration
from axonad.alarms.drift_batch import marked_events
from axonad.alarms.fitting import calibrate_fit, seconds_of
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.scored import placed_at_end
from axonad.config import check_float
from axonad.data.frames import Matrix
from axonad.explanation import Explanation
from axonad.saving import Saving
from axonad.threshold import Event


class Alarmed(Saving):
    """Base of a detector with alarms.

    Parameters
    ----------
    alarm_budget
        Accepted false events, such as ``"1 per hour"`` or ``"3 per 10000 steps"``. Then ``fit``
        chooses an alarm policy that keeps to it on scores of rows that were held out, and learns
        rules for bad data; ``alarm_setup_`` has both. A detector without held-out training scores
        (``holds_out``) is fitted five more times for this. Scores are placed at the end of windows,
        as :meth:`set_alarms` says.
    seconds_per_step
        Time between two rows, for budgets per hour or day. Default: by the times of the data.
    """

    alarm_budget: str | None
    seconds_per_step: float | None

    divides: ClassVar[bool] = False
    """Whether ``_fit`` keeps its windows within ``recordings_``; if not, it is given one series."""
    holds_out: ClassVar[bool] = False
    """Whether ``decision_scores_`` are scores of rows that the detector had not learned from."""
    can_score_without: ClassVar[bool] = False
    """Whether it learns in seconds, so that data without some channels can be scored by one
    :mod:`fitted without them <axonad.without_channels>`."""

    def changes_without(self) -> Mapping[str, Any]:
        """Return the parameters that differ in a detector fitted without some channels."""
        return {}

    def events(
        self,
        X: Any,
        *,
        gap: int = 0,
        top: int = 4,
        policy: AlarmPolicy | None = None,
        why: bool = False,
    ) -> list[Event]:
        """Return the alarms in ``X`` as events: when, how strong, which ``top`` channels.

        They are those of ``policy``, by default that of ``alarm_setup_``: each an
        :class:`~axonad.alarms.event.AlarmEvent`, by scores at the end of windows, whatever
        ``align`` is; ``gap`` is not used. Without any policy they are the runs of scores above
        ``threshold_``, joined if at most ``gap`` steps apart. ``why`` explains each.
        """
        if policy is None and self.alarm_setup_ is not None:
            policy = self.alarm_setup_.policy
        if policy is None:
            found = self.explain(X)
            events, start = found.events(gap=gap, top=top), self.threshold_
        else:
            found = placed_at_end(self).explain(X)
            alarms = found.alarm_events(policy, top=top)
            events, start = [*marked_events(self, X, found, alarms)], policy.start
        return found.explained(events, threshold=start) if why else events

    @abstractmethod
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what normal looks like from ``X`` (time, channels) and return self."""

    @abstractmethod
    def explain(self, X: Any, *, blame: bool = True) -> Explanation:
        """Return scores, components and, with ``blame``, a value per channel, in one pass."""

    @property
    def scores_at_end(self) -> bool:
        """Whether a window's score is that of its last row."""
        return self.history == 1 or getattr(self, "align", "end") == "end"

    @property
    def lead(self) -> int:
        """Number of rows at the beginning whose score is that of a window that ends later."""
        return self.history - 1 if self.scores_at_end else 0

    def _prepare_alarms(self, recordings: Sequence[Any], interval: float | None) -> None:
        """Raise an error before any training if the recordings cannot serve the budget."""
        if self.alarm_budget is None:
            return
        Budget.parse(self.alarm_budget).steps(seconds_of(self, recordings, interval))
        if "align" in self.changeable:
            self.set_params(align="end")

    def _calibrate_alarms(self, recordings: Sequence[Any], X: Matrix) -> Calibration | None:
        """Set the alarms of a detector just fitted on ``X``, the rows of recordings.

        None without a budget.
        """
        if self.alarm_budget is None:
            return None
        setup, found = calibrate_fit(self, recordings, X, self.alarm_budget)
        self.set_alarms(setup)
        return found

    def _check_params(self) -> None:
        super()._check_params()
        if self.alarm_budget is not None:
            Budget.parse(self.alarm_budget)
        if self.seconds_per_step is not None:
            check_float("seconds_per_step", self.seconds_per_step, above=0)
