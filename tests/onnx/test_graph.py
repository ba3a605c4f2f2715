"""The network as an ONNX graph: every shape has the scores of the detector."""

from __future__ import annotations

import pytest

from axonad import AxonAD
from tests.conftest import SMALL, waves
from tests.onnx.test_file import assert_same_scores, strange


@pytest.mark.parametrize(
    ("channels", "changes"),
    [
        (3, {}),
        (1, {}),
        (12, {"heads": 4}),
        (3, {"scaling": "train"}),
        (3, {"horizon": 0}),
        (3, {"horizon": 15}),
        (3, {"tail": 16}),
        (3, {"tail": 16, "horizon": 0}),
        (3, {"horizon": 6, "dilations": (1, 2, 4, 8, 16)}),
        (2, {"dilations": (3,), "heads": 1}),
        (2, {"window": 60, "dilations": (1, 2), "horizon": 5}),
        (2, {"window": 2, "tail": 1, "d_model": 4, "dilations": (1,)}),
        (2, {"window": 2, "tail": 2, "d_model": 2, "heads": 2, "horizon": 0}),
    ],
)
def test_every_shape_scores_as_the_detector(tmp_path, channels, changes):
    detector = AxonAD(**{**SMALL, **changes}).fit(waves(300, channels))
    assert_same_scores(detector, strange(150, channels), tmp_path / "model.onnx")
