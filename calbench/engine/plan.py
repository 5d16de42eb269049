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
from calbench.errors import OutputError
from calbench.files import write_atomically
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

    def task(self, jobs: Sequence[Job]) -> Task:
        """Return a reference to some of the games, which is all that the first tasks wait for.

        Each scenario and each configuration is written once, a line each, and the file closed:
        workers on other machines see it then.

        Raises:
            OutputError: it cannot be written.
        """
        games = []
        try:
            with self.path.open("ab") as file:
                for job in jobs:
                    if id(job.scenario) not in self.scenarios:
                        line = job.scenario.model_dump_json().encode()  # it is written once
                        self.scenarios[id(job.scenario)] = _put(file, line)
                    config = job.config.written
                    if config not in self.configs:
                        self.configs[config] = _put(file, config)
                    pieces = self.scenarios[id(job.scenario)], self.configs[config]
                    games.append(PlannedGame(*pieces, str(job.path)))
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"{self.path}: cannot be written ({reason})") from error
        return Task(str(self.path), tuple(games))


@contextmanager
def planned(jobs: Sequence[Job]) -> Iterator[Plan]:
    """Begin the plan of games, at least one, beside their folder of traces; remove it after.

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
            write_atomically(plan.path, b"")
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
