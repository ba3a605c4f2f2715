"""The optimiser step of a stack: gradient clipping, AdamW and moving average of each model."""

from __future__ import annotations

import torch
from torch import Tensor

from axonad.fast.gpu.fused import load_kernels
from axonad.train.loop import CLIP, TrainConfig, adamw

BETAS = 0.9, 0.999  # BETAS and EPS are the defaults of torch.optim.AdamW
EPS = 1e-8


class PlainUpdate:
    """Updates weights (M, P) and target encoders (M, Q) in place, with torch's own optimiser."""

    def __init__(self, rows: Tensor, config: TrainConfig, *, ema: float) -> None:
        self._config, self._ema = config, ema
        self._optimiser = adamw([rows], config)

    def __call__(self, rows: Tensor, target: Tensor, gradient: Tensor) -> None:
        """Make one step; the gradient (M, P) is overwritten."""
        norm = gradient.norm(dim=1, keepdim=True)
        rows.grad = gradient.mul_((CLIP / (norm + 1e-6)).clamp(max=1.0))  # as clip_grad_norm_
        self._optimiser.step()
        with torch.no_grad():
            target.lerp_(rows[:, : target.shape[1]], 1 - self._ema)

    def retain(self, before: Tensor, rows: Tensor, kept: list[int]) -> None:
        """Keep the state of the models ``kept`` when the weights ``before`` shrink to ``rows``."""
        state = self._optimiser.state[before]
        self._optimiser = adamw([rows], self._config)
        for name, value in state.items():  # all models have made the same number of steps
            self._optimiser.state[rows][name] = value[kept] if value.dim() else value


class FusedUpdate:
    """The same update in one kernel launch on a GPU (``kernels.py``)."""

    def __init__(self, rows: Tensor, config: TrainConfig, *, ema: float) -> None:
        self._config, self._ema = config, ema
        self._moments = torch.zeros(2, *rows.shape, device=rows.device)
        self._betas = torch.tensor(BETAS, dtype=torch.float64, device=rows.device)
        self._powers = torch.ones_like(self._betas)  # beta ** t, for the bias correction

    @torch.no_grad()
    def __call__(self, rows: Tensor, target: Tensor, gradient: Tensor) -> None:
        """Make one step."""
        self._powers *= self._betas
        load_kernels().adamw(
            rows, target, gradient, gradient.norm(dim=1), self._moments, self._powers,
            lr=self._config.lr, decay=self._config.weight_decay, betas=BETAS, eps=EPS,
            clip=CLIP, ema=self._ema,
        )  # fmt: skip

    def retain(self, before: Tensor, rows: Tensor, kept: list[int]) -> None:
        """Keep the state of the models ``kept``."""
        self._moments = self._moments[:, kept]
