"""What tables depend on beside the facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from calbench.llm.prices import Price
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of a run's tables.

    Attributes:
        measure: of the metrics.
        analysis: of the estimates.
        prices: of tokens, by model as LiteLLM spells it; without an entry unknown.
    """

    measure: MeasureSpec = DEFAULT_MEASURE
    analysis: AnalysisSpec = DEFAULT_ANALYSIS
    prices: Mapping[str, Price] = field(default_factory=dict)
