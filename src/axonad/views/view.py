"""What MultiView asks of a view: that it can be tested on rows which it has not learned from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.detector import Detector


class LastFold(NamedTuple):
    """The rows at the end of training that a view held out last, and the view without them."""

    start: int
    """The first of the rows; the others follow up to the end of training."""
    changes: Mapping[str, Any]
    """Attributes that differ in the view that has not learned from these rows."""


class HeldOutView(NamedTuple):
    """A view that has not learned from the training rows from ``start`` on."""

    start: int
    view: Detector


@dataclass(kw_only=True, eq=False, repr=False)
class View(Detector):
    """Base of the views: a detector that knows what it is without its last held-out rows."""

    @abstractmethod
    def _learn(self, X: Matrix, names: Names) -> tuple[NDArray[np.float64], LastFold | None]:
        """Learn from checked data; return held-out scores, and the last fold, None if none is."""

    def _fit(self, X: Matrix, names: Names) -> NDArray[np.float64]:
        return self._learn(X, names)[0]

    def fit_and_hold_out(
        self, X: Matrix, names: Names, recordings: Recordings
    ) -> HeldOutView | None:
        """Fit on checked data; return the view as it is without the last rows, None if too few."""
        last: LastFold | None = None

        def learn(X: Matrix, names: Names) -> NDArray[np.float64]:
            nonlocal last
            scores, last = self._learn(X, names)
            return scores

        self.fit_by(learn, X, names, recordings=recordings, explained=False)
        if last is None:
            return None
        view = copy(self)
        vars(view).update(last.changes)
        return HeldOutView(last.start, view)
