"""The order of games in every table: by setting, then team, then scenario."""

import sys
from collections.abc import Sequence

GameKey = tuple[str, int, str, str]
"""Setting, rank of the team, team, scenario."""


class GameOrder:
    """Sorts games the same way in whatever order they finished."""

    def __init__(self, teams: Sequence[str]) -> None:
        """Take the teams in the order in which tables list them; others follow by name."""
        self._rank_by_team = {team: rank for rank, team in reversed(list(enumerate(teams)))}
        self._last = len(teams)

    def key(self, setting: str, team: str, scenario_id: str) -> GameKey:
        """Return what a game is sorted by. Games share their names, which come from many files."""
        rank = self._rank_by_team.get(team, self._last)
        return sys.intern(setting), rank, sys.intern(team), sys.intern(scenario_id)
