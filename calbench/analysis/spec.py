"""How tables are made: every number that a study may vary."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class AnalysisSpec(BaseModel):
    """Settings of the estimates.

    Attributes:
        bootstrap_resamples: resamples of the scenarios behind every interval [C].
        bootstrap_seed: seed of the resamples; they depend on it, the setting and the number
            of scenarios alone [C].
        confidence: share of the resamples that an interval holds [C]; one less it is the
            level of tests.
        permutations: random swaps behind a p-value, where all swaps are more than these [C].
        power: with which a suite has to find a gap that it is said to resolve [C].
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    bootstrap_resamples: Annotated[int, Field(ge=1)] = 2000
    bootstrap_seed: Annotated[int, Field(ge=0)] = 0
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    permutations: Annotated[int, Field(ge=1)] = 9999
    power: Annotated[float, Field(gt=0, lt=1)] = 0.8


DEFAULT_ANALYSIS = AnalysisSpec()
"""What the published tables use."""
