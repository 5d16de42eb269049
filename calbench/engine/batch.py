"""Many games: one file each, resumable, on any executor of ``concurrent.futures``.

A game is kept if the file at its place reads whole and carries the very game id this run
would give it; anything else at that place stops the run before a byte is written. Games
stream: memory does not grow with their number.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path

from calbench.engine.drivers import run
from calbench.engine.game import game_id
from calbench.engine.seating import seat_policies
from calbench.errors import CalbenchError, OutputError
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig
from calbench.traces.storage import read_trace, write_trace

GAMES_PER_TASK = 25
"""Games handed to a worker at once [C]: large enough that hand-over does not show."""


@dataclass(frozen=True, slots=True)
class Job:
    """One game to play and the place of its trace."""

    scenario: Scenario
    config: GameConfig
    path: Path

    @property
    def game_id(self) -> str:
        """The id this run gives the game."""
        return game_id(self.scenario, self.config)


def plan_jobs(
    scenarios: Sequence[Scenario], configs: Sequence[GameConfig], folder: Path
) -> list[Job]:
    """Return every game of a run, team by team, at ``<folder>/<team>/<scenario_id>.json``."""
    return [
        Job(scenario, config, folder / config.team.team_id / f"{scenario.scenario_id}.json")
        for config in configs
        for scenario in scenarios
    ]


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
    return True


def _taken(path: Path, what: str) -> str:
    folder = path.parents[2]
    return f"{path} {what}; nothing was written: choose another folder, e.g. out={folder}-2"


def play_jobs(
    jobs: Sequence[Job], executor: Executor | None, on_done: Callable[[Job], None]
) -> None:
    """Play games and write their traces; report each as it is on disk.

    Args:
        jobs: what to play.
        executor: any executor whose workers see the same files; ``None`` plays here.
        on_done: called in this process, in the order games finish.
    """
    if executor is None:
        for job in jobs:
            play_job(job)
            on_done(job)
        return
    for finished in _submitted(jobs, executor):
        for job in finished:
            on_done(job)


def play_job(job: Job) -> int:
    """Play one game and write its trace; return the file's size in bytes."""
    config = job.config
    policies = seat_policies(config.team, job.scenario.num_agents, config.limits)
    return write_trace(job.path, run(job.scenario, config, policies))


def _play_all(jobs: Sequence[Job]) -> None:
    for job in jobs:
        play_job(job)


def _submitted(jobs: Sequence[Job], executor: Executor) -> Iterator[Sequence[Job]]:
    """Yield chunks as they finish, with a bounded number of them under way."""
    size = max(1, min(GAMES_PER_TASK, len(jobs) // (4 * (os.cpu_count() or 1)) or 1))
    waiting = deque(jobs[start : start + size] for start in range(0, len(jobs), size))
    running: dict[Future[None], Sequence[Job]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < 4 * (os.cpu_count() or 1):
                chunk = waiting.popleft()
                running[executor.submit(_play_all, chunk)] = chunk
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
                yield running.pop(future)
    finally:
        for future in running:
            future.cancel()
