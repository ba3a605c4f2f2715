"""The ablation table: the paper's numbers as printed, ours by what they reproduce."""

from __future__ import annotations

import csv
import io

import pytest

from axonad.bench.suite import read_suite
from axonad.errors import InputError
from axonad.paper.published import paper_ablation
from axonad.paper.tables.ablation import MEANINGS, ablation_table
from axonad.registry import detector_class
from tests.conftest import ROOT
from tests.report.rows import make_rows

SUITE = ROOT / "benchmarks/paper/ablation"


def entrants():
    return {entrant.title: entrant for entrant in read_suite(SUITE, data=ROOT).detectors}


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_the_suite_has_every_meaning_of_every_line_and_nothing_else():
    wanted = {label for meaning in MEANINGS.values() for label in meaning if label}
    assert set(entrants()) == wanted
    assert list(MEANINGS) == list(paper_ablation())


@pytest.mark.parametrize(
    ("label", "params"),
    [
        ("base", {}),
        ("recon-only-training", {"trains": "reconstruction"}),
        ("recon-only-scoring", {"scores": ("d_rec",)}),
        ("query-mse-scoring", {"scores": ("d_rec", "d_q_mse")}),
        ("query-only-training", {"trains": "prediction"}),
        ("query-only-scoring", {"scores": ("d_q",)}),
        ("kl-tail-scoring", {"scores": ("d_rec", "d_q", "d_kl")}),
        ("ema-0", {"ema": 0.0}),
        ("mask-0.8", {"mask_ratio": 0.8}),
        ("heads-4", {"heads": 4}),
        ("width-64", {"d_model": 64}),
        ("horizon-25", {"horizon": 25}),
        (
            "predict-keys-alone",
            {"predicts": "keys", "trains": "prediction", "detached": True, "batch_size": 64},
        ),
        ("predict-keys", {"predicts": "keys", "scores": ("d_rec", "d_pred")}),
        (
            "predict-map-from-both-alone",
            {"predicts": "attention-from-queries-and-keys", "trains": "prediction",
             "detached": True, "map_keys": "all", "batch_size": 32},
        ),
    ],
)  # fmt: skip
def test_a_label_changes_what_it_says_and_nothing_else(label, params):
    entrant = entrants()[label]
    cls = detector_class(entrant.name)
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in entrant.params.items()}
    found = cls.paper(**given).get_params()
    assert found == cls.paper().get_params() | params


def test_the_paper_and_ours_line_by_line():
    rows = make_rows(
        {"base": [0.6, 0.8], "recon-only-scoring": [0.5, 0.5], "recon-only-training": [0.4, None]}
    )
    table = ablation_table(rows)
    found = [(r["variant"], r["figures"]) for r in records(table)]
    assert found[:7] == [
        ("Base", "paper"),
        ("Base", "ours: base"),
        ("Recon only", "paper"),
        ("Recon only", "ours, as run: recon-only-training"),
        ("Recon only", "ours, as written: recon-only-scoring"),
        ("Score MSE", "paper"),
        ("Score MSE", "ours, as run: recon-only-scoring"),
    ]
    lines = {r["figures"]: r for r in records(table)}
    assert float(lines["ours: base"]["VUS-PR"]) == pytest.approx(0.7)
    run = lines["ours, as run: recon-only-training"]
    assert float(run["VUS-PR to base"]) == pytest.approx(-0.2), "on the series both have"
    assert (run["series"], run["missing"]) == ("1", "1")
    paper = next(r for r in records(table) if r["variant"] == "Recon only")
    assert (paper["VUS-PR"], paper["VUS-PR std"]) == ("0.603", "0.366")
    assert float(paper["VUS-PR to base"]) == pytest.approx(-0.055)
    assert "left out, never zero" in table.to_text()


def test_another_detector_comes_last_and_base_may_be_missing():
    table = ablation_table(make_rows({"PCA": [0.5, 0.7]}))
    last = records(table)[-1]
    assert (last["variant"], last["figures"], last["VUS-PR to base"]) == ("", "ours: PCA", "")


def test_protocols_are_not_mixed():
    rows = make_rows({"base": [0.5]}) + make_rows({"base": [0.5]}, protocol="causal")
    with pytest.raises(InputError, match="the rows mix protocols; choose one"):
        ablation_table(rows)
