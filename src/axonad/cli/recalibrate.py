"""``axonad recalibrate``: give a saved model alarms that keep a budget of false events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.alarms.budget import FORMS, Budget
from axonad.alarms.calibration import HYSTERESIS, Calibration
from axonad.alarms.held_out import FOLDS
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.recalibrate import default_shape
from axonad.alarms.recalibrate import recalibrate as find_alarms
from axonad.alarms.setup import AlarmSetup
from axonad.cli import options
from axonad.cli.missing_values import fill_series, make_filler
from axonad.cli.output_files import check_output
from axonad.cli.reading import read_for_model, read_options, say_raster
from axonad.cli.several_files import SeveralFiles, expand
from axonad.cli.terminal import print_json, print_line, print_note
from axonad.config import build, parse_assignments
from axonad.data.frames import Names
from axonad.data.holding import learn_hold
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.registry import load
from axonad.saving import FILES

SET_BY_BUDGET = ("start", "end", "level", "pace")


def recalibrate(
    model: options.ModelFolder,
    data: Annotated[
        list[Path], typer.Argument(help="Normal recordings, CSV or Parquet; files or a pattern.")
    ],
    budget: Annotated[str, typer.Option(help=f"Accepted false events: {FORMS}.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder to save the new model in.")],
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds-per-step", help="Time between two rows. Default: by the times in the data."
        ),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="The model has learned from these recordings: leave each out in turn and score it "
            "with a model fitted on the others.",
        ),
    ] = False,
    folds: Annotated[int, typer.Option(min=2, help="Most fits with --refit.")] = FOLDS,
    hysteresis: Annotated[
        float,
        typer.Option(
            help="How far below the start threshold an event ends: 0 at it, 1 at the median score."
        ),
    ] = HYSTERESIS,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            help="A number of the alarm policy as NAME=VALUE, such as min_duration=3; may be "
            "repeated. Default: as before, or by the model's window.",
        ),
    ] = None,
    device: options.Device = None,
    time: options.TimeColumn = None,
    label: options.LabelColumn = None,
    ignore: options.Ignore = None,
    ignore_extra: options.IgnoreExtra = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    fill: options.Fill = None,
    max_hold: options.MaxHold = None,
    separator: options.Separator = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Choose the alarm threshold at which normal data stays within a budget of events.

    Writes a copy of the model with an alarm policy and rules for bad data, and keeps the threshold
    before. `axonad score` and `axonad stream` then use them. Labels in the data are ignored.
    """
    for name in FILES:
        check_output(folder / name, force=force, inputs=[model / name])
    allowed = Budget.parse(budget)
    make_filler(fill, max_hold)  # fails early on bad options
    detector = load(model)
    changes = {"device": device, "verbose": False}
    known = detector.get_params()
    detector.set_params(**{k: v for k, v in changes.items() if k in known and v is not None})
    shape = _shape(detector, settings or [])
    columns = read_options(
        time=time, label=label, ignore=ignore, rename=rename, dbc=dbc, rate=rate,
        max_age=max_age, separator=separator,
    )  # fmt: skip

    def read_one(path: Path) -> Series:
        return read_for_model(path, columns, detector, ignore_extra=ignore_extra)

    paths = expand(data)
    files = SeveralFiles(paths)
    raw = files.read(read_one)
    say_raster(detector, columns, paths)
    filled = [_filled(series, detector, fill, max_hold) for series in raw]
    setup, found = find_alarms(
        detector, filled, budget=allowed, refit=refit, folds=folds, seconds_per_step=seconds,
        shape=shape, hysteresis=hysteresis, raw=raw,
    )  # fmt: skip
    before = detector.threshold_
    detector.set_alarms(setup)
    if detector.hold_ is None or max_age is not None:
        detector.hold_ = learn_hold(filled, detector.channel_names, detector.interval_)
    detector.save(folder, overwrite=force)
    for line in found.warnings():
        print_note(line)
    if as_json:
        print_json(
            {
                "saved_to": folder, "version": setup.version, "threshold_before": before,
                "policy": setup.policy.to_json(), "calibration": found.to_json(),
                "supports_budget": found.supports_budget, "warnings": found.warnings(),
                "watches_drift": setup.drift is not None,
            }
        )  # fmt: skip
    else:
        _print(found, setup, before, detector.channel_names)
        print_line(f"saved to {folder}")
    files.finish()


def _shape(detector: Detector, settings: list[str]) -> AlarmPolicy:
    """Return the durations and gaps of the new policy."""
    changes = parse_assignments(AlarmPolicy, settings)
    for name in SET_BY_BUDGET:
        if name in changes:
            raise ConfigError(f"{name} is chosen by the budget; leave out --set {name}=...")
    before = detector.alarm_setup_
    shape = default_shape(detector.history) if before is None else before.policy
    return build(AlarmPolicy, vars(shape) | changes)


def _filled(series: Series, detector: Detector, fill: str | None, max_hold: int | None) -> Series:
    return fill_series(series, make_filler(fill, max_hold, interval=detector.interval_))


def _print(found: Calibration, setup: AlarmSetup, before: float, names: Names) -> None:
    """Print what the calibration rests on and what has changed."""
    for line in found.notes():
        print_line(line)
    policy = setup.policy
    print_line(
        f"alarms version {setup.version}: start {before:.4g} before, {policy.start:.4g} now; end "
        f"{policy.release:.4g}, min_duration {policy.min_duration}, merge_gap {policy.merge_gap}, "
        f"cause_gap {policy.cause_gap}, keep_firing {policy.keep_firing}"
    )
    for line in [] if setup.drift is None else setup.drift.notes(names):
        print_line(line)
