"""Records what every way in makes of every pair, or re-records it and prints each change.

    python -m tests.golden.record            # all pairs
    python -m tests.golden.record sensors    # pairs whose name contains a word

Ways that agree share one outcome of a pair's file, which names them; where ways disagree there are
several.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.cases import HERE, PAIRS, Pair
from tests.golden.form import Outcome, compare, outcome_of, read, to_document, write
from tests.golden.ways import WAYS

Ways = Mapping[str, Callable[[Pair, Path], Outcome | None]]
EXPECTED = HERE / "expected"
WANTED = {"anomaly": 40, "data": 10, "drift": 5, "reopened": 3, "gathering": 1, "during drift": 5}


def run_ways(pair: Pair, folder: Path, ways: Ways = WAYS) -> dict[str, Outcome]:
    """Return what each way makes of a pair."""
    (folder / pair.name).mkdir(exist_ok=True)
    found = {name: way(pair, folder / pair.name) for name, way in ways.items()}
    return {name: outcome for name, outcome in found.items() if outcome is not None}


def differences(pair: Pair, found: dict[str, Outcome]) -> list[str]:
    """Return how the outcomes of the ways differ from those recorded, one sentence each."""
    expected = expected_of(pair)
    return [
        f"{pair.name}, {way}: {sentence}"
        for way, outcome in found.items()
        for sentence in (
            compare(outcome, expected[way]) if way in expected else ["nothing is recorded"]
        )
    ]


def expected_of(pair: Pair) -> dict[str, Outcome]:
    """Return the recorded outcome of each way."""
    documents, scores = read(EXPECTED / pair.name)
    return {
        way: outcome_of(part, scores.get(str(number)), documents["notes"].get(way, {}))
        for number, part in enumerate(documents["outcomes"])
        for way in part["ways"]
    }


def grouped(found: dict[str, Outcome]) -> list[tuple[list[str], Outcome]]:
    """Return ways that agree with their common outcome, which has all fields of theirs."""
    groups: list[tuple[list[str], Outcome]] = []
    for way, outcome in found.items():
        plain = Outcome(outcome.scores, outcome.events, outcome.refused)
        for ways, common in groups:
            if not compare(plain, common) and not compare(common, plain):
                ways.append(way)
                common.take(plain)
                break
        else:
            groups.append(([way], plain))
    return groups


def record(pair: Pair, found: dict[str, Outcome]) -> None:
    """Write the outcomes of a pair."""
    groups = grouped(found)
    parts = [{"ways": ways, **to_document(outcome)} for ways, outcome in groups]
    notes = {way: outcome.notes for way, outcome in found.items() if outcome.notes}
    scores = {str(n): o.scores for n, (_, o) in enumerate(groups) if o.scores is not None}
    write(EXPECTED / pair.name, {"outcomes": parts, "notes": notes}, scores)


def counts() -> Counter:
    """Return how many events are recorded, once per pair, by category and what befell them."""
    found: Counter = Counter()
    for pair in PAIRS:
        documents, _ = read(EXPECTED / pair.name)
        ways = [Counter(_traits(part["events"] or [])) for part in documents["outcomes"]]
        found += reduce(or_, ways)
    return found


def _traits(events: list[dict]) -> Iterator[str]:
    for event in events:
        yield event["category"]
        yield from (what for what, _ in event.get("changes", ()) if what == "reopened")
        if event.get("gathered"):
            yield "gathering"
        if event.get("drift"):
            yield "during drift"


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        for pair in PAIRS:
            if not all(word in pair.name for word in sys.argv[1:]):
                continue
            found = run_ways(pair, Path(name))
            if (EXPECTED / f"{pair.name}.json").exists():
                print(*differences(pair, found), sep="\n", flush=True)
            record(pair, found)
            print(f"{pair.name}: {[ways for ways, _ in grouped(found)]}", flush=True)
    print(dict(counts()), "wanted", WANTED)
