"""Made-up findings and samples for the tests of the diagnostics' tables and figures."""

from __future__ import annotations

import numpy as np

from axonad.paper.diagnostics.finding import AsRunFinding, Finding
from axonad.paper.diagnostics.measure import MEASURES
from tests.report.rows import make_row


def make_finding(series, seed=0, value=0.5, **measures):
    row = make_row("AxonAD", series, value, seed=seed)
    known = dict.fromkeys(MEASURES, 0.25) | {k.replace("_", " "): v for k, v in measures.items()}
    known |= {k.replace("d q", "d_q").replace("d rec", "d_rec"): v for k, v in known.items()}
    kept = {name: known[name] for name in MEASURES}
    return Finding(row=row, measures=kept if value is not None else {})


def make_as_run(series, seed=0, **measures):
    """Return a finding with the measures of the authors' script as well."""
    ours = make_finding(series, seed)
    known = dict.fromkeys(AsRunFinding.names, 0.25) | measures
    return AsRunFinding(row=ours.row, measures=known)


def make_sample(series, *, kinds=False, event=True):
    rng = np.random.default_rng(len(series))
    cloud = {name: (100 * rng.standard_cauchy(30)).tolist() for name in ("d_rec", "d_q")}
    odd = {**cloud, "kind": ["drift", "correlation_break", "spike"] * 10} if kinds else cloud
    sample = {
        "key": series, "series": series, "dataset": "D", "normal": cloud, "anomalous": odd,
        "thresholds": {"d_rec": 1.0, "d_q": 2.0, "sum": 3.0},
    }  # fmt: skip
    path = rng.normal(size=(60, 2)).tolist()
    there = {
        "start": 520, "stop": 540, "first": 500, "kind": "drift" if kinds else "",
        "d_rec": [0] * 60, "d_q": list(range(60)), "predicted": path, "target": path,
        "explained": 0.8,
    }  # fmt: skip
    return sample | ({"event": there} if event else {})
