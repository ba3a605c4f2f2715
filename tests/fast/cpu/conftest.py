import pytest
import torch


@pytest.fixture(params=[1, 2])
def threads(request):
    """Run a test on one and on two threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)
