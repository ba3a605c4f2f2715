"""The ways in: each scores a pair as a user would, and puts what it shows into the neutral form.

Only this file knows the names, keys and formats of the present version.
"""

from __future__ import annotations

import contextlib
import html
import io
import json
import math
import os
import re
import shutil
import sys
import threading
import warnings
from functools import cache
from pathlib import Path

import httpx
import numpy as np
import polars as pl

import axonad
from axonad.bench.execute import execute
from axonad.bench.job import Job, Protocol
from axonad.bench.own_files import find_own_files, load_own_file
from axonad.cli import main
from axonad.data.holding import hold_missing
from axonad.data.timing import to_second
from axonad.errors import AxonADError
from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.local import LocalEngine
from axonad.live.sample import Delivery, Sample
from axonad.live.store.choose import open_store
from axonad.live.web.app import create_app
from axonad.live.web.explaining import Explainer
from axonad.registry import make_detector
from axonad.stream import Fleet
from tests.golden.cases import LABELLED, PAIRS, Pair
from tests.golden.form import Outcome
from tests.golden.series import as_series, samples_of

CHUNK = 300  # rows
SAVED_EVERY = 50  # rows between two saves of a stream that is killed
DELIVERY = 256  # samples of a live delivery

REFUSALS = (  # the beginning of a sentence, or a part of it → kind
    ("missing value", r"NaN or infinite value"),
    ("missing value", r"silent for more than|has no value at row"),
    ("missing channel", r"lacks channels?|the header lacks"),
    ("extra channel", r"not in model|the header has"),
    ("unknown channel", r"unknown channel"),
    ("other unit", r"was .* in training, is .* here"),
    (
        "too short",
        r"needs? at least|first score needs|must be at most the series length|at least \d+ rows",
    ),
    ("time backwards", r"runs backwards"),
    ("no alarm policy", r"no alarm policy"),
    ("no channel names", r"without channel names"),
    ("diverged", r"NaN or infinite score|not finite"),
    ("late", r"^late$"),
)


def refusal(sentence, row=None):
    """Return a refusal in the neutral form."""
    kind = next((kind for kind, part in REFUSALS if re.search(part, sentence)), None)
    assert kind is not None, f"a refusal of no known kind: {sentence}"
    return {"kind": kind, "row": row, "sentence": sentence}


# -- times and rows --------------------------------------------------------------------------------


def micros_of(time):
    """Return a time as whole microseconds, None without one."""
    if time is None:
        return None
    return round(float(to_second(time)) * 1e6)


class Clock:
    """The times of the rows of a series, and the row of a time."""

    def __init__(self, series):
        self.micros = None
        if series.times is not None:
            self.micros = series.times.astype("datetime64[us]").astype(np.int64)

    def row(self, micros):
        """Return the row at a time, or the one before it."""
        return int(np.searchsorted(self.micros, micros, side="right")) - 1


def ordered(events):
    """Return events in an order that no way in decides."""
    return sorted(
        events, key=lambda e: (e["start"], e["category"], e.get("fired", 0), e.get("number", 0))
    )


def finite(value):
    """Return a number, None if it is none."""
    return None if value is None or not math.isfinite(value) else float(value)


# -- Python ----------------------------------------------------------------------------------------


def neutral(event):
    """Return an event of the library in the neutral form."""
    found = {
        "category": getattr(event, "kind", "anomaly"), "start": event.start, "end": event.end,
        "peak": event.peak, "score": finite(event.score), "channels": list(event.channels),
    }  # fmt: skip
    if hasattr(event, "fired"):
        found |= {
            "number": event.number, "fired": event.fired, "severity": event.severity,
            "reason": event.reason, "drift": event.drift, "gathered": event.gathered,
        }  # fmt: skip
    if event.why is not None:
        found |= {
            "fault": event.why.kind, "sentence": event.why.sentence,
            "leading": list(event.why.channels),
        }  # fmt: skip
    return found


