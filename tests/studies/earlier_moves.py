"""How often moving an earlier meeting would be cheaper -> data/published/earlier_moves.csv.

Run it after a change of the canonical suites or of how the teams play:
``python -m tests.studies.earlier_moves``.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from calbench.api import load_suite, play_game
from calbench.console import say
from calbench.files import write_atomically
from calbench.metrics.optimum import RoundCosts, round_costs
from calbench.oracle.cache import OracleCache
from calbench.scenarios.models import Scenario
from stages import paths

SUITES = ("uniform", "varied")
TEAMS = ("imap", "dsm-welfare", "sd-map")
"""Those of the paper's that place nearly every meeting [C]: after a failure there is nothing to
compare."""

AHEAD = {"the round's": False, "all later": True}
"""Which meetings are known, in words."""

OUT = paths.DATA / "published" / "earlier_moves.csv"


def measured(setting: str, team: str, scenarios: Sequence[Scenario]) -> Iterator[dict[str, object]]:
    """Yield a row for each of :data:`AHEAD`, of games played anew."""
    games = [(scenario, play_game(scenario, team).events) for scenario in scenarios]
    cache = OracleCache()
    for known, sees_ahead in AHEAD.items():
        rounds = [
            each
            for scenario, events in games
            for each in round_costs(scenario, events, cache, sees_ahead=sees_ahead)
        ]
        saved = [_saved(each) for each in rounds]
        yield {
            "setting": setting,
            "team": team,
            "known": known,
            "games": len(games),
            "rounds": len(rounds),
            "cheaper": sum(each > 0 for each in saved),
            "saved": sum(saved),
        }


def _saved(costs: RoundCosts) -> int:
    """Return what moving earlier meetings saves; a meeting it alone makes possible saves 0."""
    if costs.in_place is None or costs.with_moves is None:
        return 0
    return costs.in_place - costs.with_moves


def main(_: list[str]) -> None:
    """Play and measure the canonical suites, and write the table."""
    rows = [
        row
        for setting in SUITES
        for team in TEAMS
        for row in measured(setting, team, load_suite(setting))
    ]
    table = pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")
    write_atomically(OUT, table.encode())
    say(f"{OUT}: {len(rows)} rows")


if __name__ == "__main__":
    paths.answer(main)
