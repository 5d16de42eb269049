"""Many games: one file each, resumable, on any executor of ``concurrent.futures``.

A game is kept if the file at its place reads whole and carries the very game id this run
would give it; anything else at that place stops the run before a byte is written. Games
stream: memory does not grow with their number.
"""

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from calbench.agents.completer import CallSite, Completer
from calbench.engine.drivers import run, run_async
from calbench.engine.game import game_id
from calbench.engine.seating import seat_agents, seat_policies
from calbench.errors import CalbenchError, OutputError, StoppedError
from calbench.llm.completion import Completion, Request
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Trace
from calbench.traces.storage import read_trace, write_trace

GAMES_PER_TASK = 25
"""Games handed to a worker at once [C]: large enough that hand-over does not show."""


Source = Callable[[], AbstractAsyncContextManager[Completer]]
"""Opens a source of text for as long as games are played."""


@dataclass(frozen=True, slots=True)
class Job:
    """One game to play and the place of its trace."""

    scenario: Scenario
    config: GameConfig
    path: Path

    @property
    def waits(self) -> bool:
        """Whether somebody in it takes time to answer: a model, or the user's own agent."""
        return any(seat.kind in ("model", "custom") for seat in self.config.team.seats)

    @property
    def team_id(self) -> str:
        """Whose game it is."""
        return self.config.team.team_id

    @property
    def scenario_id(self) -> str:
        """On which scenario it is played."""
        return self.scenario.scenario_id

    @property
    def game_id(self) -> str:
        """The id this run gives the game."""
        return game_id(self.scenario, self.config)


def plan_jobs(
    scenarios: Sequence[Scenario], configs: Sequence[GameConfig], folder: Path
) -> list[Job]:
    """Return every game of a run, team by team, at ``<folder>/<team>/<scenario_id>.json``.

    A team that rotates moves on by one seat from each scenario of a setting to the next.
    """
    return [
        Job(
            scenario,
            config.rotated(place),
            folder / config.team.team_id / f"{scenario.scenario_id}.json",
        )
        for config in configs
        for place, scenario in _with_places(scenarios)
    ]


def _with_places(scenarios: Sequence[Scenario]) -> Iterator[tuple[int, Scenario]]:
    """Number the scenarios within their settings."""
    places: Counter[str] = Counter()
    for scenario in scenarios:
        yield places[scenario.setting], scenario
        places[scenario.setting] += 1


def unfinished(jobs: Sequence[Job]) -> list[Job]:
    """Return the games that still have to be played.

    Raises:
        OutputError: naming a file that stands at a game's place and is not that game.
    """
    return [job for job in jobs if not _is_finished(job)]


def _is_finished(job: Job) -> bool:
    if not os.path.lexists(job.path):
        return False
    try:
        trace = read_trace(job.path)
    except CalbenchError as error:
        raise OutputError(_taken(job.path, f"is not a whole trace ({error})")) from error
    if trace.game_id != job.game_id:
        raise OutputError(
            _taken(job.path, f"holds another game ({trace.game_id}, not {job.game_id})")
        )
    return not trace.is_halted  # one that a provider or the budget ended is played on


def _taken(path: Path, what: str) -> str:
    folder = path.parents[2]
    return f"{path} {what}; nothing was written: choose another folder, e.g. out={folder}-2"


@dataclass(frozen=True, slots=True)
class Played:
    """A game that is on disk, and why it was cut short; empty: it was not."""

    job: Job
    halt: str = ""

    @property
    def is_halted(self) -> bool:
        """Whether it was cut short."""
        return bool(self.halt)


def play_jobs(
    jobs: Sequence[Job],
    executor: Executor | None,
    on_done: Callable[[Played], None],
    *,
    source: Source | None = None,
    at_once: int = 1,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Play games and write their traces; report each as it is on disk.

    Args:
        jobs: what to play.
        executor: any executor whose workers see the same files; ``None`` plays here.
        on_done: called in this process, in the order games finish.
        source: opens the source of text for games in which models sit; ``None`` if there are
            none.
        at_once: how many of those are played at the same time, in this process.
        is_stopping: asked often; once true, no further game is begun and no model asked.
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


def play_job(job: Job) -> str:
    """Play one game of players that answer at once, and write its trace.

    Returns:
        Why it was cut short; empty: it was not.
    """
    config = job.config
    if config.team.uses_language:
        trace = asyncio.run(run_async(job.scenario, config, seat_agents(job.scenario, config)))
    else:
        policies = seat_policies(config.team, job.scenario.num_agents, config.limits)
        trace = run(job.scenario, config, policies)
    write_trace(job.path, trace)
    return _why_halted(trace)


def _why_halted(trace: Trace) -> str:
    halt = trace.halt
    return "" if halt is None else f"{halt.reason}: {halt.detail}"


async def _play_waiting(
    jobs: Sequence[Job],
    source: Source | None,
    at_once: int,
    on_done: Callable[[Played], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Play games whose players wait, several at the same time.

    The first failure that is not the game's own ends all others: what they were sent so far
    is in the store, and the same command goes on from there.
    """
    queue = deque(jobs)

    async def take_games(completer: Completer | None) -> None:
        while queue and not is_stopping():
            job = queue.popleft()
            agents = seat_agents(job.scenario, job.config, completer)
            try:
                trace = await run_async(job.scenario, job.config, agents)
            except StoppedError:
                return
            write_trace(job.path, trace)
            on_done(Played(job, _why_halted(trace)))

    opened = nullcontext() if source is None else source()
    try:
        async with opened as completer, asyncio.TaskGroup() as group:
            stoppable = None if completer is None else _Stoppable(completer, is_stopping)
            for _ in range(min(at_once, len(jobs))):
                group.create_task(take_games(stoppable))
    except* CalbenchError as failures:
        first = first_leaf(failures)
        raise first from first.__cause__


@dataclass(frozen=True, slots=True)
class _Stoppable:
    """Asks nobody once the run is to stop; calls under way come home and are recorded."""

    completer: Completer
    is_stopping: Callable[[], bool]

    async def complete(self, request: Request, site: CallSite) -> Completion:
        if self.is_stopping():
            raise StoppedError("stopped")
        return await self.completer.complete(request, site)


def first_leaf(group: BaseExceptionGroup[CalbenchError]) -> CalbenchError:
    """Return one of a group's exceptions: a user can act on one line at a time."""
    first = group.exceptions[0]
    return first_leaf(first) if isinstance(first, BaseExceptionGroup) else first


def _play_all(jobs: Sequence[Job]) -> list[str]:
    return [play_job(job) for job in jobs]


def _submitted(jobs: Sequence[Job], executor: Executor) -> Iterator[Played]:
    """Yield games as chunks of them finish, with a bounded number of them under way."""
    size = max(1, min(GAMES_PER_TASK, len(jobs) // (4 * (os.cpu_count() or 1)) or 1))
    waiting = deque(jobs[start : start + size] for start in range(0, len(jobs), size))
    running: dict[Future[list[str]], Sequence[Job]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < 4 * (os.cpu_count() or 1):
                chunk = waiting.popleft()
                running[executor.submit(_play_all, chunk)] = chunk
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                # What comes back is small: a job holds its whole scenario.
                for job, halt in zip(running.pop(future), future.result(), strict=True):
                    yield Played(job, halt)
    finally:
        for future in running:
            future.cancel()
