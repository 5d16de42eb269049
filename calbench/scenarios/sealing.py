"""A suite that nobody has seen: drawn from a secret seed, known by a commitment, opened later.

The commitment is a SHA-256 of a salt of 256 bits and of the scenarios' digests in their order. It
says nothing about the scenarios, and no others fit it. Whoever has the seed can draw them all
again by the recipe, which is public but for the seed.
"""

import secrets
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from calbench.code import PACKAGE_VERSION
from calbench.domain.canonical import digest
from calbench.files import printable, shorten
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.suites import build_suites

SEALED = "-sealed"
"""Behind the name of the setting: sealed scenarios have no names of public ones."""

SEEDS = {"sampled": 2**53, "paper": 2**32}
"""How many seeds there are [C]: what a suite's file can hold, and what the paper's recipe, which
multiplies them, leaves of that. The salt keeps them from being tried against a commitment; who has
seen a calendar of a game could try those of the paper's recipe in days."""

SALT_BYTES = 32

Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Note(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Commitment(_Note):
    """What is published of a sealed suite.

    Attributes:
        schema_version: of this file.
        package: version that drew it.
        setting: of its scenarios.
        recipe: what defines the suite, but for the seed.
        scenarios: how many there are.
        commitment: of salt and scenarios.
    """

    schema_version: Literal[1] = 1
    package: str
    setting: str
    recipe: dict[str, Any]
    scenarios: Annotated[int, Field(ge=1)]
    commitment: Hex


class Secret(_Note):
    """What opens a commitment: the seed of the suite, and the salt in hexadecimal."""

    schema_version: Literal[1] = 1
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    salt: Hex


def commitment_of(salt: str, scenarios: Sequence[Scenario]) -> str:
    """Return the commitment to scenarios in their order."""
    return digest([salt, [_named(each) for each in scenarios]])


def seal(spec: SuiteSpec, seed: int | None) -> tuple[Commitment, Secret, tuple[Scenario, ...]]:
    """Draw a suite by a secret seed.

    Args:
        spec: the suite; its own seed is not used.
        seed: the secret; absent: drawn by the system's randomness.

    Raises:
        GenerationError: a scenario cannot be drawn.
    """
    secret = Secret(
        seed=1 + secrets.randbelow(SEEDS[spec.recipe] - 1) if seed is None else seed,
        salt=secrets.token_hex(SALT_BYTES),
    )
    scenarios = drawn(recipe_of(spec), secret.seed)
    told = Commitment(
        package=PACKAGE_VERSION,
        setting=f"{spec.setting}{SEALED}",
        recipe=recipe_of(spec),
        scenarios=len(scenarios),
        commitment=commitment_of(secret.salt, scenarios),
    )
    return told, secret, scenarios


def recipe_of(spec: SuiteSpec) -> dict[str, Any]:
    """Return what defines a suite but for its seed, as plain data."""
    return spec.model_dump(mode="json", exclude={"seed", "path"})


def drawn(recipe: dict[str, Any], seed: int) -> tuple[Scenario, ...]:
    """Draw the scenarios of a recipe by a seed.

    Raises:
        ValidationError: the recipe is none.
        GenerationError: a scenario cannot be drawn.
    """
    spec = SuiteSpec.model_validate({**_tuples(recipe), "seed": seed, "path": None})
    (scenarios,) = build_suites([(f"{spec.setting}{SEALED}", spec)])
    return scenarios


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(each) for key, each in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def problems(told: Commitment, secret: Secret, opened: Sequence[Scenario]) -> Iterator[str]:
    """Yield what keeps an opened suite from being the sealed one; nothing if it is.

    Args:
        told: the commitment.
        secret: seed and salt, as they were opened.
        opened: the scenarios, as they were opened.

    Raises:
        ValidationError: the recipe is none.
        GenerationError: a scenario cannot be drawn.
    """
    again = drawn(told.recipe, secret.seed)
    is_again = commitment_of(secret.salt, again) == told.commitment
    is_opened = commitment_of(secret.salt, opened) == told.commitment
    for key, said, true in (
        ("setting", told.setting, again[0].setting),
        ("scenarios", told.scenarios, len(again)),
    ):
        if said != true:
            shown = printable(shorten(str(said)))
            yield f"{key}: the commitment says {shown}, and the recipe draws {true}"
    if is_again and not is_opened:
        yield _difference(again, opened)
    elif is_opened and not is_again:
        by = "" if told.package == PACKAGE_VERSION else f", which drew it under {told.package},"
        yield f"the recipe{by} draws other scenarios from this seed than were sealed"
    elif not is_opened:
        yield (
            "salt, seed and scenarios do not fit the commitment: the salt is another, or seed "
            "and scenarios are"
        )


def _difference(sealed: Sequence[Scenario], opened: Sequence[Scenario]) -> str:
    if len(sealed) != len(opened):
        return f"{len(opened)} scenarios were opened, {len(sealed)} sealed"
    if sorted(map(_named, sealed)) == sorted(map(_named, opened)):
        first = next(a for a, b in zip(sealed, opened, strict=True) if _named(a) != _named(b))
        return f"the scenarios are in another order, from {first.scenario_id} on"
    first = next(a for a, b in zip(sealed, opened, strict=True) if _named(a) != _named(b))
    return f"scenario {first.scenario_id} is another than was sealed"


def _named(scenario: Scenario) -> str:
    return digest(scenario.model_dump(mode="json"))
