"""What an experiment is for on the site; ``conf/experiment/<name>.yaml`` says it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from calbench.scenarios.models import ID_PATTERN

SETTINGS = "settings"
"""The page of experiments that have a page for each of their settings."""

Id = Annotated[str, Field(pattern=ID_PATTERN)]


class Variant(BaseModel):
    """One way in which a team plays a protocol of the paper's Table 2.

    Attributes:
        team: its id in the experiment.
        protocol: name in the table.
        published_team: id under which the numbers of others are published.
        label: what distinguishes it from other variants.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    team: Id
    protocol: str
    published_team: Id
    label: str


class Role(BaseModel):
    """What an experiment is for.

    Attributes:
        page: where its results are shown: ``settings`` for a page for each setting, otherwise the
            name of a page of results.
        order: place among the experiments of the site, the first ones first.
        title: what tables and pages call it; absent: by its name.
        is_ranked: whether its teams are in the leaderboard, comparisons and ratings.
        games: scenarios of each setting whose games the trace browser has.
        variants: teams that reproduce rows of the paper's Table 2.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    page: Id = SETTINGS
    order: int = 0
    title: str | None = None
    is_ranked: bool = True
    games: Annotated[int, Field(ge=0)] | Literal["all"] = "all"
    variants: tuple[Variant, ...] = ()
