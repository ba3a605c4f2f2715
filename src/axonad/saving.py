"""Fitted detectors in a folder: ``detector.json`` and ``state.safetensors``.

:class:`Saving` writes them and restores them. :func:`axonad.load` finds the class by its name.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from axonad import modelfile
from axonad.alarms.setup import AlarmSetup
from axonad.conditioning import Conditioning
from axonad.data.context import Context, find_columns
from axonad.data.frames import Names, check_numbered, is_frame, numbered
from axonad.data.raster import parse_duration
from axonad.data.recordings import Recordings
from axonad.data.series import Series, with_times
from axonad.errors import ConfigError, NotFittedError
from axonad.explain.reference import Reference
from axonad.modelfile import check_entries, check_number, take

FORMAT = modelfile.FORMAT
FILES = ("detector.json", "state.safetensors")
KIND = "axonad-detector"
MOST_CHANNELS = 10_000_000
LATER = ("context", "alarm_budget", "seconds_per_step")  # parameters that old models lack
LONGEST = 1000  # characters of a text about the training data
LONGEST_AGE = 2**52  # microseconds


class Saving(Conditioning, ABC):
    """The part of a detector that saves and loads it."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    decision_scores_: NDArray[np.float64]
    threshold_: float
    interval_: float | None = None
    """Sampling interval of the training series in seconds; None if it had no times."""
    recordings_: Recordings
    """How the rows learned from divide into recordings and stretches without a gap; not saved."""
    trained_on_: Mapping[str, str] | None = None
    """Name and times of the training data as text, if whoever called ``fit`` has set it."""
    units_: Mapping[str, str] = MappingProxyType({})
    """Units of the training channels, where they are known; scoring is refused in others."""
    hold_: Mapping[str, int] | None = None
    """For how many microseconds a value of each channel is held on the raster, in files that are
    scored and in live samples alike; None without times or names, and in models of 0.2.0."""
    alarm_setup_: AlarmSetup | None = None
    """Alarm policy and rules for bad data; None unless :meth:`set_alarms` gave it some."""
    reference_: Reference | None = None
    """Sample of the training rows that explains events; None in models saved without one."""
    saved_parameters_: frozenset[str] | None = None
    """Names of the parameters in the file of a loaded detector; None if it was fitted here."""
    _fitted_with: dict[str, Any]

    changeable: ClassVar[frozenset[str]] = frozenset()
    """Parameters that may change after ``fit`` because scoring reads their current value."""

    @property
    def channel_names(self) -> Names:
        """Names of the channels in training; None if they had no names."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names.tolist())

    @property
    @abstractmethod
    def history(self) -> int:
        """Number of rows a score needs, the current one included."""

    def timed(self, X: Any) -> Any:
        """Return a frame to score that has times as a Series; anything else as it is."""
        self.check_fitted()
        names, count = self.channel_names, self.n_features_in_
        if not is_frame(X):
            return X
        found = with_times(X, known=names or numbered(count))
        if names is None:
            own = found.channels if isinstance(found, Series) else map(str, X.columns)
            check_numbered(tuple(own), count=count, of=type(self).__name__)
        return found

    def check_fitted(self) -> None:
        """Raise NotFittedError before ``fit``, ConfigError if a parameter changed since."""
        if not hasattr(self, "threshold_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(X) first")
        for name, value in self._fitted_with.items():
            now = getattr(self, name)
            if now != value and name not in self.changeable:
                raise ConfigError(
                    f"{name} is now {now!r} but the detector was fitted with {value!r}; "
                    "set it back or call fit again"
                )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    @property
    def fingerprint(self) -> str:
        """A hash of parameters and learned state; equal for a detector and its saved copy."""
        self.check_fitted()
        params = {k: v for k, v in self._saved_params().items() if k not in self.changeable}
        identity = [type(self).__name__, params, self.channel_names]
        if self.context_ is not None:
            identity.append(self.context_.to_json())
        return modelfile.fingerprint(identity, self._state()[1])

    def set_alarms(self, setup: AlarmSetup) -> None:
        """Use an alarm policy; its start threshold becomes ``threshold_``.

        ``setup`` comes from :func:`axonad.alarms.recalibrate.recalibrate` and is saved with the
        detector. The threshold before is kept in it. Another ``fit`` removes it. Scores are placed
        at the end of windows from now on (``align``), so that files and streams have the same
        events.
        """
        self.check_fitted()
        if "align" in self.changeable:
            self.set_params(align="end")
        self.alarm_setup_, self.threshold_ = setup, setup.policy.start

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted detector to ``detector.json`` and ``state.safetensors`` in ``folder``.

        An existing save is only replaced with ``overwrite=True``.
        """
        from axonad import __version__

        self.check_fitted()
        values, arrays = self._state()
        document = {
            "kind": KIND,
            "format": FORMAT,
            "axonad": __version__,
            "detector": type(self).__name__,
            "params": self._saved_params(),
            "channels": None if self.channel_names is None else list(self.channel_names),
            "channel_count": self.n_features_in_,
            "threshold": self.threshold_,
            "interval": getattr(self, "interval_", None),
            "state": values,
        }
        if self.alarm_setup_ is not None:
            document["alarms"] = self.alarm_setup_.to_json()
        if self.units_:
            document["units"] = dict(self.units_)
        if self.hold_ is not None:
            document["hold"] = dict(self.hold_)
        if self.context_ is not None:
            document["context"] = self.context_.to_json()
        if self.trained_on_ is not None:
            document["trained_on"] = dict(self.trained_on_)
        arrays = {**arrays, "training_scores": self.decision_scores_}
        if self.reference_ is not None:
            arrays |= self.reference_.to_arrays()
        modelfile.write(folder, names=FILES, document=document, arrays=arrays, overwrite=overwrite)

    def load_state(self, document: Mapping[str, Any], arrays: modelfile.Arrays) -> Self:
        """Restore a saved document; raise KeyError, TypeError or ValueError if it does not fit."""
        self.saved_parameters_ = frozenset(check_entries("params", document["params"]))
        self._load_channels(document["channels"], document["channel_count"])
        self.threshold_ = check_number("threshold", document["threshold"])
        interval = document.get("interval")
        if interval is not None:
            interval = check_number("interval", interval, above=0)
        self.interval_ = interval
        if document.get("alarms") is not None:
            alarms = check_entries("alarms", document["alarms"])
            self.alarm_setup_ = AlarmSetup.from_json(alarms, channels=self.n_features_in_)
        if document.get("trained_on") is not None:
            known = check_entries("trained_on", document["trained_on"])
            self.trained_on_ = {name: str(value)[:LONGEST] for name, value in known.items()}
        if document.get("units") is not None:
            self.units_ = _check_units(document["units"])
        self.hold_ = _load_hold(document, self.channel_names)
        if self.context:
            columns = find_columns(self.context, self.channel_names, self.n_features_in_)
            entries = check_entries("context", document["context"])
            self.context_ = Context.from_json(entries, columns=columns)
        scores = take(arrays, "training_scores", None)
        if len(scores) < self.history:
            raise ValueError(
                f"it has {len(scores)} training scores; a window of the parameters has "
                f"{self.history} rows"
            )
        self.decision_scores_ = scores.astype(np.float64, copy=False)
        self.reference_ = Reference.from_arrays(
            arrays, channels=self.n_features_in_, context=self.context_columns
        )
        self._restore(check_entries("state", document["state"]), arrays)
        self._fitted_with = self.get_params()
        return self

    def _saved_params(self) -> dict[str, Any]:
        """Return the parameters to save; those that came later only if they are set.

        A loaded detector has the names of its file, so that it keeps its fingerprint when a later
        version adds parameters; others only if they were changed.
        """
        params, names = self.get_params(), self.saved_parameters_
        if names is None:
            return {name: value for name, value in params.items() if name not in LATER or value}
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        return {n: value for n, value in params.items() if n in names or value != defaults[n]}

    def _load_channels(self, names: object, count: object) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_CHANNELS:
            raise ValueError(
                f"channel_count is {count!r:.40}; expected an integer from 1 to {MOST_CHANNELS}"
            )
        self.n_features_in_ = count
        if names is None:
            return
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"channels are {names!r:.40}; expected a list of names")
        if len(names) != count:
            raise ValueError("channel names and channel count differ")
        if len(set(names)) < count:
            raise ValueError("a channel name appears more than once")
        self.feature_names_in_ = np.array(names, dtype=object)

    def _state(self) -> tuple[dict[str, Any], modelfile.Arrays]:
        """Return what was learned as JSON values and arrays."""
        raise ConfigError(f"{type(self).__name__} cannot be saved")

    def _restore(self, values: Mapping[str, Any], arrays: modelfile.Arrays) -> None:
        """Restore what ``_state`` returned; raise KeyError or ValueError if it does not fit."""
        raise ConfigError(f"{type(self).__name__} cannot be loaded")


def _check_units(units: object) -> dict[str, str]:
    """Return the units by channel in a saved document."""
    found = check_entries("units", units)
    if not all(isinstance(unit, str) for unit in found.values()):
        raise TypeError(f"units are {units!r:.40}; expected texts by channel")
    return {name: str(unit) for name, unit in found.items()}


def _load_hold(document: Mapping[str, Any], names: Names) -> dict[str, int] | None:
    """Return the time for which each channel's value is held, from a saved document.

    Models of 0.2.0 have one duration for all channels, ``max_age``, or none.
    """
    if document.get("max_age") is not None:
        age = parse_duration("max_age", str(document["max_age"]))
        return None if names is None else dict.fromkeys(names, age)
    if document.get("hold") is None:
        return None
    found = check_entries("hold", document["hold"])
    if set(found) != set(names or ()):
        raise ValueError("hold must have one entry for each channel")
    if any(type(age) is not int or not 0 < age < LONGEST_AGE for age in found.values()):
        raise ValueError(f"hold is {found!r:.60}; expected whole microseconds above 0")
    return dict(found)