def load(pair):
    """Return the model of a pair as a user has it, without the channels that the series lacks."""
    detector = axonad.load(pair.model_path)
    if pair.allow_missing:
        known = as_series(pair).channels
        detector = detector.without([n for n in detector.channel_names if n not in known])
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)
    return detector


def python(pair: Pair, folder: Path) -> Outcome:
    """``decision_function`` and ``events`` of a Series."""
    detector, series = load(pair), as_series(pair)
    gap = detector.history // 4 if detector.alarm_setup_ is None else 0
    try:
        if pair.hold is not None:
            series = hold_missing(series, max_hold=pair.hold, interval=detector.interval_)
        scores = detector.decision_function(series)
        events = [neutral(event) for event in detector.events(series, gap=gap, why=pair.explained)]
    except AxonADError as error:
        return Outcome(refused=[refusal(str(error))])
    return Outcome(scores, ordered(events))


# -- the command line ------------------------------------------------------------------------------


def run(*words, stdin=None):
    """Run a command in this process; return its exit code, stdout and stderr."""
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    try:
        if stdin is not None:
            sys.stdin = stdin if hasattr(stdin, "readline") else io.StringIO(stdin)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), wide():
            try:
                main([str(word) for word in words])
            except SystemExit as ended:
                code = ended.code
    finally:
        sys.stdin = before
    return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def wide():
    """Let no sentence of the command line be broken into lines."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "1000"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def options_of(pair):
    """Return the options of a command that scores the file of a pair."""
    words = []
    if pair.hold is not None:
        words += ["--fill", "hold", "--max-hold", pair.hold]
    if pair.allow_missing:
        words += ["--allow-missing"]
    return words


def file_of(pair, folder):
    """Return the file of a pair; a table with units is a CSV file with a second header line."""
    if pair.units is None:
        return pair.path
    series = as_series(pair)
    lines = pl.read_parquet(pair.path).write_csv().splitlines()
    lines.insert(
        1, ",".join(["" if series.times is None else "s", *pair.units][-len(lines[0].split(",")) :])
    )
    path = folder / f"{pair.series}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def error_of(err):
    """Return the sentence of a command that failed."""
    line = next(line for line in err.splitlines() if line.startswith("error: "))
    sentence = line.removeprefix("error: ")
    return re.sub(r"^\S+\.(csv|parquet|mcap): ", "", sentence)


def read_events(records, clock):
    """Return the events of a file of events in the neutral form."""
    found = []
    for record in records:
        event = {
            "category": record.get("class") or "anomaly", "start": record["start"],
            "end": record["end"] + 1, "peak": record["peak"], "score": record["score"],
            "channels": record["channels"],
        }  # fmt: skip
        if "class" in record:
            event |= {
                "severity": record["severity"], "reason": record["reason"] or "",
                "fired": record["fired"], "drift": record["drift"],
            }  # fmt: skip
        if clock.micros is not None:
            event |= {"begin_us": micros_of(record["from"]), "last_us": micros_of(record["to"])}
        if (why := record.get("why")) is not None:
            event |= {"fault": why["kind"], "sentence": why["sentence"], "leading": why["channels"]}
        found.append(event)
    return ordered(found)


def score(pair: Pair, folder: Path) -> Outcome:
    """``axonad score`` of the whole file."""
    return _score(pair, folder, "--explain" if pair.explained else "--force")


def chunks(pair: Pair, folder: Path) -> Outcome:
    """``axonad score --chunk``."""
    return _score(pair, folder, "--chunk", CHUNK)


def _score(pair, folder, *words):
    target, events = folder / "scores.parquet", folder / "events.json"
    for path in (target, events):
        path.unlink(missing_ok=True)
    code, _, err = run(
        "score", pair.model_path, file_of(pair, folder), "--out", target, "--events", events,
        *options_of(pair), *words,
    )  # fmt: skip
    if code:
        return Outcome(refused=[refusal(error_of(err))])
    table = pl.read_parquet(target)
    scores = table["score"].to_numpy().astype(float)
    found = read_events(json.loads(events.read_text(encoding="utf-8")), Clock(as_series(pair)))
    return Outcome(scores, found)


# -- streams ---------------------------------------------------------------------------------------


def lines_of(pair):
    """Return the lines that a user pipes into ``axonad stream``: CSV with a header."""
    series = as_series(pair)
    columns = {} if series.times is None else {"time": series.times}
    columns |= {name: series.values[:, i] for i, name in enumerate(series.channels)}
    table = pl.DataFrame(columns).fill_nan(None)
    if series.times is not None:
        table = table.with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"))
    return table.write_csv().splitlines()


def stream_words(pair, folder, events):
    words = ["stream", pair.model_path, "--events", folder / events]
    if pair.hold is not None:
        words += ["--max-hold", pair.hold]
    if pair.allow_missing:
        words += ["--allow-missing"]
    return words + (["--explain"] if pair.explained else [])


def read_answers(answers, rows):
    """Return scores by row, and refusals, from what ``axonad stream`` answers."""
    scores, refused = np.full(rows, np.nan), []
    for answer in answers:
        if "score" in answer:
            scores[answer["step"]] = answer["score"]
        if "error" in answer:
            refused.append(refusal(answer["error"], answer["step"]))
    return scores, refused


def stream(pair: Pair, folder: Path) -> Outcome:
    """``axonad stream`` from its first row to its last."""
    series, events = as_series(pair), folder / "stream.jsonl"
    events.unlink(missing_ok=True)
    code, out, err = run(*stream_words(pair, folder, events.name), stdin="\n".join(lines_of(pair)))
    if code:
        return Outcome(refused=[refusal(error_of(err))])
    scores, refused = read_answers(map(json.loads, out.splitlines()), len(series))
    records = (
        [json.loads(line) for line in events.read_text().splitlines()] if events.exists() else []
    )
    return Outcome(scores, read_events(records, Clock(series)), refused)


class KilledInput:
    """Lines of standard input; at one of them the files are set aside as after a kill."""

    def __init__(self, lines, *, at, keep):
        self._lines, self._at, self._keep, self._read = lines, at, keep, 0

    def readline(self, size=-1):
        if self._read == self._at:
            self._keep()
            return ""
        self._read += 1
        return self._lines[self._read - 1] + "\n"


def resumed(pair: Pair, folder: Path) -> Outcome:
    """``axonad stream --state``, killed in an event, and started again from what was on disk."""
    series, lines = as_series(pair), lines_of(pair)
    names, aside = ("state.json", "resumed.jsonl"), folder / "aside"
    for name in names:
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(aside, ignore_errors=True)

    def keep():
        aside.mkdir()
        for name in names:
            if (folder / name).exists():
                shutil.copy(folder / name, aside / name)

    words = [*stream_words(pair, folder, "resumed.jsonl"), "--state", folder / "state.json"]
    words += ["--save-every", min(SAVED_EVERY, kill_row(pair, len(series)))]
    killed = KilledInput(lines, at=1 + kill_row(pair, len(series)), keep=keep)
    code, out, err = run(*words, stdin=killed)
    if code:
        return Outcome(refused=[refusal(error_of(err))])
    for name in names:
        (folder / name).unlink(missing_ok=True)
        if (aside / name).exists():
            shutil.copy(aside / name, folder / name)
    state = folder / "state.json"
    saved = json.loads(state.read_text())["counts"][0] if state.exists() else 0
    first = [json.loads(line) for line in out.splitlines()]
    code, out, err = run(*words, stdin="\n".join([lines[0], *lines[1 + saved :]]))
    assert code == 0, err
    answers = [answer for answer in first if answer["step"] < saved]
    scores, refused = read_answers([*answers, *map(json.loads, out.splitlines())], len(series))
    path = folder / "resumed.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return Outcome(scores, read_events(records, Clock(series)), refused)


def kill_row(pair, rows):
    """Return the row before which the stream is killed: within the faults of most series."""
    return min(rows - 1, pair.killed)


# -- fleets ----------------------------------------------------------------------------------------


def fleet(pair: Pair, folder: Path) -> Outcome | None:
    """A fleet with all series of the model that may be scored together."""
    if pair.units:
        return None  # rows have no units
    return fleet_of(pair.model, pair.hold, pair.allow_missing)[pair.name]


@cache
def fleet_of(model, hold, allow_missing):
    """Return the outcomes of the pairs of a model that are held alike, scored as one fleet."""
    pairs = [p for p in PAIRS if (p.model, p.hold, p.allow_missing) == (model, hold, allow_missing)]
    pairs = [pair for pair in pairs if not pair.units]
    detector = load(pairs[0])
    known = Fleet(detector, **({} if hold is None else {"hold_limit": hold}))
    series = {pair.name: as_series(pair) for pair in pairs}
    scores = {name: np.full(len(one), np.nan) for name, one in series.items()}
    refused = {name: [] for name in series}
    stopped, changes = set(), []
    for row in range(max(map(len, series.values()))):
        rows, times = {}, {}
        for name, one in series.items():
            if row < len(one) and name not in stopped:
                values = dict(zip(one.channels, one.values[row].tolist(), strict=True))
                rows[name] = values if detector.channel_names else one.values[row].tolist()
                if one.times is not None:
                    times[name] = one.times[row]
        for name, step in push(known, rows, times, refused, stopped, row).items():
            scores[name][row] = step.scores[0]
            refused[name] += [refusal(one.reason, one.row) for one in step.refused]
            changes += step.changes
    for name in known.vehicles:
        changes += known.finish(name)
    events = {name: changed([c for c in changes if c.event.vehicle == name]) for name in series}
    judged = detector.alarm_setup_ is not None
    return {
        name: Outcome(None if name in stopped else scores[name],
                      ordered(events[name]) if judged and name not in stopped else None,
                      refused[name])
        for name in series
    }  # fmt: skip


def changed(changes):
    """Return the final events of a vehicle, each with the rows at which it changed."""
    found = []
    for last in (change for change in changes if change.what == "final"):
        own = [
            c
            for c in changes
            if (c.event.kind, c.event.number) == (last.event.kind, last.event.number)
        ]
        found.append(
            neutral(last.event) | {"changes": [[change.what, change.row] for change in own]}
        )
    return found


def push(known, rows, times, refused, stopped, row):
    """Push one row of each vehicle; one whose rows do not fit the model takes no further part."""
    while rows:
        try:
            return known.push(rows, times)
        except AxonADError as error:
            name = re.match(r"vehicle '([^']+)': ", str(error))[1]
            refused[name].append(refusal(str(error).partition(": ")[2], row))
            stopped.add(name)
            del rows[name]
            times.pop(name, None)
    return {}


# -- live ------------------------------------------------------------------------------------------


def live(pair: Pair, folder: Path) -> Outcome | None:
    """The live server with a store in SQLite: REST for scores and events, pages for sentences."""
    if pair.allow_missing or pair.units:
        return None  # there is no such option
    return live_of(pair.model, pair.hold, folder.parent)[pair.name]


class Receipts:
    """Waits until deliveries are stored."""

    def __init__(self):
        self.count, self._all, self._changed = 0, [], threading.Condition()

    def __call__(self, receipt):
        with self._changed:
            self._all.append(receipt)
            self._changed.notify_all()

    def wait(self, count):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._all) >= count, timeout=120)


@cache
def live_of(model, hold, folder):
    """Return the outcomes of the pairs of a model that are held alike, as one fleet of vehicles."""
    pairs = [
        p
        for p in PAIRS
        if (p.model, p.hold) == (model, hold) and not p.allow_missing and not p.units
    ]
    detector, other = load(pairs[0]), load(pairs[0])
    limit = {} if hold is None else {"hold_limit": hold}
    store = folder / f"{model}-{hold}.db"
    for path in folder.glob(f"{store.name}*"):
        path.unlink()
    config = LiveConfig(
        input=Input(commit_every="0s", max_ahead="1d", ignore_extra=False, **limit),
        store=Storing(url=f"sqlite:{store}"),
    )
    try:
        engine = LocalEngine(detector, open_store(config.store), config)
        engine.start()
    except AxonADError as error:
        return {pair.name: Outcome(refused=[refusal(str(error))]) for pair in pairs}
    receipts, sent = Receipts(), 0
    for pair in pairs:
        samples = [Sample(pair.name, time, values) for time, values in samples_of(pair)]
        if samples[-1].values.keys() <= set(detector.channel_names or ()):  # else all are refused
            samples.append(Sample(pair.name, samples[-1].time + 1, {}))  # the end of the stream
        for first in range(0, len(samples), DELIVERY):
            engine.submit(
                Delivery(samples[first : first + DELIVERY], "golden", receipts), timeout=60
            )
            sent += 1
            receipts.wait(sent)
    app = create_app(engine, config, None, explain=Explainer(other))
    with client_of(app) as client:
        found = {pair.name: live_outcome(pair, client) for pair in pairs}
    engine.stop()
    return found


@contextlib.contextmanager
def client_of(app):
    """A client of the web server's application, without a network."""
    import asyncio

    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:8757")
    with asyncio.Runner() as runner:
        yield lambda path, **params: runner.run(client.get(path, params=params))
        runner.run(client.aclose())


