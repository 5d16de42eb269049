"""A whole run: suite, games, numbers, tables. The command and the stages call these pieces."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from calbench.analysis.output import FACTS_FOLDER, write_tables
from calbench.analysis.registry import MOST_GAMES, Settings
from calbench.analysis.scoring import add_measured, facts_of, teams_of
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import ending_on_interrupt, noting_interrupt, progress, say, warn
from calbench.endings import pruned, removed
from calbench.engine.batch import Played, play_jobs
from calbench.engine.game import game_id
from calbench.engine.jobs import Job, effort, plan_jobs
from calbench.engine.seating import check_seats, check_settings
from calbench.errors import AgentError, PreflightError, StoppedError, WorkerError
from calbench.facts.storage import Facts, FactsWriter
from calbench.files import located
from calbench.folders import claimed
from calbench.llm.client import Source, Totals, check_source
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.preflight import absent, distinct, preflight
from calbench.llm.prices import read_prices
from calbench.llm.transport import Transport
from calbench.pool import PROCESSES, ExecutorSpec, Pool, mapped, workers
from calbench.runs.faults import closed_channels
from calbench.runs.folder import check_run, locked
from calbench.runs.measuring import MeasuringStore
from calbench.runs.seats import SeatCode
from calbench.runs.source import opener, reply_source, seated_models, spent, why_cut_short
from calbench.runs.status import Status, shown
from calbench.scenarios.difficulty import unproven
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.storage import count_scenarios
from calbench.scenarios.suites import build_suites, check_subset, chosen_ids, together
from calbench.traces.catalog import Catalog
from calbench.traces.store import TraceStore, open_store

LONG_SECONDS = 3.0
"""Suites that take longer than this are built by several workers [C], who start in one."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did, and where its results are.

    ``halts`` counts games that a provider or the budget cut short, by what ended them; ``totals``
    what models were asked, and what all runs into this folder cost; ``money`` is this cost and its
    cap in words.
    """

    played: int
    kept: int
    halts: Mapping[str, int]
    totals: Totals
    tables: Path
    money: str = ""

    @property
    def halted(self) -> int:
        """How many games were cut short."""
        return sum(self.halts.values())


def load_suites(
    suites: Sequence[tuple[str, SuiteSpec]],
    count: int | None = 1,
    executor: ExecutorSpec = PROCESSES,
) -> tuple[Scenario, ...]:
    """Return the scenarios of a run's suites: read from their files, or generated.

    A file from elsewhere may lack oracle and difficulty: they are computed.

    Args:
        suites: name and contents of each.
        count: workers if it takes long, as for :func:`calbench.pool.workers`.
        executor: of which kind.
    """
    total = sum(
        spec.num_scenarios if spec.path is None else count_scenarios(located(spec.path))
        for _, spec in suites
    )
    scored = sum(spec.num_candidates for _, spec in suites if spec.path is None and spec.tertiles)

    def provide(seconds: float) -> AbstractContextManager[Pool | None]:
        return workers(count, executor) if seconds > LONG_SECONDS else nullcontext()

    with progress("candidates", scored) as drawn, progress("scenarios", total) as done:
        scenarios = together(build_suites(suites, provide, done=done, drawn=drawn))
    if line := unproven(scenarios):
        warn(line)
    return scenarios


def planned(spec: RunSpec, scenarios: Sequence[Scenario]) -> list[Job]:
    """Return the games of a run on the chosen part of its suites.

    Raises:
        ConfigError: the suites have no such part.
    """
    chosen = chosen_ids(scenarios, spec.subset)
    traces = Path(spec.out) / "traces"
    return plan_jobs(scenarios, spec.game_configs, traces, chosen, spec.replicates)


def _check_undrawn(spec: RunSpec) -> None:
    """Refuse a subset or settings of a protocol that cannot be, before a suite is drawn."""
    check_subset(spec.suites, spec.subset)
    for config in spec.game_configs:
        check_settings(config)


def _check_players(spec: RunSpec, scenarios: Sequence[Scenario]) -> None:
    """Make the players of every team once, before the first game, for the most agents."""
    largest = max(scenarios, key=lambda scenario: scenario.num_agents)
    for config in spec.game_configs:
        check_seats(largest, config)


def _say_who_plays_once(spec: RunSpec) -> None:
    once = [team.team_id for team in spec.teams if not team.is_open]
    if spec.replicates > 1 and once:
        say(
            f"replicates={spec.replicates}: played once, as no game could differ: {', '.join(once)}"
        )


def _source(spec: RunSpec, transport: Transport) -> Source | None:
    """Return where replies come from.

    What cannot be asked, as far as this machine tells, is told before a suite is drawn.
    """
    replies = reply_source(spec, transport=transport)
    if replies is None or (Path(spec.out) / "traces").exists():
        return replies
    check_source(spec.models, replies)
    if spec.preflight and replies.mode != "replay" and transport is ask_litellm:
        lines = (absent(model) for _, model in sorted(spec.models.items()))
        if problems := [line for line in lines if line is not None]:
            raise PreflightError(problems)
    return replies


def execute(spec: RunSpec, transport: Transport = ask_litellm) -> RunSummary:
    """Generate or read the suite, play what is missing, and write all tables.

    Args:
        spec: what is played, by whom, and how it is measured.
        transport: how models are asked.

    Raises:
        CalbenchError: one line about what does not fit; nothing is half-written.
        AgentError: where the user's code raised, and what is kept.
        StoppedError: if the user stopped it; says what is kept.
    """
    out = Path(spec.out)
    with locked(out):
        check_run(out)
        _check_undrawn(spec)
        replies = _source(spec, transport)
        scenarios = load_suites(spec.suites, spec.jobs, spec.executor)
        jobs = planned(spec, scenarios)
        _say_who_plays_once(spec)
        paths = [job.path for job in jobs]
        with _saying_what_is_kept(paths, out):
            _check_players(spec, scenarios)
        store = open_store(out / "traces", spec.traces.format)
        code = SeatCode.of(out, spec.teams)
        missing = code.missing(jobs, is_fresh=spec.fresh)
        if kept := len(jobs) - len(missing):
            say(f"{kept} of {len(jobs)} games are already in {out / 'traces'}")
        for line in closed_channels(spec.game_configs) if missing else ():
            warn(line)
        tables = out / "tables"
        facts, place = facts_of(spec.facts, spec.judge), tables / FACTS_FOLDER
        with (
            _saying_what_is_kept(paths, out),
            workers(spec.jobs, spec.executor, games=effort(jobs)) as pool,
            pruned(tables),
            claimed(tables),
            removed(place),
            FactsWriter(place, facts, teams_of(jobs)) as writer,
        ):
            names = tuple(fact.name for fact in facts)
            measuring = MeasuringStore(store, spec.measure, names, writer)
            halts = _play(jobs, missing, spec, code, replies, measuring, pool)
            with ending_on_interrupt(lambda: _progress(paths, out)):
                _measure_rest(jobs, spec, measuring, writer, pool)
                del scenarios, jobs, missing  # 13 kB a scenario, while tables are made
                settings = Settings(spec.measure, spec.analysis, read_prices(PRICES).models)
                _write_tables(writer.write(), len(paths), tables, settings, spec, pool)
    totals = Totals() if replies is None else replies.totals
    return RunSummary(len(paths) - kept, kept, halts, totals, tables, spent(spec, replies))


def _write_tables(
    facts: Facts, games: int, folder: Path, settings: Settings, spec: RunSpec, pool: Pool | None
) -> None:
    """Write all tables: of many games in another process of this machine.

    This one does not get back the memory that held the scenarios, in pieces as it is.
    """
    if pool is None or games <= MOST_GAMES or spec.executor.kind != "processes":
        write_tables(facts, folder, settings)
        return
    with progress("tables", 1) as tick:
        for _ in mapped(partial(write_tables, folder=folder, settings=settings), [facts], pool):
            tick()


def _measure_rest(
    jobs: Sequence[Job],
    spec: RunSpec,
    measuring: MeasuringStore,
    writer: FactsWriter,
    pool: Pool | None,
) -> None:
    """Measure the games that were not measured where they were played, and check a sample."""
    rest = [job for job in jobs if job.path not in measuring.paths]
    facts = facts_of(spec.facts, spec.judge)
    with progress("measured", len(jobs), len(jobs) - len(rest)) as tick:
        add_measured(writer, rest, spec.measure, tick, pool, facts)
        measuring.check(pool)


def _play(
    jobs: Sequence[Job],
    missing: Sequence[Job],
    spec: RunSpec,
    code: SeatCode,
    replies: Source | None,
    store: TraceStore,
    pool: Pool | None,
) -> Mapping[str, int]:
    """Play the missing games until Ctrl-C; count those cut short, by what ended them."""
    halts: Counter[str] = Counter()
    kept = len(jobs) - len(missing)
    what_is_kept = partial(_progress, [job.path for job in jobs], Path(spec.out))
    with noting_interrupt(what_is_kept) as is_interrupted:
        replies = replies and replace(replies, is_stopping=is_interrupted)
        try:
            _check_models(missing, spec, replies)
            code.begin(missing)
            status = _status(kept, missing, spec, replies)
            with (
                progress("games", len(jobs), kept, status.line if status else str) as tick,
                shown(status, None if spec.replies.mode == "live" else Path(spec.out)),
            ):

                def finished(game: Played) -> None:
                    if game.halt is not None:
                        halts[why_cut_short(game.halt, spec.models)] += 1
                    if status is not None:
                        status.end(game_id(game.job.scenario, game.job.config))
                    tick(game.job.team_id)
                    _raise_if(is_interrupted() and not game.job.waits)

                play_jobs(
                    missing,
                    pool,
                    finished,
                    store=store,
                    source=opener(spec, replies, status),
                    at_once=spec.games_at_once,
                    is_stopping=is_interrupted,
                )
                _raise_if(is_interrupted())
            _raise_if(is_interrupted())
        except StoppedError:
            if pool is not None:
                pool.stop()  # what is under way still counts
            raise StoppedError(what_is_kept()) from None
    return halts


def _status(
    kept: int, missing: Sequence[Job], spec: RunSpec, replies: Source | None
) -> Status | None:
    """Return what a run with models is watched by; absent if it asks none."""
    if replies is None or replies.mode == "replay" or not missing:
        return None
    rounds = sum(len(job.scenario.meetings) for job in missing) / len(missing)
    games = kept + len(missing)
    return Status(games, kept, rounds, replies.totals, lambda: spent(spec, replies))


def _check_models(missing: Sequence[Job], spec: RunSpec, replies: Source | None) -> None:
    """Ask each model of the missing games once; without a preflight, look whether it can be."""
    models = seated_models(missing, spec)
    if replies is None or not models:
        return
    if replies.mode == "replay" or not spec.preflight:
        check_source(models, replies)
        return
    with progress("models", len(distinct(models))) as tick:
        lines = preflight(models, replies, tick)
    for line in lines:
        say(line)


def _raise_if(is_interrupted: bool) -> None:
    if is_interrupted:
        raise StoppedError


def _progress(paths: Sequence[Path], out: Path) -> str:
    catalog = Catalog()
    count = sum(map(catalog.has, paths))
    return (
        f"Stopped: {count} of {len(paths)} games are in {out / 'traces'}; the same command resumes"
    )


@contextmanager
def _saying_what_is_kept(paths: Sequence[Path], out: Path) -> Iterator[None]:
    """Add to a failure of the user's own code, or of workers, that games are kept."""
    try:
        yield
    except WorkerError as error:
        raise WorkerError(f"{error}. {_progress(paths, out)}") from error
    except AgentError as error:
        raise error.followed_by(_progress(paths, out)) from error.__cause__
