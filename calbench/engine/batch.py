"""Many games: one file each, resumable, on any executor of ``concurrent.futures``.

A game is finished if its file is a complete trace with the game id that this run would give
it; any other file at that path stops the run before anything is written. Memory does not grow
with the number of games.
"""

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from calbench.agents.completer import CallSite, Completer
from calbench.console import progress
from calbench.engine.drivers import run, run_async
from calbench.engine.game import game_id
from calbench.engine.seating import seat_agents, seat_policies
from calbench.errors import CalbenchError, ConfigError, OutputError, StoppedError
from calbench.llm.completion import Completion, Request
from calbench.llm.replies.games import BegunGame
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Team, Trace
from calbench.traces.storage import read_trace, trace_name, write_trace

GAMES_PER_TASK = 25
"""Games given to a worker at once [C]: enough to make the overhead negligible."""


Source = Callable[[], AbstractAsyncContextManager[Completer]]
"""Opens a source of text while games are played."""


@runtime_checkable
class Keeper(Protocol):
    """A source of text that keeps which games it was asked in."""

    def begin(self, game: BegunGame) -> None:
        """Note a game before a model is asked in it."""
        ...


def is_open(team: Team) -> bool:
    """Whether a model or the user's own agent sits in it: then two games may differ."""
    return any(seat.kind in ("model", "custom") for seat in team.seats)


@dataclass(frozen=True, slots=True)
class Job:
    """One game to play and the path of its trace."""

    scenario: Scenario
    config: GameConfig
    path: Path

    @property
    def waits(self) -> bool:
        """Whether an agent in it takes time to answer: a model, or the user's own agent."""
        return is_open(self.config.team)

    @property
    def team_id(self) -> str:
        """The team that plays it."""
        return self.config.team.team_id

    @property
    def scenario_id(self) -> str:
        """The scenario it is played on."""
        return self.scenario.scenario_id

    @property
    def game_id(self) -> str:
        """The id this run gives the game."""
        return game_id(self.scenario, self.config)


def plan_jobs(
    scenarios: Sequence[Scenario],
    configs: Sequence[GameConfig],
    folder: Path,
    chosen: Container[str] | None = None,
    replicates: int = 1,
) -> list[Job]:
    """Return every game of a run, team by team, at ``<folder>/<team>/<scenario_id>.json``.

    A team that rotates moves by one seat with each scenario of a setting, played or not. Further
    games of a team on a scenario are at ``<scenario_id>.r1.json`` and so on.

    Args:
        scenarios: of whole suites.
        configs: what defines the games of each team.
        folder: of the traces.
        chosen: ids of the scenarios that are played; absent: all.
        replicates: games on each scenario of teams with models or own agents; of all others the
            second would be the first, and they play once.

    Raises:
        ConfigError: two games would have one file, because an id ends like a replicate.
    """
    jobs = [
        Job(
            scenario,
            rotated.updated(replicate=replicate) if replicate else rotated,
            folder / trace_name(config.team.team_id, scenario.scenario_id, replicate),
        )
        for config in configs
        for place, scenario in _with_places(scenarios)
        if chosen is None or scenario.scenario_id in chosen
        for rotated in [config.rotated(place)]
        for replicate in range(replicates if is_open(config.team) else 1)
    ]
    if replicates > 1:
        _check_files(jobs)
    return jobs


def _check_files(jobs: Sequence[Job]) -> None:
    counts = Counter(job.path for job in jobs)
    for job in jobs:
        if job.config.replicate and counts[job.path] > 1:
            raise ConfigError(
                f"replicates: {job.path.name} would be the file of two games: give scenarios ids "
                "that do not end like a replicate"
            )


def _with_places(scenarios: Sequence[Scenario]) -> Iterator[tuple[int, Scenario]]:
    """Number the scenarios within their settings."""
    places: Counter[str] = Counter()
    for scenario in scenarios:
        yield places[scenario.setting], scenario
        places[scenario.setting] += 1


def unfinished(jobs: Sequence[Job]) -> list[Job]:
    """Return the games that still have to be played.

    Raises:
        OutputError: naming a file at a game's path that is not that game.
    """
    there = sum(os.path.lexists(job.path) for job in jobs)
    missing = []
    with progress("checked", there) as tick:
        for job in jobs:
            if not os.path.lexists(job.path):
                missing.append(job)
                continue
            if not _is_finished(job):
                missing.append(job)
            tick()
    return missing


def _is_finished(job: Job) -> bool:
    """Whether what is at the place of a game is this game, played to its end."""
    try:
        trace = read_trace(job.path)
    except CalbenchError as error:
        raise OutputError(_taken(job.path, f"is not a complete trace ({error})")) from error
    if trace.game_id != job.game_id:
        raise OutputError(
            _taken(job.path, f"holds another game ({trace.game_id}, not {job.game_id})")
        )
    return not trace.is_halted  # a game ended by a provider or the budget is resumed