def live_outcome(pair, client):
    """Return what REST and the pages show of a vehicle."""
    series = as_series(pair)
    clock, rows, after = Clock(series), {}, None
    while True:
        params = {"limit": 10_000} | ({"after": after} if after else {})
        page = client(f"/api/v1/vehicles/{pair.name}/scores", **params)
        if page.status_code == 404:
            return Outcome(scores=None, events=[], refused=live_refusals(None))
        answer = page.json()
        times = [round(second * 1e6) for second in answer["times"]]
        rows.update(zip(times, answer["scores"], strict=True))
        after = answer["next"]
        if after is None:
            break
    clock = clock if clock.micros is not None else sample_clock(pair)
    scores = np.array([rows.get(int(t)) for t in clock.micros], dtype=float)
    events, after = [], None
    while True:
        params = {"vehicle": pair.name, "limit": 100} | ({"after": after} if after else {})
        answer = client("/api/v1/events", **params).json()
        events += [live_event(event, clock, client) for event in answer["events"]]
        after = answer["next"]
        if after is None:
            break
    counts = client(f"/api/v1/vehicles/{pair.name}").json()["counts"]
    return Outcome(scores, ordered(events), live_refusals(counts))


def live_refusals(counts):
    """Return what the server counted of samples that it did not take."""
    if counts is None:
        return [{"kind": "unknown channel", "row": None, "sentence": "unknown channel"}]
    return [refusal(reason) for reason in sorted(counts) if reason in ("late",)]


