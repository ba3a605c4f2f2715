"""Forecast and Relation by hand: one regression, one channel, one row at a time."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

from axonad.data.scaling import fit_scaler
from axonad.views.held_out import PENALTIES
from axonad.views.linear import FLOOR, STILL


def inputs(rows, t, j, lags, view):
    """Return what channel j of row t is predicted from."""
    if view == "Forecast":
        return np.concatenate([rows[t - lag] for lag in range(1, lags + 1)])
    if rows.shape[1] == 1:
        return np.array([rows[t - lag, 0] for lag in range(1, lags + 1)])
    return np.concatenate([np.delete(rows[t - lag], j) for lag in range(lags + 1)])


def predict(rows, fitted_on, scored, j, lags, view, penalty):
    """Return predictions of channel j in the scored rows by a regression on the others."""
    design = np.array([inputs(rows, t, j, lags, view) for t in fitted_on])
    model = Ridge(alpha=penalty * len(fitted_on), fit_intercept=False)
    model.fit(design, rows[fitted_on, j])
    return model.predict(np.array([inputs(rows, t, j, lags, view) for t in scored]))


def seen_by(rows, j, groups):
    """Return what channel j is predicted from in place of all channels, and where it is there."""
    for group in groups:
        if j in group.targets and group.inputs is not None:
            columns = [rows[:, i] for i in group.inputs.channels]
            columns += [rows @ mixture for mixture in group.inputs.mixtures.T]
            return np.column_stack(columns), list(group.inputs.channels).index(j)
    return rows, j


def fit_and_score(view, train, test, *, lags, smooth, groups=()):
    """Return the scores of the windows that end in each row: of training, and of other rows."""
    scaler = fit_scaler(train, "soft")
    scaled = scaler.apply(train).astype(np.float64)
    level = scaled.mean(axis=0)
    rows, new = scaled - level, scaler.apply(test).astype(np.float64) - level
    parts = np.array_split(np.arange(lags, len(rows)), 5)
    held_out = np.zeros((len(rows), rows.shape[1]))
    deviations = np.zeros((len(new), rows.shape[1]))
    for j in range(rows.shape[1]):
        seen, here = seen_by(rows, j, groups)
        left = {}
        for penalty in PENALTIES:
            left[penalty] = []
            for part in parts:
                others = np.setdiff1d(np.arange(lags, len(rows)), part)
                found = predict(seen, others, part, here, lags, view, penalty)
                left[penalty].append(rows[part, j] - found)
        best = min(PENALTIES, key=lambda penalty: sum((r**2).sum() for r in left[penalty]))
        unit = max(np.sqrt((r**2).mean()) for r in left[best])
        unit = max(unit, STILL if scaler.still[j] else FLOOR)
        held_out[lags:, j] = np.abs(np.concatenate(left[best])) / unit
        both = np.concatenate([rows, new])
        seen, here = seen_by(both, j, groups)
        scored = np.arange(len(rows) + lags, len(both))
        found = predict(seen, np.arange(lags, len(rows)), scored, here, lags, view, best)
        deviations[lags:, j] = np.abs(both[scored, j] - found) / unit
    return [
        np.array([d[t - smooth + 1 : t + 1].mean(axis=0).max() for t in range(first, len(d))])
        for d, first in ((held_out, lags + smooth - 1), (deviations, lags + smooth - 1))
    ]
