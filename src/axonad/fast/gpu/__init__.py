"""Training and scoring on a GPU: stacks of models, CUDA graphs, Triton kernels."""
