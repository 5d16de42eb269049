"""``python -m calbench.judge RUN... out=DIR``: what an outside reader learns from the messages.

The audit of appendix I: one call for each recipient and round, over what was delivered to it.
Without a model the scripted judge answers, which is no language model.
"""

import asyncio
import csv
import shutil
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from calbench.agents.completion import CallSite, Completion
from calbench.agents.judging import Judge, JudgeCase, ModelJudge
from calbench.agents.litellm_transport import ask_litellm
from calbench.agents.models import ModelConfig
from calbench.agents.provider import Transport
from calbench.agents.sources import Source, Tally, open_completer
from calbench.analysis.output import CASE_FILE, JUDGE_TABLES, write_judge_tables
from calbench.analysis.settings import Settings
from calbench.config import RunSpec, compose
from calbench.console import INTERRUPTED, noting_interrupt, progress, say
from calbench.engine.batch import first_leaf
from calbench.errors import CalbenchError, ConfigError, StoppedError, UnavailableError
from calbench.facts.frames import rounded
from calbench.facts.judged import VERDICT_FACTS, judged_batch
from calbench.facts.storage import SPOOL, FactsWriter
from calbench.metrics.judge.judging import verdicts_of
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE, ScriptedJudge
from calbench.metrics.judge.verdicts import Verdict
from calbench.rescore import TEAM_ORDER, RecordedGame, check_folder, recorded_games
from calbench.run import locked
from calbench.source import reply_source
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace

USAGE = """\
usage: python -m calbench.judge RUN... out=DIR [key=value ...]

RUN are folders of whole runs, folders of traces, or trace files. Without a model the scripted
judge answers: fixed rules, no language model, no key.

  out=DIR                an empty folder, a new one, or one of an earlier judge audit
  judge=scripted         the default
  model=ID               judge with one of conf/model, e.g. model=gemini-3.1-pro
  model.name=NAME        or with any other model; model.api_base=URL for a server of your own
  replies.mode=replay    ask nobody, replay what is on disk (record: ask for what is missing)
  replies.path=FILE      where replies are kept (DIR/replies.sqlite)
  budget.max_usd=N       cap on what the model may cost, earlier audits into DIR included
  games_at_once=N        games judged at the same time (16)
  measure.KEY=VALUE      settings of the metrics, e.g. measure.vps_floor=5
  analysis.KEY=VALUE     settings of the estimates"""

MODEL_KEYS = ("model=", "model.", "replies.mode=", "replies.path=", "budget.max_usd=")
"""Keys that are about a model."""

SETTINGS = (*MODEL_KEYS, "games_at_once=", "measure.", "analysis=", "analysis.")
"""Keys that the configuration answers for."""

STORE = "replies.sqlite"

FACTS = ".facts"
"""Folder of the facts below that of the tables; what a killed audit leaves there is replaced."""

KEPT = frozenset(
    {
        *JUDGE_TABLES,
        *(CASE_FILE, ".lock", f"{FACTS}/*", f"{FACTS}/{SPOOL}/*"),
        *(f"{STORE}{end}" for end in ("", "-wal", "-shm", "-journal", ".lock")),
    }
)
"""Files that may stand in the folder already."""


class InterruptedAuditError(CalbenchError):
    """The user stopped the audit."""


@dataclass(slots=True)
class Options:
    """What the command line asks for."""

    paths: list[Path] = field(default_factory=list)
    out: Path | None = None
    judge: str | None = None
    settings: list[str] = field(default_factory=list)


