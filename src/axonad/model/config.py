"""The numbers that shape the network."""

from __future__ import annotations

from dataclasses import dataclass

from axonad.errors import ConfigError

PREDICTS = (
    "queries", "keys", "values", "hidden",
    "attention-from-queries", "attention-from-queries-and-keys",
)  # fmt: skip
TRAINS = ("both", "reconstruction", "prediction")
MAP_KEYS = ("past", "all")


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

    @property
    def is_standard(self) -> bool:
        """Whether this is the paper's model: all others are trained and scored the plain way.

        Whatever was made for speed (stacks on a card, folded weights, live windows, ONNX) knows
        the standard model alone and asks here.
        """
        return True


@dataclass(frozen=True, kw_only=True)
class VariantConfig(NetConfig):
    """A network that predicts something else, or is trained otherwise (``variant.py``).

    ``predicts`` is one of PREDICTS, ``trains`` which of the two losses count, ``detached`` whether
    the predictor's gradient stops before the embedding, ``map_keys`` which keys attention maps
    are compared on.
    """

    predicts: str
    trains: str
    detached: bool
    map_keys: str

    @property
    def compares_maps(self) -> bool:
        """Whether what is predicted are attention maps, compared by their divergence."""
        return self.predicts.startswith("attention")

    @property
    def is_standard(self) -> bool:
        """Never: the plain way is right for every variant."""
        return False
