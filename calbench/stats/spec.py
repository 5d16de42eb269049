"""Settings of tables: every number that a study may vary."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

RATING_DIGITS = 4
"""MMRs that agree to this many decimals share a rank [C]: last bits differ between processors."""


TAIL_SHARE = 0.8
"""Of the tail of the confidence, what is left beyond each end of a t interval [C].

The remainder is for skewed values, of which t intervals miss 7% to 9% instead of 5%.
"""


class RatingSpec(BaseModel):
    """Settings of ratings.

    Attributes:
        orders: random orders of the games over which ratings are averaged; 200 [C].
        resamples: resamples of the scenarios for rank intervals [C].
        orders_per_resample: random orders over which each resample is averaged [C].
        seed: of orders and resamples [C].
        confidence: share of the resamples within a rank interval [C].
        mmr_start: MMR of a new player, whose ordinals are 0 [C].
        mmr_scale: points of MMR per unit of the mean ordinal [C]: skill 25, where all start, known
            without uncertainty would be 2000.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    orders: Annotated[int, Field(ge=1)] = 200
    resamples: Annotated[int, Field(ge=1)] = 200
    orders_per_resample: Annotated[int, Field(ge=1)] = 4
    seed: Annotated[int, Field(ge=0)] = 0
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    mmr_start: Annotated[float, Field(allow_inf_nan=False)] = 1000.0
    mmr_scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 40.0


DEFAULT_RATINGS = RatingSpec()
"""What published ratings use."""


class AnalysisSpec(BaseModel):
    """Settings of the estimates.

    Attributes:
        confidence: of every interval [C]; one minus it is the level of tests.
        permutations: random swaps for a p-value, if there are more swaps than these [C].
        permutation_seed: of these swaps [C].
        power: of the minimum detectable difference and the required sample size [C].
        ratings: settings of the ratings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    permutations: Annotated[int, Field(ge=1)] = 9999
    permutation_seed: Annotated[int, Field(ge=0)] = 0
    power: Annotated[float, Field(gt=0, lt=1)] = 0.8
    ratings: RatingSpec = DEFAULT_RATINGS

    @property
    def t_confidence(self) -> float:
        """Share of normal samples whose t interval, with its tails, holds the mean."""
        return 1 - TAIL_SHARE * (1 - self.confidence)


DEFAULT_ANALYSIS = AnalysisSpec()
"""The settings of the published tables."""