def main(arguments: Sequence[str], transport: Transport = ask_litellm) -> int:
    """Write the tables of the audit; return 0 if they stand, 2 on a mistake.

    Args:
        arguments: of the command line.
        transport: how models are asked; another one stands in for LiteLLM.
    """
    if not arguments or {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0 if arguments else 2
    try:
        paths, out, spec = parse(arguments)
        tally = judge_runs(paths, out, spec, transport)
    except InterruptedAuditError as stop:
        say(str(stop))
        return INTERRUPTED
    except CalbenchError as error:
        say(f"error: {error}")
        return 2
    Console(highlight=False).print(summary_table(out))
    if spec.models:
        print(
            f"{tally.calls} replies paid for, {tally.replayed} replayed; "
            f"US$ {tally.spent_usd:.2f} spent"
        )
    else:
        print("Judged by the scripted judge: fixed rules, no language model.")
    print(f"Tables   {out}/metric_comparison.csv and others beside it")
    return 0


def parse(arguments: Sequence[str]) -> tuple[list[Path], Path, RunSpec]:
    """Return what to judge, where the tables go, and the settings; a model only if one judges.

    Raises:
        ConfigError: naming the argument that does not fit.
    """
    options = Options()
    for argument in arguments:
        key, is_given, value = argument.partition("=")
        if is_given and key == "out" and value:
            options.out = Path(value)
        elif is_given and key == "judge":
            options.judge = value
        elif is_given and argument.startswith(SETTINGS):
            options.settings.append(argument)
        elif is_given and not Path(argument).exists():
            raise ConfigError(f"{argument}: is neither an option nor a file; see --help")
        else:
            options.paths.append(Path(argument))
    if options.out is None:
        raise ConfigError("out=DIR is missing: the folder in which the tables shall stand")
    if not options.paths:
        raise ConfigError("no runs are named: give folders of runs, or of traces")
    return options.paths, options.out, _spec(options)


def _spec(options: Options) -> RunSpec:
    about_models = [text for text in options.settings if text.startswith(MODEL_KEYS)]
    if options.judge not in {None, SCRIPTED_JUDGE}:
        raise ConfigError(
            f"judge={options.judge}: only judge={SCRIPTED_JUDGE} is named so; a model is named by "
            "model=ID or model.name=NAME"
        )
    if options.judge is not None and about_models:
        raise ConfigError(f"{about_models[0]}: is for a model, but judge={SCRIPTED_JUDGE} answers")
    if not about_models:
        return compose(options.settings)
    spec = compose(["teams=[my-model]", *options.settings])
    if spec.replies.mode == "live":
        raise ConfigError(
            "replies.mode=live: an audit keeps every reply; use record, or replay to ask nobody"
        )
    return spec


def judge_runs(
    paths: Sequence[Path], out: Path, spec: RunSpec, transport: Transport = ask_litellm
) -> Tally:
    """Judge the games below some paths and write the tables; return what models were asked.

    Args:
        paths: folders of runs, folders of traces, or traces.
        out: where tables and replies go.
        spec: the model that judges, if it names one; replies, budget and settings.
        transport: how models are asked.

    Raises:
        CalbenchError: one line about what does not fit; no table was written, replies are kept.
    """
    check_folder(out, KEPT)
    games = recorded_games(paths)
    rank = {team: place for place, team in enumerate(TEAM_ORDER)}
    teams = sorted({game.team_id for game in games}, key=lambda t: (rank.get(t, len(rank)), t))
    name = next(iter(spec.models), SCRIPTED_JUDGE)
    with (
        locked(out),
        _removed(out / FACTS) as folder,
        FactsWriter(folder, VERDICT_FACTS, teams) as facts,
        noting_interrupt(lambda: f"Stopped; replies that came stand in {out}") as is_stopping,
    ):

        def take(trace: Trace, verdicts: Sequence[Verdict]) -> None:
            facts.add(judged_batch(trace, verdicts, name, spec.measure))

        source = None
        if spec.models:
            source = reply_source(spec.model_copy(update={"out": str(out)}), transport=transport)
        audit = _Audit(games, take, name, spec.models, spec.games_at_once, is_stopping)
        with progress("judged", len(games)) as tick:
            tally = asyncio.run(audit.run(source, tick))
        audit.check()
        write_judge_tables(facts.write(), out, Settings(spec.measure, spec.analysis))
    return tally


@contextmanager
def _removed(folder: Path) -> Iterator[Path]:
    """Provide a folder that is removed in the end."""
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Audit:
    """Games on their way through a judge, several at the same time.

    The first case that cannot be asked ends it, as Ctrl-C does: calls under way come home, no
    other is made.
    """

    def __init__(
        self,
        games: Sequence[RecordedGame],
        take: Callable[[Trace, Sequence[Verdict]], None],
        name: str,
        models: Mapping[str, ModelConfig],
        at_once: int,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._games = games
        self._take_verdicts = take
        self._name = name
        self._models = models
        self._at_once = at_once
        self._is_stopping = is_stopping
        self._done = 0
        self._failure: UnavailableError | None = None

    async def run(self, source: Source | None, tick: Callable[[str], None]) -> Tally:
        """Judge what can be judged; return what models were asked."""
        latest = Tally()

        def watch(tally: Tally) -> None:
            nonlocal latest
            latest = replace(tally)

        queue = deque(self._games)
        try:
            async with AsyncExitStack() as stack:
                judge: Judge = ScriptedJudge()
                if source is not None:
                    opened = open_completer(self._models, replace(source, watch=watch))
                    spec = self._models[self._name].spec
                    judge = ModelJudge(await stack.enter_async_context(opened), spec)
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._at_once, len(queue))):
                        group.create_task(self._take(queue, judge, tick))
        except* CalbenchError as failures:
            raise first_leaf(failures) from None
        return latest

    async def _take(
        self, queue: deque[RecordedGame], judge: Judge, tick: Callable[[str], None]
    ) -> None:
        while queue and not self._is_ending():
            trace = read_trace(queue.popleft().path)
            try:
                verdicts = await verdicts_of(trace, _Stoppable(judge, self._is_ending), self._name)
            except StoppedError:
                return
            except UnavailableError as failure:
                self._failure = failure
                return
            self._take_verdicts(trace, verdicts)
            self._done += 1
            tick("")

    def _is_ending(self) -> bool:
        return self._failure is not None or self._is_stopping()

    def check(self) -> None:
        """Refuse to write tables of half a run."""
        where = f"{self._done} of {len(self._games)} games are judged"
        kept = "the replies that came are kept; the same command goes on from there"
        if self._failure is not None:
            raise CalbenchError(f"{self._failure.detail}: {where}; {kept}")
        if self._is_stopping():
            raise InterruptedAuditError(f"Stopped: {where}; {kept}")


