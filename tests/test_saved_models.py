"""Models saved by released versions load and give the scores they gave then.

The folders under ``saved_models`` were written by the version in their name, fitted on
``waves(300)``; ``expected.json`` holds thresholds and the first scores of ``waves(60, seed=1)``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import axonad
from axonad.errors import DataWarning
from tests.conftest import waves

SAVED = Path(__file__).parent / "saved_models"
FOLDERS = sorted(path.parent for path in SAVED.glob("*/*/detector.json"))


def test_every_release_has_models():
    assert {folder.parent.name for folder in FOLDERS} == {"0.1.0"}
    assert {folder.name for folder in FOLDERS} >= {"AxonAD", "PCA", "USAD", "CrossChannelRidge"}


@pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_a_saved_model_scores_as_it_did(folder):
    expected = json.loads((folder.parent / "expected.json").read_text())[folder.name]
    with pytest.warns(DataWarning, match=r"detector\.json was saved by an older version"):
        detector = axonad.load(folder)
    assert detector.channel_names == ("speed", "yaw_rate", "torque")
    assert detector.threshold_ == expected["threshold"]
    scores = detector.decision_function(waves(60, seed=1))[: len(expected["scores"])]
    np.testing.assert_allclose(scores, expected["scores"], rtol=1e-4, atol=1e-4)
