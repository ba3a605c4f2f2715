from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.progress import Progress
from axonad.score.terms import compute_terms, query_mismatch, reconstruction_error
from tests.model import naive
from tests.model.naive import make_net, window


@pytest.mark.parametrize(("horizon", "tail"), [(1, 5), (1, 1), (3, 20), (1, 20), (18, 10)])
def test_query_mismatch_equals_the_papers_sum(horizon, tail):
    net = make_net(horizon=horizon, tail=tail)
    x = window(net)
    expected = [naive.query_mismatch(w, net) for w in x.double().numpy()]
    got = query_mismatch(net(x), x, net.config).detach().numpy()
    np.testing.assert_allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize("window_length", [4, 20, 60])
@pytest.mark.parametrize(("horizon", "tail"), [(0, 1), (1, 10), (3, 4), (1, 60), (2, 2)])
@pytest.mark.parametrize("dilations", [(1,), (1, 2, 4, 8), (5, 3)])
def test_computing_the_tail_alone_changes_nothing(window_length, horizon, tail, dilations):
    net = make_net(
        window=window_length, horizon=horizon, tail=min(tail, window_length), dilations=dilations
    )
    x = window(net, batch=3)
    last = net.config.scored_steps
    whole, part = net(x), net(x, last=last)
    assert part.predicted.shape[2] == part.target.shape[2] == last
    torch.testing.assert_close(part.predicted, whole.predicted[:, :, -last:], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(part.target, whole.target[:, :, -last:], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(part.reconstruction, whole.reconstruction)


def test_query_mismatch_ignores_steps_before_the_tail():
    net = make_net(tail=5)
    x = window(net)
    output = net(x)
    moved = output._replace(target=output.target.clone())
    moved.target[:, :, :-5] += 1.0
    same = query_mismatch(output, x, net.config)
    torch.testing.assert_close(query_mismatch(moved, x, net.config), same)
    moved.target[:, :, -5] += 1.0
    assert (query_mismatch(moved, x, net.config) != same).all()


def test_reconstruction_error_sums_channels_and_averages_steps():
    net = make_net()
    x = window(net)
    output = net(x)
    error = (output.reconstruction - x).detach().numpy() ** 2
    expected = error.sum(axis=2).mean(axis=1)
    got = reconstruction_error(output, x, net.config).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_batches_do_not_change_the_terms(batch_size):
    net = make_net()
    series = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32))
    quiet = Progress("x", 1, show=False)
    found = compute_terms(net, series, batch_size=batch_size, progress=quiet, channels=True)
    whole = series.unfold(0, 20, 1).transpose(1, 2)
    with torch.no_grad():
        output = net(whole)
        np.testing.assert_allclose(
            found.terms["d_rec"], reconstruction_error(output, whole, net.config), rtol=1e-4
        )
        np.testing.assert_allclose(
            found.terms["d_q"], query_mismatch(output, whole, net.config), rtol=1e-4
        )
    np.testing.assert_allclose(found.channels.sum(1), found.terms["d_rec"], rtol=1e-5)
