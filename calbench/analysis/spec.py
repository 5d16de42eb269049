"""How tables are made: every number that a study may vary."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class AnalysisSpec(BaseModel):
    """Settings of the estimates.

    Attributes:
        bootstrap_resamples: resamples of the scenarios behind every interval [C].
        bootstrap_seed: seed of the resamples; they depend on it, the setting and the number
            of scenarios alone [C].
        confidence: share of the resamples that an interval holds [C].
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    bootstrap_resamples: Annotated[int, Field(ge=1)] = 2000
    bootstrap_seed: Annotated[int, Field(ge=0)] = 0
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95


DEFAULT_ANALYSIS = AnalysisSpec()
"""What the published tables use."""
