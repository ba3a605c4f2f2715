"""The terms of the ablations' scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.paper.variant_net import PREDICTS
from axonad.paper.variant_terms import VARIANT_TERMS, variant_terms
from tests.model import naive
from tests.model.naive import make_net as make_standard
from tests.model.naive import window
from tests.paper.test_variant_net import MAPS, make, naive_distance, naive_divergence


@pytest.mark.parametrize("predicts", PREDICTS)
def test_what_is_scored(predicts):
    net = make(predicts)
    x = window(net)
    config = net.config
    with torch.no_grad():
        output = net(x, last=config.scored_steps)
        terms = variant_terms(tuple(VARIANT_TERMS), net)
        found = {name: term(output, x, config).numpy() for name, term in terms.items()}
    for b in range(2):
        w = x[b].double().numpy()
        _, H, q = naive.embed(w, net.online)
        predicted, target = (
            naive.predict_queries(H, net.predictor), naive.embed(w, net.target.encoder)[2],
        )  # fmt: skip
        k = H @ naive.weight(net.attention.key).T
        tail = range(15, 20)
        expected = {
            "d_rec": ((naive.reconstruct(w, net) - w) ** 2).sum(1).mean(),
            "d_q": naive.query_mismatch(w, net),
            "d_q_mse": np.mean([(predicted[t] - target[t]) ** 2 for t in tail]),
            "d_kl": np.mean([
                naive_divergence(
                    q[:, p], k[:, p], predicted[:, p], k[:, p], t, d=4, keys=t - 1,
                    temperature=np.exp(0.4) if predicts in MAPS else 1,
                )
                for p in (slice(0, 4), slice(4, 8)) for t in tail
            ]),
            "d_pred": np.mean([naive_distance(w, net, t) for t in tail]),
        }  # fmt: skip
        for name, value in expected.items():
            assert found[name][b] == pytest.approx(value, rel=3e-4, abs=1e-6), name


def test_terms_of_the_standard_model():
    """The terms that need no variant's network give the same with the model itself."""
    net = make_standard(horizon=2, dilations=(1, 2))
    variant = make("queries", trains="prediction")
    variant.load_state_dict(net.state_dict())
    x = window(net)
    with torch.no_grad():
        for name in ("d_rec", "d_q", "d_q_mse", "d_kl"):
            plain, other = (
                variant_terms([name], n)[name](n(x, last=5), x, n.config) for n in (net, variant)
            )
            torch.testing.assert_close(plain, other)
