"""What distinguishes one DSM from another (paper, appendix D.3, Table 9)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

Count = Annotated[int, Field(ge=0, le=64)]
Size = Annotated[int, Field(ge=1)]
Weight = Annotated[float, Field(ge=0)]


class DsmSettings(BaseModel):
    """Parameters of Table 9; the defaults are DSM-Welfare's, as in the paper [P].

    Attributes:
        lmin: least number of plans in an offer.
        lmax: greatest number of plans in an offer (``dsm_num_proposals``).
        beta: price of an offer without a plan that is feasible for all.
        theta: price of each disclosed plan.
        w: bonus for a success, added to the initiator's own satisfaction.
        depth: greatest number of meetings that a plan moves, each to the next one's slot.
        targets: displacement plans kept for each slot.
        batches: ``exhaustive`` offers batches until a plan is feasible for all or none is left,
            as the paper says [P]; ``single`` announces after one batch, as the release does for
            both presets [R].
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    lmin: Size = 1
    lmax: Size = 12
    beta: Weight = 1.0
    theta: Weight = 0.0
    w: Weight = 1.0
    depth: Count = 2
    targets: Count = 4
    batches: Literal["exhaustive", "single"] = "exhaustive"

    @model_validator(mode="after")
    def _sizes_are_ordered(self) -> Self:
        if self.lmin > self.lmax:
            raise PydanticCustomError(
                "sizes",
                "lmin {lmin} is greater than lmax {lmax}",
                {"lmin": self.lmin, "lmax": self.lmax},
            )
        return self


def checked(settings: Mapping[str, Any]) -> DsmSettings:
    """Return settings as they are used; every seat of every game has them, so few differ.

    Raises:
        pydantic.ValidationError: a setting does not fit.
    """
    try:
        return _checked(**settings)
    except TypeError:  # a value that cannot be hashed: it does not fit, and this says why
        return DsmSettings.model_validate(settings)


@lru_cache(maxsize=64, typed=True)
def _checked(**settings: Any) -> DsmSettings:
    return DsmSettings.model_validate(settings)