def sample_clock(pair):
    """Return the clock of a series without times: that of the samples sent."""
    clock = Clock(as_series(pair))
    clock.micros = np.array([time for time, _ in samples_of(pair)], dtype=np.int64)
    return clock


def live_event(event, clock, client):
    """Return an event of REST in the neutral form, with what its page says."""
    found = {
        "category": event["kind"], "number": event["number"],
        "start": clock.row(micros_of(event["begins"])), "begin_us": micros_of(event["begins"]),
        "fired": clock.row(micros_of(event["fired"])),
    }  # fmt: skip
    if not event["final"]:  # the samples end within it
        return found
    found |= {
        "end": clock.row(micros_of(event["ends"])) + 1, "last_us": micros_of(event["ends"]),
        "peak": clock.row(micros_of(event["peak"])), "score": event["score"],
        "severity": event["severity"], "channels": event["channels"],
        "reason": event["reason"], "drift": event["drift"],
    }  # fmt: skip
    if event["kind"] == "anomaly":
        page = client(f"/events/{event['id']}").text
        (section,) = sections(page)
        found |= {name: section[name] for name in ("fault", "sentence", "leading")}
    return found


# -- the report ------------------------------------------------------------------------------------

TAG = re.compile(r"<[^>]+>")


def plain(markup):
    """Return the text of markup."""
    return " ".join(html.unescape(TAG.sub(" ", markup)).split())


