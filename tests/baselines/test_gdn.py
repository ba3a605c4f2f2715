"""GDN's graph and attention."""

from __future__ import annotations

import pytest
import torch

from axonad.baselines import gdn


def test_the_graph_has_the_nearest_others():
    vectors = torch.randn(7, 4)
    graph = gdn.neighbours(vectors, 3)
    assert graph.sum(1).tolist() == [3] * 7
    assert not graph.diagonal().any()
    cosine = torch.nn.functional.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    for i in range(7):
        others = [j for j in range(7) if j != i]
        nearest = sorted(others, key=lambda j: -cosine[i, j])[:3]
        assert set(torch.nonzero(graph[i])[:, 0].tolist()) == set(nearest)
    assert gdn.neighbours(vectors[:3], 15).sum(1).tolist() == [2, 2, 2]
    assert not gdn.neighbours(vectors[:1], 15).any()


def test_graph_attention_sums_to_one_over_neighbours_and_itself():
    layer = gdn.GraphAttention(5, 4)
    vectors = torch.randn(6, 4)
    graph = gdn.neighbours(vectors, 2)
    features = torch.randn(3, 6, 4)
    share = layer.weights(features, vectors, graph)
    torch.testing.assert_close(share.sum(-1), torch.ones(3, 6))
    assert ((share > 0).sum(-1) == 3).all()
    i = 2
    allowed = [j for j in range(6) if graph[i, j] or j == i]
    a = torch.cat([layer.receiver.weight, layer.sender.weight], dim=1)[0]
    g = torch.cat([vectors, features[0]], dim=1)
    logits = torch.stack([a @ torch.cat([g[i], g[j]]) for j in allowed])
    naive = torch.softmax(torch.nn.functional.leaky_relu(logits, 0.2), 0)
    torch.testing.assert_close(share[0, i, allowed], naive)


def test_a_channel_hears_its_neighbours_alone():
    layer, vectors = gdn.GraphAttention(11, 4), torch.randn(6, 4)
    graph = gdn.neighbours(vectors, 2)
    x = torch.randn(4, 6, 11)
    strangers = ~graph[0]
    strangers[0] = False
    changed = x.clone()
    changed[:, strangers] = 5.0
    before = layer(x, vectors, graph)[:, 0]
    torch.testing.assert_close(layer(changed, vectors, graph)[:, 0], before)
    changed[:, graph[0]] = 5.0
    assert not torch.allclose(layer(changed, vectors, graph)[:, 0], before)


@pytest.mark.parametrize(("layers", "count"), [(1, 1), (2, 2), (4, 4)])
def test_gdn_output_network(layers, count):
    net = gdn.Net(3, 11, top=2, width=4, hidden=5, layers=layers)
    linear = [layer for layer in net.output if isinstance(layer, torch.nn.Linear)]
    assert len(linear) == count
    assert net(torch.randn(2, 11, 3)).shape == (2, 3)
