"""Many games: played, kept and reported as they finish. Memory does not grow with their number.

Tasks refer to a plan, which has the scenarios and configurations of many games in one file: a
scenario is fifty times as long as a reference to it, and is read where its games are played.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from calbench.agents.base import Completer
from calbench.agents.prompts import use_prompts
from calbench.agents.prompts.folder import used_folders
from calbench.endings import pruned, undone
from calbench.engine.drivers import run, run_async, run_at_once
from calbench.engine.game import game_id
from calbench.engine.jobs import Job
from calbench.engine.seating import seat_agents, seat_policies
from calbench.errors import CalbenchError, OutputError, StoppedError
from calbench.files import no_collection, write_atomically
from calbench.llm.replies.ledger import BegunGame
from calbench.pool import Pool, cut, mapped
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Trace
from calbench.traces.store import FILES, Batch, TraceStore

Source = Callable[[], AbstractAsyncContextManager[Completer]]
"""Opens a source of text while games are played."""


@runtime_checkable
class Keeper(Protocol):
    """A source of text that keeps which games it was asked in."""

    def begin(self, game: BegunGame) -> None:
        """Note a game before a model is asked in it."""
        ...


class Halted(NamedTuple):
    """Why a game was halted, as its trace says, and the player that could not be asked."""

    reason: str
    detail: str
    player: str


@dataclass(frozen=True, slots=True)
class Played:
    """A game that is on disk, and why it was halted; absent if it was not."""

    job: Job
    halt: Halted | None = None


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


def play_jobs(
    jobs: Sequence[Job],
    pool: Pool | None,
    on_done: Callable[[Played], None],
    *,
    store: TraceStore = FILES,
    source: Source | None = None,
    at_once: int = 1,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Play games and keep their traces; report each one when it is on disk.

    Args:
        jobs: what to play.
        pool: where to play; ``None`` plays in this process.
        on_done: called in this process, in the order games finish.
        store: where traces are kept.
        source: opens the source of text for games with models; ``None`` if there are none.
        at_once: how many of those games are played at the same time, in this process.
        is_stopping: asked often; once it is true, no game is started and no model is asked.
    """
    at_hand = [job for job in jobs if not job.waits]
    if at_hand:
        _play_at_hand(at_hand, pool, on_done, store, is_stopping)
    waiting = [job for job in jobs if job.waits]
    if waiting:
        asyncio.run(_play_waiting(waiting, store, source, at_once, on_done, is_stopping))


def _play_at_hand(
    jobs: Sequence[Job],
    pool: Pool | None,
    on_done: Callable[[Played], None],
    store: TraceStore,
    is_stopping: Callable[[], bool],
) -> None:
    """Play games of players that answer immediately, part by part: here or elsewhere the same."""
    parts = parts_of(jobs)
    if pool is None:
        for part in parts:
            if is_stopping():
                return
            _take(part, _play_all(part, store, is_stopping), store, on_done)
        return
    with planned(jobs) as plan:
        play = partial(_play_task, store=store, prompts=used_folders())
        results = mapped(play, map(plan.task, parts), pool)
        for part, result in zip(parts, results, strict=True):
            _take(part, result, store, on_done)


def _take(
    jobs: Sequence[Job],
    result: tuple[int, Batch],
    store: TraceStore,
    on_done: Callable[[Played], None],
) -> None:
    """Keep what was played of some games, the first of them, and report it."""
    num_played, batch = result
    store.commit(batch)
    for job in jobs[:num_played]:  # it may have been stopped
        on_done(Played(job))


def _play_task(task: Task, store: TraceStore, prompts: Sequence[Path] = ()) -> tuple[int, Batch]:
    """Play games of a plan, in a worker, with the prompts of these folders beside our own."""
    for folder in prompts:
        use_prompts(folder)
    return _play_all(task.jobs(), store)


@no_collection()
def _play_all(
    jobs: Sequence[Job], store: TraceStore, is_stopping: Callable[[], bool] = lambda: False
) -> tuple[int, Batch]:
    """Play games of players that answer immediately, which nothing halts, until it is stopped.

    Returns only how many were played, and what the store has to commit: a job holds its whole
    scenario. Traces are gone when the garbage collector is back: looking at each of their small
    objects would take a twentieth of the time.
    """
    traces: list[tuple[Path, Trace]] = []
    for job in jobs:
        if traces and is_stopping():
            break
        traces.append((job.path, played(job.scenario, job.config)))
    return len(traces), store.prepare(traces)


def played(scenario: Scenario, config: GameConfig) -> Trace:
    """Play one game of players that answer immediately."""
    if config.team.uses_language:
        return run_at_once(scenario, config, seat_agents(scenario, config))
    policies = seat_policies(config.team, scenario.num_agents, config.limits)
    return run(scenario, config, policies)


def _why_halted(trace: Trace) -> Halted | None:
    halt = trace.halt
    if halt is None:
        return None
    return Halted(halt.reason, halt.detail, trace.config.team.seat_of(halt.agent_id).player)


async def _play_waiting(
    jobs: Sequence[Job],
    store: TraceStore,
    source: Source | None,
    at_once: int,
    on_done: Callable[[Played], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Play games whose players wait, several at the same time.

    The first failure that is not part of a game ends all games: their replies so far are in the
    store, and the same command resumes from there.
    """
    queue = deque(jobs)

    async def take_games(completer: Completer | None, keeper: Keeper | None) -> None:
        while queue and not is_stopping():
            job = queue.popleft()
            agents = seat_agents(job.scenario, job.config, completer)
            if keeper is not None and any(seat.kind == "model" for seat in job.config.team.seats):
                keeper.begin(begun_game(job.scenario, job.config))
            try:
                trace = await run_async(job.scenario, job.config, agents, is_stopping)
            except StoppedError:
                return
            store.commit(store.prepare([(job.path, trace)]))
            on_done(Played(job, _why_halted(trace)))

    opened = nullcontext() if source is None else source()
    try:
        async with opened as completer, asyncio.TaskGroup() as group:
            keeper = completer if isinstance(completer, Keeper) else None
            for _ in range(min(at_once, len(jobs))):
                group.create_task(take_games(completer, keeper))
    except* CalbenchError as failures:
        first = first_leaf(failures)
        raise first from first.__cause__


def begun_game(scenario: Scenario, config: GameConfig) -> BegunGame:
    """Return a game as a reply store notes it."""
    return BegunGame(game_id(scenario, config), scenario.written.decode(), config.written.decode())


def first_leaf(group: BaseExceptionGroup[CalbenchError]) -> CalbenchError:
    """Return the first exception of a group: a user can act on one at a time."""
    first = group.exceptions[0]
    return first_leaf(first) if isinstance(first, BaseExceptionGroup) else first