def _taken(path: Path, what: str) -> str:
    folder = path.parents[2]
    return f"{path} {what}; nothing was written: choose another folder, e.g. out={folder}-2"


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

    @property
    def is_halted(self) -> bool:
        """Whether it was halted."""
        return self.halt is not None


def play_jobs(
    jobs: Sequence[Job],
    executor: Executor | None,
    on_done: Callable[[Played], None],
    *,
    source: Source | None = None,
    at_once: int = 1,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Play games and write their traces; report each one when it is on disk.

    Args:
        jobs: what to play.
        executor: any executor whose workers see the same files; ``None`` plays in this process.
        on_done: called in this process, in the order games finish.
        source: opens the source of text for games with models; ``None`` if there are none.
        at_once: how many of those games are played at the same time, in this process.
        is_stopping: asked often; once it is true, no game is started and no model is asked.
    """
    waiting = [job for job in jobs if job.waits]
    at_hand = [job for job in jobs if not job.waits]
    if executor is None:
        for job in at_hand:
            on_done(Played(job, play_job(job)))
    else:
        for finished in _submitted(at_hand, executor):
            on_done(finished)
    if waiting:
        asyncio.run(_play_waiting(waiting, source, at_once, on_done, is_stopping))


def play_job(job: Job) -> Halted | None:
    """Play one game of players that answer immediately, and write its trace.

    Returns:
        Why it was halted; ``None`` if it was not.
    """
    trace = played(job.scenario, job.config)
    write_trace(job.path, trace)
    return _why_halted(trace)


def played(scenario: Scenario, config: GameConfig) -> Trace:
    """Play one game of players that answer immediately."""
    if config.team.uses_language:
        return asyncio.run(run_async(scenario, config, seat_agents(scenario, config)))
    policies = seat_policies(config.team, scenario.num_agents, config.limits)
    return run(scenario, config, policies)


def _why_halted(trace: Trace) -> Halted | None:
    halt = trace.halt
    if halt is None:
        return None
    return Halted(halt.reason, halt.detail, trace.config.team.seat_of(halt.agent_id).player)


async def _play_waiting(
    jobs: Sequence[Job],
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
                trace = await run_async(job.scenario, job.config, agents)
            except StoppedError:
                return
            write_trace(job.path, trace)
            on_done(Played(job, _why_halted(trace)))

    opened = nullcontext() if source is None else source()
    try:
        async with opened as completer, asyncio.TaskGroup() as group:
            stoppable = None if completer is None else Stoppable(completer, is_stopping)
            keeper = completer if isinstance(completer, Keeper) else None
            for _ in range(min(at_once, len(jobs))):
                group.create_task(take_games(stoppable, keeper))
    except* CalbenchError as failures:
        first = first_leaf(failures)
        raise first from first.__cause__


def begun_game(scenario: Scenario, config: GameConfig) -> BegunGame:
    """Return a game as a reply store notes it."""
    return BegunGame(
        game_id(scenario, config), scenario.model_dump_json(), config.model_dump_json()
    )


@dataclass(frozen=True, slots=True)
class Stoppable:
    """Asks no model once the run is stopping; calls already made finish and are recorded."""

    completer: Completer
    is_stopping: Callable[[], bool]

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Ask the model, unless the run is stopping."""
        if self.is_stopping():
            raise StoppedError("stopped")
        return await self.completer.complete(request, site)


def first_leaf(group: BaseExceptionGroup[CalbenchError]) -> CalbenchError:
    """Return the first exception of a group: a user can act on one at a time."""
    first = group.exceptions[0]
    return first_leaf(first) if isinstance(first, BaseExceptionGroup) else first


def _play_all(jobs: Sequence[Job]) -> list[Halted | None]:
    return [play_job(job) for job in jobs]


def _submitted(jobs: Sequence[Job], executor: Executor) -> Iterator[Played]:
    """Yield games as chunks of them finish, with a bounded number submitted at a time."""
    size = max(1, min(GAMES_PER_TASK, len(jobs) // (4 * (os.cpu_count() or 1)) or 1))
    waiting = deque(jobs[start : start + size] for start in range(0, len(jobs), size))
    running: dict[Future[list[Halted | None]], Sequence[Job]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < 4 * (os.cpu_count() or 1):
                chunk = waiting.popleft()
                running[executor.submit(_play_all, chunk)] = chunk
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                # Workers return only why a game was halted: a job holds its whole scenario.
                for job, halt in zip(running.pop(future), future.result(), strict=True):
                    yield Played(job, halt)
    finally:
        for future in running:
            future.cancel()
