"""From the options of a command to those of ``axonad.read``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from axonad.cli.terminal import print_note
from axonad.data.frames import numbered
from axonad.data.holding import describe_hold
from axonad.data.raster import SECOND, describe_interval, parse_duration, parse_rate
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

    Of a recording, the model's channels are read, on the raster of training and held for as long as
    the model says, unless the options say otherwise.
    """
    found = dict(options)
    found["known"] = detector.channel_names or numbered(detector.n_features_in_)
    if not is_recording(path):
        return found
    if detector.channel_names is not None:
        found.setdefault("channels", detector.channel_names)
    if detector.interval_ is not None:
        found.setdefault("rate", f"{max(1, round(detector.interval_ * SECOND))}us")
    if detector.hold_ is not None:
        found.setdefault("max_age", detector.hold_)
    return found


def say_raster(detector: Detector, options: Mapping[str, Any], paths: Iterable[Path]) -> None:
    """Tell the user on which raster recordings are read, and where it is not that of training."""
    if not any(map(is_recording, paths)):
        return
    rate, age = options.get("rate"), options.get("max_age")
    before = None if detector.interval_ is None else detector.interval_ * SECOND
    trained = "its own rate" if before is None else describe_interval(before)
    hold = detector.hold_
    held = "by the rule for files" if hold is None else describe_hold(hold)
    parts = []
    if rate is not None and (before is None or abs(parse_rate(rate) - before) > 1):
        parts.append(f"{describe_interval(parse_rate(rate))} (--rate; in training {trained})")
    elif before is not None:
        parts.append(f"{trained} as in training")
    if age is not None and {parse_duration("max_age", age)} != set((hold or {}).values()):
        parts.append(f"values held for {age} (--max-age; in training {held})")
    elif hold is not None:
        parts.append(f"values held {held}, as in training")
    if parts:
        print_note(f"raster of recordings: {', '.join(parts)}")
    if hold is None and age is None and before is not None:
        print_note(
            "the model does not say for how long values are held; ten intervals of each channel of "
            "the file were taken. axonad recalibrate on normal recordings writes it into the model"
        )


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
