"""What tables depend on beside the facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec

TOKENS_PER_UNIT = 1_000_000
"""Providers name prices for a million tokens."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost, in US$ per million.

    Attributes:
        input: of tokens sent that no cache held.
        cached: of tokens sent that the provider's cache held.
        output: of tokens received.
    """

    input: float
    cached: float
    output: float

    def of(self, input_tokens: float, cached_tokens: float, output_tokens: float) -> float:
        """Return the price of calls, in US$; cached tokens are part of those sent."""
        return (
            self.input * max(0, input_tokens - cached_tokens)
            + self.cached * cached_tokens
            + self.output * output_tokens
        ) / TOKENS_PER_UNIT


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