def sections(page):
    """Return what the sections of events on a page say."""
    found = []
    for part in re.findall(r"<article[^>]*class=\"event.*?</article>", page, flags=re.DOTALL):
        facts = {
            plain(name): value
            for name, value in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", part, flags=re.DOTALL)
        }
        kind = plain(re.search(r"class=\"kind\">(.*?)</span>", part, flags=re.DOTALL)[1])
        sentence = plain(re.search(r"class=\"telling\">(.*?)</p>", part, flags=re.DOTALL)[1])
        names = re.findall(
            r"<(?:code|span|b|bdi)[^>]*>(.*?)</(?:code|span|b|bdi)>", facts["channels"]
        )
        found.append({
            "fault": "unknown" if kind == "unusual" else kind,
            "sentence": sentence.removesuffix("."),
            "leading": [plain(name) for name in names] or plain(facts["channels"]).split(", "),
            "from": plain(facts["from"]), "to": plain(facts["to"]),
        })  # fmt: skip
    return found


def report(pair: Pair, folder: Path) -> Outcome:
    """``axonad report``: the events of the page, its verdict, bad data and drift."""
    target = folder / "page.html"
    code, out, err = run(
        "report", pair.model_path, file_of(pair, folder), "--out", target, "--force",
        *options_of(pair),
    )  # fmt: skip
    if code:
        return Outcome(refused=[refusal(error_of(err))])
    page = target.read_text(encoding="utf-8")
    verdict = out.splitlines()[0].partition(": ")[2]
    told = [
        {name: one[name] for name in ("fault", "sentence", "from", "to")} for one in sections(page)
    ]
    return Outcome(notes={"verdict": verdict, "events": told})


