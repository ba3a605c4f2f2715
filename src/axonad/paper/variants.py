"""The variants of AxonAD in the paper's ablations: other prediction targets, losses and scores.

Özer et al., 2026, arXiv 2603.12916, Table 3. ``benchmarks/paper/ablation/suite.toml`` names every
variant. Where the paper's text and the authors' published runs differ, these parameters express
both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from axonad.axon import AxonAD
from axonad.config import check_bool, check_choice
from axonad.errors import ConfigError
from axonad.live_windows import LiveWindows
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.paper.variant_net import MAP_KEYS, PREDICTS, TRAINS, VariantConfig, VariantNet
from axonad.paper.variant_terms import VARIANT_TERMS, variant_terms
from axonad.score.terms import TERMS, Term, without_channels
from axonad.torch_runtime.training_params import select_fields


@dataclass(kw_only=True, eq=False, repr=False)
class AxonADVariant(AxonAD):
    """AxonAD with another prediction target, training objective or score; by default AxonAD.

    Variants are trained and scored by the plain network, without ``fast/``. One that differs in
    ``scores`` alone is trained like AxonAD and has the same weights.

    Parameters
    ----------
    predicts
        ``"queries"``, ``"keys"``, ``"values"``, ``"hidden"`` (the embedding after its norm),
        ``"attention-from-queries"`` or ``"attention-from-queries-and-keys"`` (maps); see
        :mod:`axonad.paper.variant_net`.
    trains
        ``"both"`` losses, or that of ``"reconstruction"`` or ``"prediction"`` alone.
    detached
        Stop the predictor's gradient before the embedding.
    map_keys
        Compare maps on ``"past"`` keys with a learned temperature, or on ``"all"`` without.
    scores
        Terms whose standardised sum is the score: ``"d_rec"``, ``"d_q"`` (queries, cosine),
        ``"d_q_mse"`` (queries, squared distance), ``"d_kl"`` (the KL tail), ``"d_pred"`` (what is
        predicted, compared as in training).
    """

    predicts: str = "queries"
    trains: str = "both"
    detached: bool = False
    map_keys: str = "past"
    scores: tuple[str, ...] = tuple(TERMS)

    def export_onnx(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write an ONNX file; raise ConfigError unless model and score are the paper's."""
        if not self._is_standard:
            raise ConfigError("a variant cannot be exported to ONNX; only AxonAD itself can")
        super().export_onnx(path, overwrite=overwrite)

    @property
    def _is_standard(self) -> bool:
        return self.net_config(channels=1).is_standard and self.scores == tuple(TERMS)

    def net_config(self, channels: int) -> NetConfig:
        """Return the sizes of the network, with what the variant changes."""
        standard = "queries", "both", False
        if (self.predicts, self.trains, self.detached) == standard:
            return super().net_config(channels)
        return VariantConfig(channels=channels, **select_fields(VariantConfig, self.get_params()))

    def make_net(self, channels: int) -> AxonNet:
        """Return the untrained network."""
        config = self.net_config(channels)
        return VariantNet(config) if isinstance(config, VariantConfig) else AxonNet(config)

    def _term_table(self) -> Mapping[str, Term]:
        return without_channels(variant_terms(self.scores, self.net_), self.context_columns)

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows | None:
        """Return windows for streams; None where only the plain network can score."""
        return super().live_windows(before) if self._is_standard else None

    def _check_params(self) -> None:
        check_choice("predicts", self.predicts, PREDICTS)
        check_choice("trains", self.trains, TRAINS)
        check_choice("map_keys", self.map_keys, MAP_KEYS)
        check_bool("detached", self.detached)
        if not isinstance(self.scores, tuple) or not self.scores:
            raise ConfigError(f"scores must be a tuple of terms, got {self.scores!r}")
        for name in self.scores:
            check_choice("scores", name, VARIANT_TERMS)
        if len(set(self.scores)) < len(self.scores):
            raise ConfigError(f"scores must not name a term twice, got {self.scores!r}")
        if "d_pred" in self.scores and self.predicts == "queries":
            raise ConfigError("predicts='queries' has its mismatch in 'd_q'; score that instead")
        super()._check_params()
