"""What runs of any size take, from measured terms -> data/published/costs.csv.

data/published/terms.csv is measured by hand, on one machine. Run this after an edit of the terms,
of prices or of prompts: ``python -m tests.studies.costs``. Every number is a term times the number
of games; what models say is estimated as ``calbench estimate`` does.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from calbench.cli.estimate import Take, estimate
from calbench.config.composition import compose
from calbench.config.groups import known_names
from calbench.files import write_atomically
from stages import paths

TERMS, COSTS = (paths.DATA / "published" / f"{name}.csv" for name in ("terms", "costs"))

SIZES = tuple(10**power for power in range(3, 8))
"""Numbers of games that the page shows."""

TYPED = "typed agents"

SUITE = "uniform"
"""What the estimated games of models are played on [C]; those of ``varied`` are as long."""

OWN_MACHINE = {"local", "smollm2"}
"""Models without a price."""

COHORT = "one seventh each"
"""The paper's seven models, each among itself in its part of the games."""

TEAMS = 4
"""Typed teams that play a scenario: it is generated once for them."""

MS_PER_HOUR, NANO, GB = 3_600_000, 10**9, 10**9


def typed(term: Mapping[str, float]) -> dict[str, float]:
    """Return what one game of typed agents takes."""
    ours = term["generate"] / TEAMS + term["play"] + term["measure"] + term["tables"]
    return {
        "processor_hours": ours / MS_PER_HOUR,
        "shards_gb": term["shard"] / GB,
        "files_gb": term["file"] / GB,
        "tables_gb": term["table_files"] / GB,
    }


def spoken(term: Mapping[str, float], take: Take, games: int) -> dict[str, float]:
    """Return what one game of a model among itself takes, from what some games would."""
    calls = take.calls / games
    ours = calls * term["call"] + term["measure_words"] + term["tables"]
    return {
        "processor_hours": ours / MS_PER_HOUR,
        "shards_gb": term["shard_words"] / GB,
        "files_gb": term["file_words"] / GB,
        "tables_gb": term["table_files_words"] / GB,
        "calls": calls,
        "dollars": take.nano / games / NANO,
        "dollars_at_most": take.nano_bound / games / NANO,
    }


def a_game(term: Mapping[str, float]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what one game takes, by who plays it."""
    yield TYPED, typed(term)
    models = [name for name in known_names("model") if name not in OWN_MACHINE]
    each = []
    for name in models:
        takes, games, _ = estimate(compose([f"suite={SUITE}", f"model={name}", "out=nowhere"]))
        (take,) = takes.values()
        each.append(spoken(term, take, games))
        yield name, each[-1]
    yield COHORT, {key: sum(game[key] for game in each) / len(each) for key in each[0]}


def main(_: list[str]) -> None:
    """Write the table."""
    terms = pd.read_csv(TERMS)
    term = dict(zip(terms["term"], terms["value"], strict=True))
    rows = [
        {"players": players, "games": games, **{key: games * value for key, value in game.items()}}
        for players, game in a_game(term)
        for games in SIZES
    ]
    frame = pd.DataFrame(rows)
    memory = term["table_memory"] * frame["games"] + term["base_memory"]
    frame.insert(6, "memory_gb", memory / GB)
    write_atomically(COSTS, frame.to_csv(index=False, float_format=shown).encode())


def shown(value: Any) -> str:
    """Return three digits of a number, without an exponent."""
    return np.format_float_positional(value, 3, unique=False, fractional=False, trim="-")


if __name__ == "__main__":
    paths.answer(main)
