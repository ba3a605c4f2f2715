"""The network of the paper, as torch modules, and the symbols that all of them use.

=======  ==========================================================================================
symbol   meaning (default)
=======  ==========================================================================================
B        windows in a batch
T        window length (100)
F        channels
D        width of the embedding (128)
N        attention heads (8); each head is d = D / N wide (the paper's N_h and d_h)
s        horizon: the predictor sees nothing later than τ - s (1)
k        tail: the query mismatch averages over the last k steps (10)
m        momentum of the target's moving average (0.9)
x        window                               (B, T, F)
h        embedding, the residual stream       (B, T, D)
H        LN1(h), what attention reads         (B, T, D)
q, q̂, q* queries: online, predicted, target   (B, N, T, d)
x̂        reconstruction                       (B, T, F)
=======  ==========================================================================================

Read ``net.py`` first: its ``forward`` is the paper's figure.
"""
