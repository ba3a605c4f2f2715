"""From the options of a command to those of ``axonad.read``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from axonad.data.raster import SECOND
from axonad.data.readers import is_recording, read
from axonad.data.series import Series
from axonad.data.units import check_units
from axonad.detector import Detector
from axonad.errors import ConfigError, FileError


def read_options(*, rename: Path | None = None, **options: Any) -> dict[str, Any]:
    """Return the options of a command as :func:`axonad.read` takes them; those not given are out.

    ``rename`` is a TOML file.
    """
    found = {name: value for name, value in options.items() if value}
    if rename is not None:
        found["rename"] = read_names(rename)
    return found


def read_names(path: Path) -> dict[str, str]:
    """Return the names in a TOML file of lines ``"name in the file" = "name to use"``."""
    try:
        names = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
    for old, new in names.items():
        if not isinstance(new, str) or not new:
            raise ConfigError(
                f"{path}: {old!r} must be a name in quotation marks, got {new!r:.40}; write names "
                f'with a dot or a space in quotation marks: "{old}" = "new name"'
            )
    return names


def for_model(options: Mapping[str, Any], detector: Detector, path: Path) -> dict[str, Any]:
    """Return the options of a file that a model scores.

    Of a recording, the model's channels are read at the model's rate.
    """
    found = dict(options)
    if not is_recording(path):
        return found
    if detector.channel_names is not None:
        found.setdefault("channels", detector.channel_names)
    if detector.interval_ is not None:
        found.setdefault("rate", f"{max(1, round(detector.interval_ * SECOND))}us")
    return found


def read_for_model(
    path: Path, options: Mapping[str, Any], detector: Detector, *, ignore_extra: bool = False
) -> Series:
    """Return the series of a file that a model scores; ``ignore_extra`` drops other channels."""
    series = checked(read(path, **for_model(options, detector, path)), detector)
    known = detector.channel_names if ignore_extra else None
    return series if known is None else series.keep(known)


def checked_chunks(chunks: Iterable[Series], detector: Detector) -> Iterator[Series]:
    """Yield chunks as :func:`checked` returns them."""
    return (checked(chunk, detector) for chunk in chunks)


def checked(series: Series, detector: Detector) -> Series:
    """Return the series; raise an error if its units are not those of training."""
    check_units(detector.units_, series)
    return series
