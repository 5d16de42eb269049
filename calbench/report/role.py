"""What an experiment is for on the site; ``conf/experiment/<name>.yaml`` says it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from calbench.scenarios.models import ID_PATTERN

SETTINGS = "settings"
"""The page of experiments that have a page for each of their settings."""

Id = Annotated[str, Field(pattern=ID_PATTERN)]


class Role(BaseModel):
    """What an experiment is for.

    Attributes:
        page: where its results are shown: ``settings`` for a page for each setting, otherwise the
            name of a page of results.
        order: place among the experiments of the site, the first ones first.
        title: what tables and pages call it; absent: by its name.
        is_ranked: whether its teams are in the leaderboard, comparisons and ratings.
        games: scenarios of each setting whose games the trace browser has.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    page: Id = SETTINGS
    order: int = 0
    title: str | None = None
    is_ranked: bool = True
    games: Annotated[int, Field(ge=0)] | Literal["all"] = "all"
