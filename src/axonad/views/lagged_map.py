"""Linear maps from lagged rows to residuals of the channels, of all at once or in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.modelfile import Arrays, check_indices, take
from axonad.views.lagged_rows import LaggedMoments, apply_lagged

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Inputs:
    """What channels are predicted from: some channels, and mixtures of the others."""

    channels: Indices
    mixtures: Array  # (channels of the series, mixtures)

    def of(self, values: Array) -> Array:
        """Return the inputs in place of the channels, which are the last axis."""
        return np.concatenate([values[..., self.channels], values @ self.mixtures], axis=-1)

    def moments(self, moments: LaggedMoments) -> LaggedMoments:
        """Return the moments of the inputs."""
        rows = (
            np.concatenate([each[self.channels], self.mixtures.T @ each]) for each in moments.first
        )
        first = np.array([self.of(each) for each in rows])
        return LaggedMoments(first, self.of(moments.before), self.of(moments.after))


@dataclass(frozen=True)
class Group:
    """Channels that are predicted from the same inputs, of which they are the first.

    ``inputs`` None are all channels; then all are predicted.
    """

    targets: Indices  # ascending
    inputs: Inputs | None = None

    def of(self, values: Array) -> Array:
        """Return the inputs in place of the channels, which are the last axis."""
        return values if self.inputs is None else self.inputs.of(values)

    def moments(self, moments: LaggedMoments) -> LaggedMoments:
        """Return the moments of the inputs."""
        return moments if self.inputs is None else self.inputs.moments(moments)


@dataclass(frozen=True)
class LaggedMap:
    """The residuals of all channels from lagged rows: a matrix, or one for each group of them."""

    groups: tuple[Group, ...]
    weights: tuple[Array, ...]  # of each group (lags + 1, inputs, targets)

    @property
    def lags(self) -> int:
        """Number of rows before the current one."""
        return len(self.weights[0]) - 1

    @cached_property
    def channels(self) -> int:
        """Number of channels."""
        return sum(len(group.targets) for group in self.groups)

    def without(self, channels: tuple[int, ...]) -> Self:
        """Return the same with residuals 0 of some channels."""
        weights = tuple(
            np.where(np.isin(group.targets, channels), 0.0, own)
            for group, own in zip(self.groups, self.weights, strict=True)
        )
        return type(self)(self.groups, weights) if channels else self

    def residuals(self, rows: Array) -> Array:
        """Return the residuals of rows that follow one another; the first ``lags`` have none."""
        if len(self.groups) == 1:
            return apply_lagged(rows, self.weights[0])
        result = np.empty((len(rows) - self.lags, self.channels))
        for group, weights in zip(self.groups, self.weights, strict=True):
            result[:, group.targets] = apply_lagged(group.of(rows), weights)
        return result

    def last_residuals(self, rows: Array) -> Array:
        """Return the residuals of the last row of streams (streams, lags + 1, channels)."""
        if len(self.groups) == 1:
            return np.asarray(rows.reshape(len(rows), -1) @ self._oldest_first[0])
        mixtures, inputs, places = self._joined
        values = [rows.reshape(len(rows), -1), (rows @ mixtures).reshape(len(rows), -1)]
        given = np.concatenate(values, axis=1).take(inputs, axis=1).transpose(1, 0, 2)
        found = (given @ self._oldest_first).transpose(1, 0, 2).reshape(len(rows), -1)
        return np.asarray(found.take(places, axis=1))

    @cached_property
    def _oldest_first(self) -> Array:
        """The weights of joined rows (groups, rows x inputs, most targets), padded with zeros."""
        most = max(weights.shape[2] for weights in self.weights)
        result = np.zeros((len(self.weights), (self.lags + 1) * self.weights[0].shape[1], most))
        for own, weights in zip(result, self.weights, strict=True):
            own[:, : weights.shape[2]] = np.concatenate(weights[::-1])
        return result

    @cached_property
    def _joined(self) -> tuple[Array, Indices, Indices]:
        """The mixtures of all groups, and where inputs and residuals of all groups stand.

        Inputs among the values of joined rows, followed by the mixtures of joined rows; residuals
        among the products with ``_oldest_first``.
        """
        given = [group.inputs for group in self.groups if group.inputs is not None]
        mixtures = np.concatenate([each.mixtures for each in given], axis=1)
        steps = np.arange(self.lags + 1)[:, None]
        mixed = mixtures.shape[1]
        inputs, residuals, first = (
            [],
            np.zeros(self.channels, dtype=np.intp),
            len(steps) * len(mixtures),
        )
        for i, (group, each) in enumerate(zip(self.groups, given, strict=True)):
            own = i * each.mixtures.shape[1] + np.arange(each.mixtures.shape[1])
            both = [steps * len(mixtures) + each.channels, first + steps * mixed + own]
            inputs.append(np.concatenate(both, axis=1).ravel())
            residuals[group.targets] = np.arange(len(group.targets))
            residuals[group.targets] += i * self._oldest_first.shape[2]
        return mixtures, np.array(inputs), residuals

    # -- files -------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Return the map as arrays to save."""
        if len(self.groups) == 1:
            return {"map": self.weights[0]}
        inputs = [group.inputs for group in self.groups if group.inputs is not None]
        order = np.argsort(np.concatenate([group.targets for group in self.groups]))
        number = np.repeat(np.arange(len(inputs)), [len(group.targets) for group in self.groups])
        return {
            "map": np.concatenate(self.weights, axis=2)[:, :, order],
            "group": number[order],
            "inputs": np.array([each.channels for each in inputs]),
            "mixtures": np.array([each.mixtures for each in inputs]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], *, lags: int, channels: int) -> Self:
        """Return a saved map. Raises KeyError or ValueError if it does not fit."""
        if "group" not in arrays:
            weights = take(arrays, "map", lags + 1, channels, channels)
            return cls((Group(np.arange(channels)),), (weights,))
        lengths: dict[str, int] = {}
        inputs = take(arrays, "inputs", "groups", None, whole=True, lengths=lengths)
        mixtures = take(arrays, "mixtures", "groups", channels, None, lengths=lengths)
        number = take(arrays, "group", channels, whole=True)
        check_indices("inputs", inputs, low=0, count=channels)
        check_indices("group", number, low=0, count=len(inputs))
        width = inputs.shape[1] + mixtures.shape[2]
        weights = take(arrays, "map", lags + 1, width, channels)
        targets = [np.flatnonzero(number == i) for i in range(len(inputs))]
        groups = tuple(
            Group(own, Inputs(given.astype(np.intp), mixed))
            for own, given, mixed in zip(targets, inputs, mixtures, strict=True)
        )
        return cls(groups, tuple(np.ascontiguousarray(weights[:, :, own]) for own in targets))
