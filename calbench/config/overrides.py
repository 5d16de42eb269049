"""Overrides of a command line as Hydra has to read them."""

import re
from collections.abc import Callable, Sequence

SEATED = {
    frozenset({"model"}): "my-model",
    frozenset({"protocol"}): "my-protocol",
    frozenset({"model", "protocol"}): "my-model-among-protocols",
}
"""Team that plays if a command line chooses no team but who takes the open seats."""

_ELEMENT = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[^,\[\]{}()'\"]+")
"""One element of a value: quoted, or up to the next separator."""

_BEYOND = re.compile(r"[^\w\s/\\+.$%*@?|:-]", re.ASCII)
"""What Hydra's grammar takes in quotes only."""


def quoted(override: str) -> str:
    """Quote what Hydra's grammar does not take as it is: letters beyond ASCII, and some signs."""
    key, sign, value = override.partition("=")
    if not sign or "(" in value:  # a function of Hydra's, such as range(3)
        return override
    has_keys = "{" in value
    return f"{key}={_ELEMENT.sub(lambda found: _quoted(found[0], has_keys), value)}"


def _quoted(element: str, has_key: bool) -> str:
    key, sign, value = element.rpartition(":") if has_key else ("", "", element)
    if element[0] in "'\"" or not _BEYOND.search(value):
        return element
    text = value.strip()
    escaped = re.sub(r"(\\+)$", r"\1\1", text)
    return f"{key}{sign}'{escaped}'"


def with_players(
    overrides: Sequence[str], open_seats: Callable[[Sequence[str]], frozenset[str]]
) -> list[str]:
    """Return overrides with the team that a choice of a model or a protocol means.

    Who takes the open seats of teams also plays alone: without teams that have such a seat, it
    sits everywhere.

    Args:
        overrides: of a run.
        open_seats: says for which groups the teams of some overrides have open seats.
    """
    keys = [override.partition("=")[0].lstrip("+~") for override in overrides]
    chosen = frozenset(
        group for group in ("model", "protocol") for key in keys if key.split(".")[0] == group
    )
    if not chosen or any(re.split(r"[.@]", key)[0] == "teams" for key in keys):
        return list(overrides)
    experiments = [each for each in overrides if each.startswith("+experiment=")]
    for each in experiments:
        names = each.partition("=")[2].split(",")
        if any(chosen & open_seats([f"+experiment={name}"]) for name in names):
            return list(overrides)
    return [*overrides, f"teams=[{SEATED[chosen]}]"]
