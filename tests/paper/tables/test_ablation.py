"""The ablation table: the paper's numbers as printed, ours by what they reproduce."""

from __future__ import annotations

import csv
import io

from axonad.bench.suite import read_suite
from axonad.paper.published import paper_ablation
from axonad.paper.tables.ablation import MEANINGS
from tests.conftest import ROOT

SUITE = ROOT / "benchmarks/paper/ablation"


def entrants():
    return {entrant.title: entrant for entrant in read_suite(SUITE, data=ROOT).detectors}


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_the_suite_has_every_meaning_of_every_line_and_nothing_else():
    wanted = {label for meaning in MEANINGS.values() for label in meaning if label}
    assert set(entrants()) == wanted
    assert list(MEANINGS) == list(paper_ablation())
