"""How a game is measured: the settings that a study may vary."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

METRICS_VERSION = 4
"""Raised by every change of a metric; tables name it."""


class MeasureSpec(BaseModel):
    """Settings of the metrics.

    Attributes:
        belief_prior: an observer's belief that a slot is feasible, at the start of each round;
            0.5 [P, section 3.2].
        vps_floor: slot-equivalents that each agent-game leaks for free; 5 [P, appendix F.3].
            Subtracted once from an agent's sum over the game [R].
        fairness_sample_limit: greatest number of optimal cost vectors in the sensitivity
            analysis of fairness; of more vectors, a seeded sample of this size is used [C].
        fairness_sensitivity: of games of more than 14 meetings, or with too many vectors to list,
            ``exact`` leaves the analysis out and ``sampled`` lets the solver sample vectors, which
            can take half a minute a game [C].
        bits: whether an informed reader says what agents learn of each other, in bits [C].
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    belief_prior: Annotated[float, Field(ge=0, le=1)] = 0.5
    vps_floor: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5.0
    fairness_sample_limit: Annotated[int, Field(ge=1)] = 1000
    fairness_sensitivity: Literal["exact", "sampled"] = "exact"
    bits: bool = True


DEFAULT_MEASURE = MeasureSpec()
"""The paper's settings."""
