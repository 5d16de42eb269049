"""What tables depend on beside the facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from calbench.llm.prices import Price
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec

Prices = Mapping[str, Price | None]
"""Prices by model as LiteLLM spells it, or by player; ``None`` or no entry is unknown."""


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of a run's tables.

    Attributes:
        measure: of the metrics.
        analysis: of the estimates.
        prices: what models' tokens cost, where known.
    """

    measure: MeasureSpec = DEFAULT_MEASURE
    analysis: AnalysisSpec = DEFAULT_ANALYSIS
    prices: Prices = field(default_factory=dict)

    def price_of(self, player: str, model: str | None) -> Price | None:
        """Return the price of a player's model; a price of the player itself prevails."""
        own = self.prices.get(player)
        return own if own is not None or model is None else self.prices.get(model)
