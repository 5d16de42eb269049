"""``calbench judge``: what an outside reader learns from the messages.

The audit of appendix I: one call for each recipient and round, over what was delivered to it.
Without a model the scripted judge answers, which is no language model.
"""

import asyncio
import csv
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from calbench.agents.completer import CallSite
from calbench.agents.judging import Judge, JudgeCase, ModelJudge
from calbench.analysis.output import CASE_FILE, JUDGE_TABLES, write_judge_tables
from calbench.analysis.settings import Settings
from calbench.cli.status import Status
from calbench.cli.tables import new_table, show
from calbench.cli.words import Words
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.console import noting_interrupt, progress
from calbench.engine.batch import first_leaf
from calbench.errors import CalbenchError, ConfigError, StoppedError, UnavailableError
from calbench.facts.frames import rounded
from calbench.facts.judged import VERDICT_FACTS, judged_batch
from calbench.facts.storage import SPOOL, FactsWriter
from calbench.llm.client import Source, Totals, open_completer
from calbench.llm.completion import Completion
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.model import ModelConfig
from calbench.llm.transport import Transport
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE, ScriptedJudge
from calbench.metrics.judge.verdicts import Verdict, verdicts_of
from calbench.runs.folder import check_folder, locked
from calbench.runs.recorded import RecordedGame, recorded_games, team_rank
from calbench.runs.source import reply_source
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace

MODEL_KEYS = ("model=", "model.", "replies.mode=", "replies.path=", "budget.max_usd=")
"""Keys that are about a model."""

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


def main(words: Words, transport: Transport = ask_litellm) -> int:
    """Judge runs, write the tables of the audit and show what they say.

    Args:
        words: of the command line.
        transport: how models are asked; another one stands in for LiteLLM.
    """
    out = words.folder("out", "the folder for the tables")
    paths = words.some_paths("no runs are named: give folders of runs, or of traces")
    spec = _spec(words)
    tally = judge_runs(paths, out, spec, transport)
    show(summary_table(out))
    if spec.models:
        print(
            f"{tally.calls} replies paid for, {tally.replayed} replayed; "
            f"US$ {tally.spent_usd:.2f} spent"
        )
    else:
        print("Judged by the scripted judge: fixed rules, no language model.")
    print(f"Tables   {out}/metric_comparison.csv and others beside it")
    return Status.DONE


def _spec(words: Words) -> RunSpec:
    """Return the settings, with a model only if one judges."""
    judge = words.options.get("judge")
    about_models = [text for text in words.settings if text.startswith(MODEL_KEYS)]
    if judge not in {None, SCRIPTED_JUDGE}:
        raise ConfigError(
            f"judge={judge}: only judge={SCRIPTED_JUDGE} is named so; a model is named by "
            "model=ID or model.name=NAME"
        )
    if judge is not None and about_models:
        raise ConfigError(f"{about_models[0]}: is for a model, but judge={SCRIPTED_JUDGE} answers")
    if not about_models:
        return compose(words.settings)
    spec = compose(["teams=[my-model]", *words.settings])
    if spec.replies.mode == "live":
        raise ConfigError(
            "replies.mode=live: an audit keeps every reply; use record, or replay to ask nobody"
        )
    return spec


def judge_runs(
    paths: Sequence[Path], out: Path, spec: RunSpec, transport: Transport = ask_litellm
) -> Totals:
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
    teams = sorted({game.team_id for game in games}, key=team_rank())
    name = next(iter(spec.models), SCRIPTED_JUDGE)
    with (
        locked(out),
        _removed(out / FACTS) as folder,
        FactsWriter(folder, VERDICT_FACTS, teams) as facts,
        noting_interrupt(lambda: f"Stopped; replies that came are in {out}") as is_stopping,
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


@dataclass(slots=True)
class _Audit:
    """Games on their way through a judge, several at the same time.

    The first case that cannot be asked ends it, as Ctrl-C does: calls under way come home, no
    other is made.
    """

    games: Sequence[RecordedGame]
    take_verdicts: Callable[[Trace, Sequence[Verdict]], None]
    name: str
    models: Mapping[str, ModelConfig]
    at_once: int
    is_stopping: Callable[[], bool]
    done: int = 0
    failure: UnavailableError | None = None

    async def run(self, source: Source | None, tick: Callable[[str], None]) -> Totals:
        """Judge what can be judged; return what models were asked."""
        latest = Totals()

        def watch(tally: Totals) -> None:
            nonlocal latest
            latest = replace(tally)

        queue = deque(self.games)
        try:
            async with AsyncExitStack() as stack:
                judge: Judge = ScriptedJudge()
                if source is not None:
                    opened = open_completer(self.models, replace(source, watch=watch))
                    spec = self.models[self.name].spec
                    judge = ModelJudge(await stack.enter_async_context(opened), spec)
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.at_once, len(queue))):
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
                verdicts = await verdicts_of(trace, _Stoppable(judge, self._is_ending), self.name)
            except StoppedError:
                return
            except UnavailableError as failure:
                self.failure = failure
                return
            self.take_verdicts(trace, verdicts)
            self.done += 1
            tick("")

    def _is_ending(self) -> bool:
        return self.failure is not None or self.is_stopping()

    def check(self) -> None:
        """Refuse to write tables of half a run."""
        where = f"{self.done} of {len(self.games)} games are judged"
        kept = "the replies that came are kept; the same command resumes"
        if self.failure is not None:
            raise CalbenchError(f"{self.failure.detail}: {where}; {kept}")
        if self.is_stopping():
            raise StoppedError(f"Stopped: {where}; {kept}")


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
    table = new_table(
        "VPS by game and target: the judge's, calibrated, and the primary one; agreement",
        ("Setting", "Team", *SHOWN, *AGREEING),
        left=2,
    )
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
