"""A plan: the scenarios and configurations of many games in one file, to which tasks refer.

A scenario is fifty times as long as a reference to it, and is read where its games are played.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from calbench.endings import pruned, undone
from calbench.engine.jobs import Job
from calbench.files import written_atomically
from calbench.pool import cut
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig


class Piece(NamedTuple):
    """A part of a plan's file, in bytes."""

    start: int
    length: int


class PlannedGame(NamedTuple):
    """A game of a plan, and the path of its trace."""

    scenario: Piece
    config: Piece
    path: str


@dataclass(frozen=True, slots=True)
class Task:
    """Some games of a plan, which are played together."""

    plan: str
    games: tuple[PlannedGame, ...]

    def __str__(self) -> str:
        return f"games {', '.join(game.path for game in self.games)}"

    def jobs(self) -> list[Job]:
        """Read the games from the plan."""
        with Path(self.plan).open("rb") as file:
            scenarios = {
                piece: Scenario.model_validate_json(_read(file, piece))
                for piece in {game.scenario for game in self.games}
            }
            configs = {
                piece: _config(_read(file, piece)) for piece in {game.config for game in self.games}
            }
        return [
            Job(scenarios[game.scenario], configs[game.config], Path(game.path))
            for game in self.games
        ]


@lru_cache(maxsize=256)
def _config(line: bytes) -> GameConfig:
    """Return a configuration: the next task most likely has the same ones."""
    return GameConfig.model_validate_json(line)


def _read(file: BinaryIO, piece: Piece) -> bytes:
    file.seek(piece.start)
    return file.read(piece.length)


@dataclass(slots=True)
class Plan:
    """Where the scenarios and configurations of some games are.

    Scenarios are known by their identity, as long as the games are in memory: those of several
    experiments may have one name. Configurations are known by their text.
    """

    path: Path
    scenarios: dict[int, Piece] = field(default_factory=dict)
    configs: dict[bytes, Piece] = field(default_factory=dict)

    def write(self, path: Path, jobs: Sequence[Job]) -> None:
        """Write each scenario and each configuration of games once, a line each."""
        with path.open("wb") as file:
            for job in jobs:
                if id(job.scenario) not in self.scenarios:
                    self.scenarios[id(job.scenario)] = _put(file, job.scenario.written)
                if job.config.written not in self.configs:
                    self.configs[job.config.written] = _put(file, job.config.written)

    def task(self, jobs: Sequence[Job]) -> Task:
        """Return a reference to some of the games."""
        games = (
            PlannedGame(
                self.scenarios[id(job.scenario)],
                self.configs[job.config.written],
                str(job.path),
            )
            for job in jobs
        )
        return Task(str(self.path), tuple(games))


@contextmanager
def planned(jobs: Sequence[Job]) -> Iterator[Plan]:
    """Write the plan of games, at least one, beside their folder of traces; remove it after.

    What a killed run leaves there is replaced by the next one.

    Raises:
        OutputError: it cannot be written.
    """
    folder = jobs[0].path.parents[1]
    plan = Plan(folder.with_name(f".{folder.name}.plan"))

    def remove() -> None:
        with suppress(OSError):
            plan.path.unlink()

    with pruned(folder.parent), undone(remove):
        try:
            with written_atomically(plan.path, is_synced=False) as beside:
                plan.write(beside, jobs)
            yield plan
        finally:
            remove()


def _put(file: BinaryIO, line: bytes) -> Piece:
    start = file.tell()
    file.write(line + b"\n")
    return Piece(start, len(line))


def parts_of(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut games into the parts that are played together.

    Games on one scenario are, since it is read once for all of them.
    """
    return cut(jobs, lambda job: job.seconds, lambda job: id(job.scenario))
