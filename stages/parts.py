"""Which parameters of an experiment each stage uses."""

from collections.abc import Mapping
from typing import Any

import yaml

from calbench.config.spec import RunSpec
from calbench.files import write_atomically
from stages import paths

USED: Mapping[str, tuple[str, ...]] = {
    "generate": ("more_suites", "suite", "suite_seeds"),
    "play": (
        "channels",
        "label_bank",
        "limits",
        "prompts",
        "reflection",
        "replicates",
        "replies",
        "teams",
    ),
    # Rows are in the order of teams.
    "calibrate": ("facts", "judge", "measure", "replicates", "teams"),
}
"""Keys by stage; those that are not here use all of them."""


def part(spec: RunSpec, stage: str) -> dict[str, Any]:
    """Return what a stage uses of an experiment's parameters."""
    return spec.model_dump(mode="json", include=set(USED[stage]))


def write_parts(specs: list[RunSpec]) -> None:
    """Write one file for each stage, which it depends on, with its part of every experiment."""
    for stage in USED:
        parts = {spec.name: part(spec, stage) for spec in specs}
        text = yaml.safe_dump(parts, sort_keys=True, allow_unicode=True)
        write_atomically(paths.PARTS / f"{stage}.yaml", text.encode())
