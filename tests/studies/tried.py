"""What was tried for the numbers of Table 2 that are open -> data/published/tried.csv.

Every line is one rule changed from those of the published games, on the paper's own tasks and in
the measures of its release: ``python -m tests.studies.tried``. A rule that gave a printed row would
be worth more than any other; a constant that comes near is a fit, and worth nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import Any
from unittest.mock import patch

import pandas as pd

from calbench import load_suite
from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import AS_RELEASED
from calbench.analysis.summary.table2 import HALVES
from calbench.config.composition import compose
from calbench.console import say
from calbench.domain.ids import Slot
from calbench.engine.batch import played
from calbench.files import write_atomically
from calbench.metrics.authors import authors_score
from calbench.metrics.game import score_game
from calbench.protocols.sd_map import negotiation, policy
from calbench.protocols.sd_map.memory import Memory
from calbench.scenarios.models import Scenario
from stages import paths

OUT = paths.DATA / "published" / "tried.csv"

LIMITS = {
    "max_turns_per_round": (15, 3, 4, 5, 6, 8),
    "decision_retries": (0, 2, 3),
    "agent_cap": (4, 6, 8, 12),
    "dm_cap": (20, 30, 40),
    "commit": ("seat",),
    "sd_model": ("[1,2,3,4,5]", "[5,4,3,2,1]", "[1,1,1,1,5]", "[1,2,4,8,16]", "[1,1,2,2,3]"),
}
"""Of SD-MAP's row: talk, retries, budgets of messages, how batches are applied, weights."""

SETTINGS = {
    "lmin": (12,),
    "lmax": (10, 11, 13, 16),
    "depth": (1, 3),
    "targets": (2, 3, 5, 8),
    "beta": (0.5, 2.0),
    "batches": ("exhaustive",),
}
"""Of DSM-welfare's row, whose loss in the varied half alone is open; by the first every offer is
as wide as it may be."""

READINGS: dict[str, tuple[str, Any]] = {
    "the initiator proposes free slots alone": (
        "next_candidate", lambda memory, slot: memory.calendar[slot] is None,
    ),
    "responders accept free slots alone": (
        "answer", lambda memory, slot: memory.calendar[slot] is None,
    ),
    "responders accept an errand's slot if it can go elsewhere": (
        "answer", lambda memory, slot: memory.calendar[slot] is None or memory.has_free,
    ),
}  # fmt: skip
"""Readings of appendix D.2 that no setting of a game has: which slots one side may take besides."""

TRIED = {
    team: ("", *(f"{prefix}.{key}={value}" for key in keys for value in keys[key]))
    for team, prefix, keys in (
        ("sd-map", "limits", LIMITS),
        ("dsm-welfare-single", "teams.dsm-welfare-single.players.dsm", SETTINGS),
    )
}
"""Rules by team, as words of the command; the first is none."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Play SD-MAP by another reading: a study's, so it needs no place in the protocol."""
    side, may_take = READINGS[name]
    as_published: Any = getattr(negotiation, side)
    is_open: Any = negotiation._is_open

    def otherwise(memory: Memory, *rest: Any) -> Any:
        def both(own: Memory, slot: Slot) -> bool:
            return bool(is_open(own, slot) and may_take(own, slot))

        with patch.object(negotiation, "_is_open", both):
            return as_published(memory, *rest)

    with patch.object(negotiation, side, otherwise), patch.object(policy, side, otherwise):
        yield


def rows(
    team: str, rule: str, suites: Mapping[str, Sequence[Scenario]]
) -> Iterator[dict[str, object]]:
    """Yield a team's measures by one rule, for each half."""
    spec = compose(["+experiment=table2", f"teams=[{team}]", *([rule] if rule else [])])
    (config,) = spec.game_configs
    for half, suite in suites.items():
        found: dict[str, list[float]] = {name: [] for name in HEADLINE}
        for scenario in suite:
            score = score_game(played(scenario, config), measure=spec.measure)
            released = authors_score(score, scenario)
            if released is None:
                raise ValueError(f"{scenario.scenario_id} has no such measures")
            for name, own in AS_RELEASED.items():
                found[name].append(getattr(released, own))
            agents = score.agents
            found["coordination"] += [100 * each.scheduled / each.assigned for each in agents]
            found["excess_vps"] += [each.excess_vps or 0.0 for each in agents]
        means = {name: round(fmean(values), 4) for name, values in found.items()}
        shown = rule.rpartition(".dsm.")[2].removeprefix("limits.")
        yield {"setting": half, "team": team, "rule": shown or "as published", **means}


def main() -> None:
    """Play every rule and write the table."""
    suites = {half: load_suite(half) for half in HALVES}
    made = [
        row for team, rules in TRIED.items() for rule in rules for row in rows(team, rule, suites)
    ]
    for name in READINGS:
        with reading(name):
            made += [{**row, "rule": name} for row in rows("sd-map", "", suites)]
    write_atomically(OUT, pd.DataFrame(made).to_csv(index=False, lineterminator="\n").encode())
    say(f"{len(made)} rows, {OUT}")


if __name__ == "__main__":
    main()