# -- benchmarks ------------------------------------------------------------------------------------


def bench(pair: Pair, folder: Path) -> Outcome | None:
    """A job of a benchmark: the detector of the pair, fitted on the first part of its file."""
    if not pair.benched:
        return None
    train, faults = LABELLED[pair.series]
    series = as_series(pair)
    labels = np.zeros(len(series), dtype=np.int8)
    for start, stop in faults:
        labels[start:stop] = 1
    columns = {name: series.values[:, i] for i, name in enumerate(series.channels)}
    path = folder / f"{pair.series}.parquet"
    pl.DataFrame({**columns, "Label": labels}).write_parquet(path)
    (ref,) = find_own_files({"paths": [path], "train": train}, [1])
    params = axonad.load(pair.model_path).get_params()
    own = {"alarm_budget": None, "context": ()} if "alarm_budget" in params else {}
    name = type(axonad.load(pair.model_path)).__name__
    made = make_detector(name, **{**params, **own})
    job = Job(suite="golden", series=ref, detector=name, label=name, params=made.get_params(),
              seed=1, protocol=Protocol(name="causal", window=20))  # fmt: skip
    row = execute(job, series=load_own_file(ref))
    assert row.status == "ok", row.reason
    return Outcome(notes={"metrics": dict(row.metrics), "alarms": dict(row.alarms)})


ALONE = {way.__name__: way for way in (python, score, chunks, stream, resumed, report, bench)}
TOGETHER = {way.__name__: way for way in (fleet, live)}
"""Ways that score the series of a model at once."""
WAYS = ALONE | TOGETHER
