"""The numbers that shape the network."""

from __future__ import annotations

from dataclasses import dataclass

from axonad.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class NetConfig:
    """Sizes of one network. Defaults live in the detector's fields, not here."""

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
        if self.tail > self.window:
            raise ConfigError(f"tail must be at most window ({self.window}), got {self.tail}")

    @property
    def scored_steps(self) -> int:
        """How many last steps the query mismatch counts: min(k, T - s)."""
        return min(self.tail, self.window - self.horizon)
