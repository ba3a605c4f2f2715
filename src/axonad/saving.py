"""Fitted detectors in a folder: ``detector.json`` and ``state.safetensors``.

:class:`Saving` writes them and restores them. :func:`axonad.load` finds the class by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad import modelfile
from axonad.data.frames import Names
from axonad.errors import ConfigError
from axonad.parameters import Parameters

FORMAT = 1
FILES = ("detector.json", "state.safetensors")
KIND = "axonad-detector"


class Saving(Parameters):
    """The part of a detector that saves and loads it."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    decision_scores_: NDArray[np.float64]
    threshold_: float
    interval_: float | None = None
    """Sampling interval of the training series in seconds; None if it had no times."""
    _fitted_with: dict[str, Any]

    @property
    def channel_names(self) -> Names:
        """Names of the channels in training; None if they had no names."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names.tolist())

    def check_fitted(self) -> None:
        """Raise an error unless the detector is fitted with its current parameters."""
        raise NotImplementedError

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
            "params": self.get_params(),
            "channels": None if self.channel_names is None else list(self.channel_names),
            "channel_count": self.n_features_in_,
            "threshold": self.threshold_,
            "state": values,
        }
        arrays = {**arrays, "training_scores": self.decision_scores_}
        modelfile.write(folder, names=FILES, document=document, arrays=arrays, overwrite=overwrite)

    def load_state(self, document: Mapping[str, Any], arrays: modelfile.Arrays) -> Self:
        """Restore a saved document; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = document["channels"]
        self.n_features_in_ = int(document["channel_count"])
        if channels is not None:
            if len(channels) != self.n_features_in_:
                raise ValueError("channel names and channel count differ")
            self.feature_names_in_ = np.array([str(name) for name in channels], dtype=object)
        self.threshold_ = float(document["threshold"])
        self.decision_scores_ = arrays.pop("training_scores")
        self._restore(document["state"], arrays)
        self._fitted_with = self.get_params()
        return self

    def _state(self) -> tuple[dict[str, Any], modelfile.Arrays]:
        """Return what was learned as JSON values and arrays."""
        raise ConfigError(f"{type(self).__name__} cannot be saved")

    def _restore(self, values: Mapping[str, Any], arrays: modelfile.Arrays) -> None:
        """Restore what ``_state`` returned; raise KeyError or ValueError if it does not fit."""
        raise ConfigError(f"{type(self).__name__} cannot be loaded")
