"""From the traces of games to facts.

Games on one scenario are measured together, so that they share oracle answers which are then
forgotten. What several processes make is taken in the order of the games, with a bounded number of
tasks ahead; facts wait on disk, so memory grows with a few numbers for each game.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from calbench.facts.beliefs import BELIEFS, PAIRS
from calbench.facts.calls import CALLS
from calbench.facts.fact import Fact, MeasuredGame, measured
from calbench.facts.games import SCORES
from calbench.facts.judged import JUDGE_FACTS
from calbench.facts.messages import MESSAGES
from calbench.facts.reflections import REFLECTIONS
from calbench.facts.speech import AUDITS
from calbench.facts.storage import Facts, FactsWriter, GameKey, MeasuredBatch, batch_of
from calbench.metrics.measure import MeasureSpec
from calbench.oracle.cache import OracleCache
from calbench.traces.storage import TraceReader, no_collection

GAMES_PER_TASK = 20
"""Most games handed to a worker at once [C]: large enough that hand-over does not show."""

TASKS_AHEAD = 4
"""Tasks for each processor that wait or whose results do: the bound on memory [C]."""

TALK: tuple[Fact, ...] = (BELIEFS, PAIRS, MESSAGES, CALLS, REFLECTIONS, *AUDITS)
"""What grows with talk."""

ALL_FACTS: tuple[Fact, ...] = (*SCORES, *TALK)
"""What every run measures."""

FACT_BY_NAME: Mapping[str, Fact] = {fact.name: fact for fact in (*ALL_FACTS, *JUDGE_FACTS)}
"""Facts that can be asked for; a worker is told their names."""

Extent = Literal["all", "scores"]
"""How much is measured: ``scores`` leaves out what grows with talk."""

Judge = Literal["scripted"]
"""Who may read messages where no model is asked."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class Recorded(Protocol):
    """A game whose trace is on disk: one of a run's jobs, or a file that somebody named."""

    @property
    def path(self) -> Path:
        """Its trace."""

    @property
    def team_id(self) -> str:
        """Whose game it is."""

    @property
    def scenario_id(self) -> str:
        """On which scenario; games that share it are measured together."""


def facts_of(extent: Extent = "all", judge: Judge | None = None) -> tuple[Fact, ...]:
    """Return the facts of a run.

    Args:
        extent: how much is measured.
        judge: who reads the messages, if anybody.
    """
    facts = ALL_FACTS if extent == "all" else SCORES
    return facts if judge is None else (*facts, *JUDGE_FACTS)


def measure_games(
    games: Sequence[Recorded],
    folder: Path,
    measure: MeasureSpec,
    tick: Callable[[], None],
    executor: Executor | None = None,
    facts: Sequence[Fact] = ALL_FACTS,
) -> Facts:
    """Measure games, each trace read once, and write their facts.

    Args:
        games: those of a run, or of several; facts list teams as they first come here.
        folder: where the facts go.
        measure: settings of the metrics.
        tick: called once for each game.
        executor: where to measure; ``None`` measures here. The facts do not depend on it.
        facts: which of :data:`FACT_BY_NAME`.

    Raises:
        CalbenchError: one line about a trace that does not fit, or the folder.
    """
    teams = list(dict.fromkeys(game.team_id for game in games))
    work = partial(_measured, measure=measure, names=tuple(fact.name for fact in facts))
    with FactsWriter(folder, facts, teams) as writer:
        for batch in mapped(work, _by_scenario(games), executor):
            writer.add(batch)
            for _ in batch.keys:
                tick()
        return writer.write()


def _measured(paths: Sequence[Path], measure: MeasureSpec, names: Sequence[str]) -> MeasuredBatch:
    """Measure games on one scenario, which share oracle answers."""
    oracle, facts = OracleCache(), [FACT_BY_NAME[name] for name in names]
    with no_collection():
        games = [measured(trace, measure, oracle) for trace in map(TraceReader().read, paths)]
        return batch_of(
            facts, ((_key(game), {f.name: f.of(game) for f in facts}) for game in games)
        )


def _key(game: MeasuredGame) -> GameKey:
    return GameKey(game.score.setting, game.score.team_id, game.score.scenario_id)


def _by_scenario(games: Iterable[Recorded]) -> Iterator[Sequence[Path]]:
    """Yield the traces of each scenario; very many on one scenario in several tasks."""
    groups: dict[str, list[Recorded]] = {}
    for game in games:
        groups.setdefault(game.scenario_id, []).append(game)
    for group in groups.values():
        yield from chunks([game.path for game in group])


def chunks(paths: Sequence[Path]) -> Iterator[Sequence[Path]]:
    """Yield paths in tasks for a worker."""
    for start in range(0, len(paths), GAMES_PER_TASK):
        yield paths[start : start + GAMES_PER_TASK]


def mapped(
    function: Callable[[Task], Result], tasks: Iterable[Task], executor: Executor | None
) -> Iterator[Result]:
    """Yield the results in the order of the tasks, with few of them under way.

    ``Executor.map`` would begin all tasks, and keep every result until it is asked for.
    """
    if executor is None:
        yield from map(function, tasks)
        return
    most = TASKS_AHEAD * (os.cpu_count() or 1)
    running: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            running.append(executor.submit(function, task))
            if len(running) >= most:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
