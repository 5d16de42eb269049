"""What each team plays in each experiment, and what these games are made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calbench.config.spec import RunSpec
from calbench.domain.canonical import digest
from calbench.engine.jobs import Job, plan_jobs
from calbench.scenarios.storage import read_suite
from calbench.traces.models import GameConfig
from stages import paths
from stages.inputs import Inputs
from stages.players import Players


@dataclass(frozen=True, slots=True)
class TeamGames:
    """The games of one team in one experiment.

    Attributes:
        spec: the experiment.
        config: what defines the games.
        recipe: the digest of everything that they are made from.
    """

    spec: RunSpec
    config: GameConfig
    recipe: str

    @property
    def folder(self) -> Path:
        """Where their traces are."""
        return paths.traces(self.spec.name) / self.config.team.team_id


def team_games(specs: Sequence[RunSpec]) -> list[TeamGames]:
    """Return what every team of some experiments plays, and from what."""
    inputs, players = Inputs("play"), Players()
    return [
        TeamGames(spec, config, digest([config.digest, players.inputs(config.team, files)]))
        for spec in specs
        for files in [inputs.of(spec)]
        for config in spec.game_configs
    ]


def planned(teams: Sequence[TeamGames]) -> dict[Path, list[Job]]:
    """Return the games of some teams, by folder; each suite is read once."""
    names = dict.fromkeys(each.spec.name for each in teams)
    suites = {name: read_suite(paths.suite(name)) for name in names}
    return {
        each.folder: plan_jobs(
            suites[each.spec.name],
            [each.config],
            each.folder.parent,
            replicates=each.spec.replicates,
        )
        for each in teams
    }
