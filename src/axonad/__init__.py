"""axonad: anomaly detection in multivariate time series.

>>> import axonad
>>> axonad.list_detectors()[0].name
'MultiView'

Names are loaded on first use, so ``import axonad`` stays light.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from axonad.axon import AxonAD as AxonAD
    from axonad.data.readers import read as read
    from axonad.data.series import Series as Series
    from axonad.detector import Detector as Detector
    from axonad.errors import AxonADError as AxonADError
    from axonad.joint_fit import fit_many as fit_many
    from axonad.metrics import evaluate as evaluate
    from axonad.multiview.detector import MultiView as MultiView
    from axonad.registry import list_detectors as list_detectors
    from axonad.registry import load as load
    from axonad.registry import make_detector as make_detector
    from axonad.stream import Fleet as Fleet
    from axonad.stream import Session as Session
    from axonad.stream import Step as Step

_EXPORTS = {
    "AxonAD": "axonad.axon",
    "AxonADError": "axonad.errors",
    "Detector": "axonad.detector",
    "Fleet": "axonad.stream",
    "MultiView": "axonad.multiview.detector",
    "Series": "axonad.data.series",
    "Session": "axonad.stream",
    "Step": "axonad.stream",
    "evaluate": "axonad.metrics",
    "fit_many": "axonad.joint_fit",
    "list_detectors": "axonad.registry",
    "load": "axonad.registry",
    "make_detector": "axonad.registry",
    "read": "axonad.data.readers",
}

_GONE = {"FleetScorer": "Fleet", "StreamScorer": "Session"}  # what became of names of 0.2

__all__ = ["__version__", *_EXPORTS]  # noqa: PLE0604 - the names are strings


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        from axonad.errors import suggest

        if name in _GONE:
            raise AttributeError(f"{name} became axonad.{_GONE[name]}; see docs/upgrade.md")
        raise AttributeError(f"axonad has no name {name!r}{suggest(name, _EXPORTS)}")
    from axonad.extras import need

    value = getattr(need(_EXPORTS[name], what=f"{name} needs"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
