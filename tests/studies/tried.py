"""What was tried for the numbers of Table 2 that are open -> data/published/tried.csv.

Every line is one rule changed from those of the published games, on the paper's own tasks and in
the measures of its release: ``python -m tests.studies.tried``. A rule that gave a printed row would
be worth more than any other; a constant that comes near is a fit, and worth nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import pandas as pd

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import AS_RELEASED
from calbench.api import load_suite
from calbench.config.composition import compose
from calbench.console import say
from calbench.engine.batch import played
from calbench.files import write_atomically
from calbench.metrics.authors import authors_score
from calbench.metrics.game import score_game
from calbench.scenarios.models import Scenario
from stages import paths

OUT = paths.DATA / "published" / "tried.csv"

HALVES = ("uniform", "varied")

LIMITS = (
    "limits.max_turns_per_round=15",
    *(f"limits.max_turns_per_round={sweeps}" for sweeps in (3, 4, 5, 6, 8)),
    *(f"limits.decision_retries={retries}" for retries in (0, 2, 3)),
    *(f"limits.agent_cap={cap}" for cap in (4, 6, 8, 12)),
    *(f"limits.dm_cap={cap}" for cap in (20, 30, 40)),
    "limits.commit=seat",
    "limits.sd_model=[1,2,3,4,5]",
    "limits.sd_model=[5,4,3,2,1]",
    "limits.sd_model=[1,1,1,1,5]",
    "limits.sd_model=[1,2,4,8,16]",
    "limits.sd_model=[1,1,2,2,3]",
)
"""Of SD-MAP's row: talk, retries, budgets of messages, how batches are applied, weights."""

SETTINGS = (
    "lmin=12",
    *(f"lmax={most}" for most in (10, 11, 13, 16)),
    *(f"depth={depth}" for depth in (1, 3)),
    *(f"targets={targets}" for targets in (2, 3, 5, 8)),
    *(f"beta={beta}" for beta in (0.5, 2.0)),
    "batches=exhaustive",
)
"""Of DSM-welfare's row, whose loss in the varied half alone is open; by the first every offer is
as wide as it may be."""

TRIED: dict[str, Sequence[str]] = {
    "sd-map": ("", *LIMITS),
    "dsm-welfare-single": ("", *(f"teams.dsm-welfare-single.players.dsm.{s}" for s in SETTINGS)),
}
"""Rules by team, as words of the command; the first is none."""


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
        shown = rule.rpartition("players.dsm.")[2].removeprefix("limits.")
        yield {"setting": half, "team": team, "rule": shown or "as published", **means}


def main() -> None:
    """Play every rule and write the table."""
    suites = {half: load_suite(half) for half in HALVES}
    made = [
        row for team, rules in TRIED.items() for rule in rules for row in rows(team, rule, suites)
    ]
    write_atomically(OUT, pd.DataFrame(made).to_csv(index=False, lineterminator="\n").encode())
    say(f"{len(made)} rows, {OUT}")


if __name__ == "__main__":
    main()
