"""Traces -> data/facts/<experiment>: every game measured, once."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calbench.analysis.scoring import Extent, facts_of, measure_games
from calbench.console import progress
from calbench.errors import FileError
from calbench.metrics.measure import MeasureSpec
from calbench.traces.catalog import trace_paths
from stages import paths

READ = (paths.TRACES, paths.DATA / "label_banks")
"""What it reads beside its code and its part."""


class Measured(paths.Part):
    """How the games of an experiment are measured.

    Attributes:
        teams: in the order of the rows.
        measure: settings of the metrics.
        facts: how much is measured.
        judge: who reads the messages as an outside reader would, if anybody.
    """

    teams: tuple[str, ...]
    measure: MeasureSpec
    facts: Extent
    judge: Literal["scripted"] | None


@dataclass(frozen=True, slots=True)
class Game:
    """A game with a trace on disk, of which nothing is read before it is measured."""

    path: Path
    seconds: float = 0.01

    @property
    def team_id(self) -> str:
        """Its team."""
        return self.path.parent.name

    @property
    def scenario_id(self) -> str:
        """Its scenario, and the number of a replicate: games of one are measured together."""
        return self.path.stem


def main() -> None:
    """Measure the games of experiments: scores, messages, beliefs, and what a judge reads."""
    parts = paths.read_parts("calibrate", Measured)
    games = {name: games_of(name, part) for name, part in parts.items()}
    total = sum(map(len, games.values()))
    paths.prune(paths.FACTS, {paths.FACTS / name for name in parts})
    with progress("games", total) as tick, paths.pool(total) as pool:
        for name, part in parts.items():
            folder, facts = paths.FACTS / name, facts_of(part.facts, part.judge)
            shutil.rmtree(folder, ignore_errors=True)
            measure_games(games[name], folder, part.measure, tick, pool, facts)


def games_of(name: str, part: Measured) -> list[Game]:
    """Return the games of an experiment, in the order of its teams.

    Raises:
        FileError: games of a team are missing, or there are games of another one.
    """
    folder = paths.TRACES / name
    games = [Game(path) for path in trace_paths(folder)]
    if different := {game.team_id for game in games} ^ set(part.teams):
        raise FileError(f"{folder}: not the games of {min(different)}; run the stage play")
    return sorted(games, key=lambda game: (part.teams.index(game.team_id), game.path))


if __name__ == "__main__":
    paths.run_stage(main, READ)
