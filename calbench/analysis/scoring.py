"""From the traces of a run to its tables, one trace at a time.

Games on one scenario are scored together, so that they share oracle answers which are then
forgotten: memory grows with neither games nor scenarios. What several processes make is taken
in the order of the games, with a bounded number of tasks ahead.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self, TypeVar

from calbench.analysis.audits.tables import AuditTables
from calbench.analysis.privacy import PrivacyRows, PrivacyTables, privacy_rows
from calbench.analysis.reflections import ReflectedGame, ReflectionTables, reflected_game
from calbench.analysis.spec import DEFAULT_ANALYSIS, AnalysisSpec
from calbench.analysis.spool import Places
from calbench.analysis.tables import Collector
from calbench.analysis.talk_tables import TalkRows, TalkTables, talk_rows
from calbench.analysis.usage import Prices
from calbench.memory import no_collection
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.loss import RoundBeliefs, round_beliefs
from calbench.oracle.cache import OracleCache
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader, read_trace

GAMES_PER_TASK = 20
"""Most games handed to a worker at once [C]: large enough that hand-over does not show."""

TASKS_AHEAD = 4
"""Tasks for each processor that wait or whose results do: the bound on memory [C]."""

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
        """On which scenario; games that share it are scored together."""


def write_tables(
    games: Sequence[Recorded],
    folder: Path,
    measure: MeasureSpec,
    spec: AnalysisSpec,
    tick: Callable[[], None],
    executor: Executor | None = None,
    prices: Prices | None = None,
) -> None:
    """Score every game of a run and write its tables.

    Args:
        games: those of a run, or of several; tables list teams as they first come here.
        folder: where the tables go.
        measure: settings of the metrics.
        spec: settings of the estimates.
        tick: called once for each game.
        executor: where to score; ``None`` scores here. The tables do not depend on it.
        prices: what models' tokens cost, where known.
    """
    with Collector(folder, team_ids(games), spec, prices) as tables:
        for score in scored_games(games, measure, executor):
            tables.add(score)
            tick()
        tables.write()


def write_all_tables(
    games: Sequence[Recorded],
    folder: Path,
    measure: MeasureSpec,
    spec: AnalysisSpec,
    tick: Callable[[], None],
    executor: Executor | None = None,
    prices: Prices | None = None,
) -> None:
    """Write what :func:`write_tables` and :func:`write_privacy_tables` write.

    Each trace is read once, and its messages are replayed once. Arguments as there.
    """
    measured, places = partial(_measured, measure=measure, prices=prices), Places()
    with (
        Collector(folder, team_ids(games), spec, prices, places) as tables,
        _RowTables(folder, games, measure, spec, places) as rows,
    ):
        for found in mapped(measured, _by_scenario(games), executor):
            for score, of_game in found:
                tables.add(score)
                rows.append(of_game)
                tick()
        tables.write()
        rows.write()


class _GameRows(NamedTuple):
    """One game's lines of the tables of privacy, reflections, messages and calls.

    ``spoken`` is the trace itself where its words are audited.
    """

    leaked: PrivacyRows
    reflected: ReflectedGame
    talked: TalkRows
    spoken: Trace | None


def _measured(
    paths: Sequence[Path], measure: MeasureSpec, prices: Prices | None
) -> list[tuple[GameScore, _GameRows]]:
    """Measure games on one scenario, which share oracle answers."""
    oracle = OracleCache()
    found = []
    with no_collection():
        for trace in map(TraceReader().read, paths):
            beliefs = tuple(round_beliefs(trace, measure))
            score = score_game(trace, measure=measure, oracle=oracle, beliefs=beliefs)
            found.append((score, _game_rows(trace, measure, prices, beliefs)))
    return found


def _game_rows(
    trace: Trace,
    measure: MeasureSpec,
    prices: Prices | None,
    beliefs: Sequence[RoundBeliefs] | None = None,
) -> _GameRows:
    rounds = tuple(round_beliefs(trace, measure)) if beliefs is None else beliefs
    return _GameRows(
        privacy_rows(trace, measure, rounds),
        reflected_game(trace),
        talk_rows(trace, measure, prices, rounds),
        trace if trace.config.team.uses_language else None,
    )


class _RowTables:
    """The tables that :func:`write_privacy_tables` writes."""

    def __init__(
        self,
        folder: Path,
        games: Sequence[Recorded],
        measure: MeasureSpec,
        spec: AnalysisSpec,
        places: Places | None = None,
    ) -> None:
        teams, below = team_ids(games), folder / "privacy"
        places = Places() if places is None else places
        self._open = ExitStack()
        self._privacy = self._open.enter_context(PrivacyTables(below, teams, measure, places))
        self._reflections = self._open.enter_context(ReflectionTables(below, teams, spec, places))
        self._talk = self._open.enter_context(TalkTables(below, teams, places))
        self._audits = AuditTables(folder, teams, places=places)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def append(self, game: _GameRows) -> None:
        self._privacy.append(game.leaked)
        self._reflections.append(game.reflected)
        self._talk.append(game.talked)
        if game.spoken is not None:
            self._audits.add(game.spoken)

    def write(self) -> None:
        self._privacy.write()
        self._reflections.write()
        self._talk.write()
        self._audits.write()


def scored_games(
    games: Sequence[Recorded], measure: MeasureSpec, executor: Executor | None = None
) -> Iterator[GameScore]:
    """Yield the scores of games, those on one scenario together.

    Args:
        games: each has its trace on disk.
        measure: settings of the metrics.
        executor: where to score; ``None`` scores here.
    """
    score = partial(_scores, measure=measure)
    for scores in mapped(score, _by_scenario(games), executor):
        yield from scores


def _scores(paths: Sequence[Path], measure: MeasureSpec) -> list[GameScore]:
    """Score games on one scenario, which share oracle answers."""
    oracle = OracleCache()
    with no_collection():
        traces = map(TraceReader().read, paths)
        return [score_game(trace, measure=measure, oracle=oracle) for trace in traces]


def write_privacy_tables(
    games: Sequence[Recorded],
    folder: Path,
    measure: MeasureSpec,
    tick: Callable[[], None],
    spec: AnalysisSpec = DEFAULT_ANALYSIS,
    executor: Executor | None = None,
    prices: Prices | None = None,
) -> None:
    """Write the large tables of a run below ``privacy``, and the audits of its language.

    Those are the four VPS tables (paper, appendix F.5), two of reflections, and the messages
    and calls of every game.

    Args:
        games: those of a run, or of several; tables list teams as they first come here.
        folder: where the tables go.
        measure: prior and floor.
        tick: called once for each game.
        spec: settings of the estimates.
        executor: where to measure; ``None`` measures here. The tables do not depend on it.
        prices: what models' tokens cost, where known.
    """
    rows = partial(_rows_of, measure=measure, prices=prices)
    tasks = chunks([game.path for game in games])
    with _RowTables(folder, games, measure, spec) as tables:
        for measured in mapped(rows, tasks, executor):
            for game in measured:
                tables.append(game)
                tick()
        tables.write()


def _rows_of(paths: Sequence[Path], measure: MeasureSpec, prices: Prices | None) -> list[_GameRows]:
    with no_collection():
        return [_game_rows(trace, measure, prices) for trace in map(read_trace, paths)]


def team_ids(games: Iterable[Recorded]) -> list[str]:
    """Return the teams of a run in the order they were named."""
    return list(dict.fromkeys(game.team_id for game in games))


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
