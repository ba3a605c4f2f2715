"""The sizes that define a network."""

from __future__ import annotations

from dataclasses import dataclass

from axonad.errors import ConfigError

KERNEL = 3
"""Taps of the predictor's convolutions."""
LONGEST = 10_000
"""Largest dilation, unless the window is longer: memory grows with it."""


@dataclass(frozen=True, kw_only=True)
class NetConfig:
    """Sizes of one network; their defaults are the fields of the detector."""

    channels: int
    window: int
    d_model: int
    heads: int
    horizon: int
    tail: int
    ema: float
    dropout: float
    dilations: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.d_model % self.heads:
            raise ConfigError(f"heads ({self.heads}) must divide d_model ({self.d_model})")
        if self.horizon >= self.window:
            raise ConfigError(
                f"horizon must be below window ({self.window}), got {self.horizon}: "
                "the predictor would see nothing"
            )
        most = max(LONGEST, self.window)
        if max(self.dilations) > most:
            raise ConfigError(f"dilations must be at most {most}, got {max(self.dilations)}")
        if self.tail > self.window:
            raise ConfigError(f"tail must be at most window ({self.window}), got {self.tail}")

    @property
    def scored_steps(self) -> int:
        """Number of last steps that the query mismatch averages over: min(k, T - s)."""
        return min(self.tail, self.window - self.horizon)

    @property
    def reach(self) -> int:
        """Number of steps the predictor's convolutions see before the newest one they see."""
        return (KERNEL - 1) * sum(self.dilations)

    def layer_steps(self, steps: int) -> list[int]:
        """Return how many last steps each convolution must compute to predict ``steps`` steps.

        With dilations 1, 2, 4, 8 and ten steps: 38, 34, 26 and 10.
        """
        counts = [steps]
        for dilation in self.dilations[:0:-1]:  # from the last layer to the second
            counts.append(min(self.window, counts[-1] + (KERNEL - 1) * dilation))
        return counts[::-1]

    @property
    def is_standard(self) -> bool:
        """Whether this is the paper's model, the only one that ``fast/`` and ``onnx/`` compute."""
        return True