@dataclass(frozen=True, slots=True)
class _Stoppable:
    """Asks nobody once the audit is to end."""

    inner: Judge
    is_ending: Callable[[], bool]

    async def judge(self, case: JudgeCase, site: CallSite) -> Completion:
        if self.is_ending():
            raise StoppedError("stopped")
        return await self.inner.judge(case, site)


SHOWN = {
    "Cases": "cases",
    "Unread": "unread",
    "Judge": "mean_judge_vps_calibrated",
    "Primary": "mean_primary_vps",
}
"""Columns of the terminal's table, by column of ``metric_comparison.csv``."""

AGREEING = {"Direction": "directional_agreement", "Chance": "by_chance", "Kappa": "kappa"}
"""The same by statistic of ``judge_agreement.csv``, for cells."""


def summary_table(out: Path) -> Table:
    """Return what the tables in a folder say, as the terminal shows it."""
    agreed = {
        (row["setting"], row["team"], row["statistic"]): row["value"]
        for row in _rows(out / "judge_agreement.csv")
        if row["unit"] == "cell"
    }
    table = Table(
        title="VPS by game and target: the judge's, calibrated, and the primary one; agreement",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for place, head in enumerate(("Setting", "Team", *SHOWN, *AGREEING)):
        table.add_column(head, justify="left" if place < 2 else "right", no_wrap=True)
    for row in _rows(out / "metric_comparison.csv"):
        setting, team = row["setting"], row["team"]
        found = [row[column] for column in SHOWN.values()]
        found += [agreed.get((setting, team, name), "") for name in AGREEING.values()]
        table.add_row(setting, team, *(_short(number) for number in found))
    return table


def _short(number: str) -> str:
    """Return a number of a table with two decimals at most."""
    return rounded(float(number), 2) if "." in number else number


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="") as file:
        yield from csv.DictReader(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
