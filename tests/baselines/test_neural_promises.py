"""What each of the first nine neural baselines promises beside the contract."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import axonad
from axonad.baselines import donut, fits
from axonad.errors import ConfigError
from axonad.testing import CHECKS
from tests.baselines.test_neural import make
from tests.conftest import waves

FORECASTERS = ("CNN", "LSTMAD")
LAST_ROW = ("TranAD", "Donut", "FITS", "M2N2")


@pytest.mark.parametrize("name", FORECASTERS)
def test_a_forecast_error_sits_at_the_row_predicted(name):
    detector = make(name).fit(waves(400))
    X = waves(200, seed=1)
    spiked = X.copy()
    spiked[100] += 20.0
    change = detector.decision_function(spiked) - detector.decision_function(X)
    assert np.flatnonzero(np.abs(change) > 1e-6)[0] == 100
    assert np.argmax(change) == 100


@pytest.mark.parametrize("name", LAST_ROW)
def test_the_score_is_that_of_the_last_row(name):
    detector = make(name, **({"adapt": False} if name == "M2N2" else {})).fit(waves(400))
    X = waves(200, seed=1)
    spiked = X.copy()
    spiked[100] += 20.0
    change = detector.decision_function(spiked) - detector.decision_function(X)
    assert np.flatnonzero(np.abs(change) > 1e-3)[0] == 100
    assert np.argmax(change) == 100


def test_autoencoder_sees_each_row_by_itself():
    detector = make("AutoEncoder").fit(waves(200))
    X = waves(60, seed=1)
    order = np.random.default_rng(0).permutation(60)
    np.testing.assert_allclose(
        detector.decision_function(X)[order], detector.decision_function(X[order]), rtol=1e-5
    )


def test_autoencoder_stretches_rows_as_tsb_ad_does():
    detector = make("AutoEncoder", tsb_ad=True, scaling="train").fit(waves(200))
    X = waves(60, seed=1)
    np.testing.assert_allclose(
        detector.decision_function(X), detector.decision_function(7 * X + 100), rtol=1e-3
    )
    assert np.isfinite(detector.decision_function(np.ones((5, 3)))).all()


def test_usad_scores_both_passes():
    X, Y = waves(200), waves(60, seed=1)
    scores = {a: make("USAD", alpha=a).fit(X).decision_function(Y) for a in (0.0, 0.3, 1.0)}
    np.testing.assert_allclose(scores[0.3], 0.3 * scores[1.0] + 0.7 * scores[0.0], rtol=1e-5)


@pytest.mark.parametrize("name", ["OmniAnomaly", "Donut"])
def test_variational_scores_draw_nothing(name):
    detector = make(name).fit(waves(200))
    before = torch.get_rng_state()
    detector.decision_function(waves(60))
    assert torch.equal(torch.get_rng_state(), before)


def test_donut_decodes_only_what_it_scores():
    layer = donut.Normal(4, 8, 12)
    z = torch.randn(5, 4)
    for all_of_it, part in zip(layer(z), layer(z, last=3), strict=True):
        torch.testing.assert_close(all_of_it[:, -3:], part)


def test_fits_is_a_complex_linear_layer_per_channel():
    net = fits.Net(2, window=24, factor=2, cutoff=5)
    with torch.no_grad():
        net.weight.normal_()
        net.bias.normal_()
        x = torch.randn(3, 12, 2)
        z = (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, keepdim=True) + 1e-5)
        spectrum = torch.zeros(3, 13, 2, dtype=torch.complex64)
        for channel in range(2):
            weight = torch.complex(net.weight[0, channel], net.weight[1, channel])
            bias = torch.complex(net.bias[0, channel], net.bias[1, channel])
            low = torch.fft.rfft(z[:, :, channel])[:, :5]
            spectrum[:, :10, channel] = low @ weight.T + bias
        expected = torch.fft.irfft(spectrum, dim=1) * 2 * torch.sqrt(
            x.var(1, keepdim=True) + 1e-5
        ) + x.mean(1, keepdim=True)
        torch.testing.assert_close(net(x), expected, rtol=1e-4, atol=1e-4)


def test_m2n2_learns_a_new_normal_and_forgets_it_again():
    detector = make("M2N2", batch_size=4, epochs=10, lr=1e-2, limit=1.0, momentum=0.8)
    X = waves(900, seed=1)
    X[200:] += 0.5
    detector.fit(waves(400))
    first = detector.decision_function(X)
    np.testing.assert_array_equal(detector.decision_function(X), first)
    still = make("M2N2", **{**detector.get_params(), "adapt": False}).fit(waves(400))
    assert first[700:].mean() < 0.5 * still.decision_function(X)[700:].mean()


def test_m2n2_runs_live_only_where_it_does_not_adapt():
    with pytest.raises(ConfigError, match="M2N2 cannot run live"):
        axonad.StreamScorer(make("M2N2").fit(waves(200)))
    CHECKS["stream_equals_batch"](lambda: make("M2N2", adapt=False))
    CHECKS["causal_claim_holds"](lambda: make("M2N2", adapt=False))
