"""From the traces of games to facts.

Games on one scenario are measured together, because they share oracle results. Results of several
processes are taken in the order of the games, with a bounded number of tasks ahead. Facts are on
disk, so memory grows only by a few numbers per game.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from calbench.facts.beliefs import BELIEFS, BITS_BANDS, CHANCES, PAIR_BITS, PAIRS, REFLECTIONS
from calbench.facts.fact import Fact, MeasuredGame, measured
from calbench.facts.games import SCORES
from calbench.facts.judged import JUDGE_FACTS
from calbench.facts.messages import CALLS, MESSAGES
from calbench.facts.speech import AUDITS, CASES, HEARINGS
from calbench.facts.storage import Facts, FactsWriter, GameKey, MeasuredBatch, batch_of
from calbench.files import no_collection
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.inference.bits import UNKNOWN
from calbench.metrics.privacy.inference.game import learnt_of
from calbench.oracle.cache import OracleCache
from calbench.pool import Pool, cut, mapped
from calbench.traces.catalog import Catalog
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader

TALK: tuple[Fact, ...] = (
    BELIEFS,
    PAIRS,
    PAIR_BITS,
    BITS_BANDS,
    MESSAGES,
    CALLS,
    REFLECTIONS,
    CHANCES,
    *AUDITS,
    CASES,
    HEARINGS,
)
"""Facts that grow with messages."""

ALL_FACTS: tuple[Fact, ...] = (*SCORES, *TALK)
"""Facts of every run."""

FACT_BY_NAME: Mapping[str, Fact] = {fact.name: fact for fact in (*ALL_FACTS, *JUDGE_FACTS)}
"""All facts; workers get their names."""

SHORTEST_TASK = 0.25
"""Seconds [C]: the tables of a task take some hundredths of one to make, to send and to write,
however few games are in them."""

EVENTS_TOGETHER = 10_000
"""Events of games that are read together [C]: some fifty of five agents, and some MB."""

Extent = Literal["all", "scores"]
"""What is measured: ``scores`` omits facts that grow with messages."""

Judge = Literal["scripted"]
"""Judges other than models."""


class Recorded(Protocol):
    """A game with a trace on disk: one of a run's jobs, or a given file."""

    @property
    def path(self) -> Path:
        """Its trace."""

    @property
    def team_id(self) -> str:
        """Its team."""

    @property
    def scenario_id(self) -> str:
        """Its scenario; games on one scenario are measured together."""

    @property
    def seconds(self) -> float:
        """About how long it takes to measure."""


def facts_of(extent: Extent = "all", judge: Judge | None = None) -> tuple[Fact, ...]:
    """Return the facts of a run.

    Args:
        extent: what is measured.
        judge: of the messages, if any.
    """
    facts = ALL_FACTS if extent == "all" else SCORES
    return facts if judge is None else (*facts, *JUDGE_FACTS)


def measure_games(
    games: Sequence[Recorded],
    folder: Path,
    measure: MeasureSpec,
    tick: Callable[[], None],
    pool: Pool | None = None,
    facts: Sequence[Fact] = ALL_FACTS,
) -> Facts:
    """Measure games, each trace read once, and write their facts.

    Args:
        games: of one or several runs; their first games give the order of teams in the facts.
        folder: of the facts.
        measure: settings of the metrics.
        tick: called once for each game.
        pool: runs the tasks; ``None``: this process. The facts do not depend on it.
        facts: which of :data:`FACT_BY_NAME`.

    Raises:
        CalbenchError: a trace is invalid, or the folder cannot be written.
    """
    with FactsWriter(folder, facts, teams_of(games)) as writer:
        add_measured(writer, games, measure, tick, pool, facts)
        return writer.write()


def add_measured(
    writer: FactsWriter,
    games: Iterable[Recorded],
    measure: MeasureSpec,
    tick: Callable[[], None],
    pool: Pool | None,
    facts: Sequence[Fact],
) -> None:
    """Measure games into a writer of their facts; otherwise as :func:`measure_games`."""
    names = tuple(fact.name for fact in facts)
    for batch in measured_batches(_by_scenario(games), measure, pool, names):
        writer.add(batch)
        for _ in batch.keys:
            tick()


def teams_of(games: Iterable[Recorded]) -> list[str]:
    """Return the teams of games in the order of their first ones."""
    return list(dict.fromkeys(game.team_id for game in games))


def measured_batches(
    tasks: Iterable[Sequence[Path]],
    measure: MeasureSpec,
    pool: Pool | None,
    facts: Sequence[str],
) -> Iterator[MeasuredBatch]:
    """Yield the facts of each task, game by game in its order.

    Args:
        tasks: traces of games on one scenario each.
        measure: settings of the metrics.
        pool: runs the tasks; ``None``: this process.
        facts: names in :data:`FACT_BY_NAME`.

    Raises:
        CalbenchError: a trace is invalid.
    """
    catalog = Catalog()
    found = ((paths, catalog.of(paths)) for paths in tasks)
    yield from mapped(partial(_measured, measure=measure, facts=facts), found, pool)


def _measured(
    task: tuple[Sequence[Path], Catalog], measure: MeasureSpec, facts: Sequence[str]
) -> MeasuredBatch:
    paths, catalog = task
    return measured_traces(map(TraceReader(catalog=catalog).read, paths), measure, facts)


@no_collection()  # it ends where all that was read is gone: a collection would look at each object
def measured_traces(
    traces: Iterable[Trace], measure: MeasureSpec, facts: Sequence[str]
) -> MeasuredBatch:
    """Measure games; those on one scenario follow each other and share oracle results.

    Args:
        traces: of the games.
        measure: settings of the metrics.
        facts: names in :data:`FACT_BY_NAME`.

    Raises:
        CalbenchError: a trace is invalid.
    """
    oracle, found, rows = OracleCache(), [FACT_BY_NAME[name] for name in facts], []
    for group in _together(traces):
        known = learnt_of(group) if measure.bits else [UNKNOWN] * len(group)
        for trace, own in zip(group, known, strict=True):
            game = measured(trace, measure, oracle, own)
            rows.append((_key(game), {fact.name: fact.of(game) for fact in found}))
    return batch_of(found, rows)


def _together(traces: Iterable[Trace]) -> Iterator[list[Trace]]:
    """Yield games that are read together; few long ones, so that they fit the memory."""
    group, events = list[Trace](), 0
    for trace in traces:
        group.append(trace)
        events += len(trace.events)
        if events >= EVENTS_TOGETHER:
            yield group
            group, events = [], 0
    if group:
        yield group


def _key(game: MeasuredGame) -> GameKey:
    score, replicate = game.score, game.trace.config.replicate
    return GameKey(score.setting, score.team_id, score.scenario_id, replicate)


def _by_scenario(games: Iterable[Recorded]) -> Iterator[Sequence[Path]]:
    """Yield the traces of games in tasks, those on one scenario together."""
    tasks = cut(games, lambda game: game.seconds, lambda game: game.scenario_id, SHORTEST_TASK)
    for task in tasks:
        yield [game.path for game in task]
