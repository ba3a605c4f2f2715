"""``axonad fit``: fit a detector to one or more files and save it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from axonad.alarms.budget import FORMS
from axonad.alarms.recalibrate import learn_rules, matching_values
from axonad.cli import options
from axonad.cli.completion import detector_names
from axonad.cli.missing_values import fill_series, make_filler
from axonad.cli.options import Fill, Force, Ignore, LabelColumn, MaxHold, Separator, TimeColumn
from axonad.cli.output_files import check_output
from axonad.cli.reading import read_options
from axonad.cli.several_files import SeveralFiles, expand
from axonad.cli.terminal import print_json, print_line
from axonad.cli.verbosity import is_verbose
from axonad.config import build, parse_assignments, read_toml
from axonad.data.readers import read
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError, InputError
from axonad.multiview.detector import MultiView
from axonad.multiview.installed import usable_views
from axonad.progress import Stopwatch
from axonad.registry import detector_class
from axonad.report.times import format_time
from axonad.saving import FILES


def fit(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Training data: CSV, Parquet, MDF, BLF, ASC, candump log, MCAP or ROS bag; "
            "several files or a pattern."
        ),
    ],
    model: Annotated[Path, typer.Option("--out", "-o", help="Folder to save the detector in.")],
    detector: Annotated[
        str,
        typer.Option(
            help="Name of the detector; `axonad list`. AxonAD is the paper's.",
            autocompletion=detector_names,
        ),
    ] = "MultiView",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="A parameter as NAME=VALUE; may be repeated."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with parameters; --set takes precedence.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            help="Channel that only sets the scene, such as an ambient temperature: never judged "
            "or blamed. Several: A,B or repeated.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help=f"Accepted false events, {FORMS}: also choose an alarm policy that keeps to it."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds-per-step",
            help="Time between two rows, for the budget. Default: by the times in the data.",
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Use only the first ROWS rows.")] = None,
    time: TimeColumn = None,
    label: LabelColumn = None,
    channels: options.Channels = None,
    ignore: Ignore = None,
    codes: options.Codes = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    fill: Fill = None,
    max_hold: MaxHold = None,
    separator: Separator = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Fit without files that cannot be read, and name them."),
    ] = False,
    as_json: options.AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also print how long each part took.")
    ] = False,
    force: Force = False,
) -> None:
    """Fit a detector to normal data and save it.

    Several files are recordings of the same channels: no window reaches from one to the next.
    """
    for name in FILES:
        check_output(model / name, force=force)
    make_filler(fill, max_hold)  # fails early on bad options
    paths = expand(data)
    if rows is not None and len(paths) > 1:
        raise ConfigError(f"--rows is for one file, got {len(paths)}; leave it out")
    cls = detector_class(detector)
    params = {} if config is None else read_toml(config)
    params |= parse_assignments(cls, settings or [])
    if context:
        params["context"] = _split_names(context)
    given = {"alarm_budget": budget, "seconds_per_step": seconds}
    params |= {name: value for name, value in given.items() if value is not None}
    if cls is MultiView and "views" not in params:
        params["views"] = usable_views()
    made = build(cls, params)
    columns = read_options(
        time=time, label=label, channels=channels, ignore=ignore, codes=codes, rename=rename,
        dbc=dbc, rate=rate, max_age=max_age, separator=separator,
    )  # fmt: skip

    def read_one(path: Path) -> Series:
        return _first_rows(read(path, **columns), rows)

    files = SeveralFiles(paths, stop=not skip_bad)
    watch = Stopwatch()
    with watch.part("reading"):
        raw = files.read(read_one)
    recordings = [fill_series(series, make_filler(fill, max_hold)) for series in raw]
    made.fit(recordings)
    if made.alarm_setup_ is not None and fill is not None:  # by the values before they are filled
        made.set_alarms(
            replace(made.alarm_setup_, rules=learn_rules(made, matching_values(made, raw)))
        )
    made.fit_report_ = replace(
        made.fit_report_, seconds=watch.seconds | dict(made.fit_report_.seconds)
    )
    made.trained_on_ = _describe(recordings)
    made.save(model, overwrite=force)
    count = sum(int(each.labels.sum()) for each in recordings if each.labels is not None)
    if as_json:
        print_json(
            {
                "detector": detector, "parameters": made.get_params(), "saved_to": model,
                "trained_on": made.trained_on_, "labelled_rows": count,
                "report": made.fit_report_.to_json(),
            }
        )  # fmt: skip
    else:
        _print(made, recordings, count)
        if verbose or is_verbose():
            print_line(f"  {made.fit_report_.times()}")
        print_line(f"saved to {model}")
    files.finish()


def _print(made: Detector, recordings: Sequence[Series], labelled: int) -> None:
    """Print the detector and the report of its fit."""
    print_line(f"fitted {made!r}")
    report, *more = str(made.fit_report_).splitlines()
    one = len(recordings) == 1
    print_line(f"  on {recordings[0].name}: {report}" if one else f"  on {report}")
    if labelled:
        print_line(f"  warning: {labelled} of these rows are labelled anomalous", style="yellow")
    for line in more:
        print_line(f"  {line}", style="yellow" if line.startswith("warning") else None)


def _first_rows(series: Series, rows: int | None) -> Series:
    if rows is None:
        return series
    if rows > len(series):
        raise InputError(f"--rows must be at most the series length {len(series)}, got {rows}")
    return series.rows(0, rows)


def _describe(recordings: Sequence[Series]) -> dict[str, str]:
    """Return what a model card says about the training data: name, first and last time."""
    first, last = recordings[0], recordings[-1]
    more = f" and {len(recordings) - 1} more" if len(recordings) > 1 else ""
    about = {"name": first.name + more}
    if first.times is not None and last.times is not None and len(first) and len(last):
        about |= {"from": format_time(first.times[0]), "to": format_time(last.times[-1])}
    return about


def _split_names(texts: list[str]) -> tuple[str, ...]:
    """Return names that are separated by commas, each once.

    >>> _split_names(["a, b", "a"])
    ('a', 'b')
    """
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))
