from __future__ import annotations

import pytest

from axonad import AxonAD
from axonad.errors import ConfigError
from tests.conftest import SMALL, waves


def test_unknown_device():
    with pytest.raises(ConfigError, match="device must be 'auto'"):
        AxonAD(**{**SMALL, "device": "gpu"}).fit(waves(100))
    with pytest.raises(ConfigError, match=r"device 'cuda:99' (is not available|does not exist)"):
        AxonAD(**{**SMALL, "device": "cuda:99"}).fit(waves(100))
