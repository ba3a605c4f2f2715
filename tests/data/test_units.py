"""Units stay with the data from training to scoring."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import axonad
from axonad.baselines.control_chart import ControlChart
from axonad.data.series import Series
from axonad.errors import ChannelError, InputError
from tests.conftest import waves

NAMES = ("speed", "yaw_rate", "torque")


def drive(*units, name="a.mf4"):
    return Series(values=waves(200), channels=NAMES, units=units, name=name)


def test_a_detector_remembers_units_and_refuses_others(tmp_path):
    detector = ControlChart().fit([drive("km/h", "", "Nm"), drive("kph", "deg/s", "Nm")])
    assert detector.units_ == {"speed": "km/h", "yaw_rate": "deg/s", "torque": "Nm"}
    detector.save(tmp_path / "m")
    for one in (detector, axonad.load(tmp_path / "m")):
        assert len(one.decision_function(drive("km/h", "°/s", ""))) == 200
        with pytest.raises(ChannelError, match=r"b.mf4: speed was km/h in training, is m/s here"):
            one.events(drive("m/s", "", "", name="b.mf4"))
    with pytest.raises(ChannelError, match=r"b.mf4: torque was Nm in the others, is lbft here"):
        detector.fit([drive("km/h", "", "Nm"), drive("km/h", "", "lbft", name="b.mf4")])
    assert detector.units_["speed"] == "km/h", "a fit that fails changes nothing"
    assert detector.fit(waves(200)).units_ == {}


def test_a_frame_carries_units_in_its_attributes():
    frame = pd.DataFrame(waves(200), columns=NAMES)
    frame.attrs["units"] = {"speed": "km/h", "other": "V"}
    detector = ControlChart().fit(frame)
    assert detector.units_ == {"speed": "km/h"}
    assert np.isfinite(detector.decision_function(frame[["torque", "speed", "yaw_rate"]])).all()
    frame.attrs["units"] = {"speed": "mph"}
    with pytest.raises(ChannelError, match="X: speed was km/h in training, is mph here"):
        detector.predict(frame)
    frame.attrs["units"] = ["mph"]
    with pytest.raises(InputError, match=r"attrs\['units'\] of a frame must be a table"):
        detector.predict(frame)
