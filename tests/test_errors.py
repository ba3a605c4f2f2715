from __future__ import annotations

import pytest

from axonad import errors
from axonad.errors import AxonADError, is_out_of_memory, suggest


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.ChannelError, ValueError),
        (errors.StaleError, ValueError),
        (errors.ConfigError, ValueError),
        (errors.UnknownNameError, LookupError),
        (errors.NotFittedError, AttributeError),
        (errors.NotFittedError, ValueError),
        (errors.DivergedError, ArithmeticError),
        (errors.FleetError, RuntimeError),
        (errors.FileError, OSError),
        (errors.ModelFileError, errors.FileError),
        (errors.MissingDependencyError, ImportError),
    ],
)
def test_every_error_is_also_a_builtin(error, builtin):
    assert issubclass(error, AxonADError)
    assert issubclass(error, builtin)


def test_suggestions_ignore_case_and_need_some_likeness():
    assert suggest("AXONDA", ["AxonAD", "PCA"]) == "; did you mean 'AxonAD'?"
    assert suggest("zzz", ["AxonAD", "PCA"]) == ""


def test_out_of_memory_is_recognised_by_type_or_text():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    assert not is_out_of_memory(RuntimeError("shapes differ"))
