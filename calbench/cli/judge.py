"""``calbench judge``: what an outside reader learns from the messages.

The audit of appendix I: one call for each recipient and round, about the messages delivered to it.
Without a model the scripted judge answers: fixed rules, no language model.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.table import Table

from calbench.agents.base import Completer
from calbench.agents.judging import ModelJudge
from calbench.analysis.output import CASE_FILE, JUDGE_TABLES, write_judge_tables
from calbench.analysis.registry import Settings
from calbench.cli.words import Status, Words
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import noting_interrupt, progress, show, tell, verdict, warn
from calbench.endings import removed
from calbench.errors import ConfigError, StoppedError
from calbench.facts.frames import rounded
from calbench.facts.judged import VERDICT_FACTS, judged_batch
from calbench.facts.storage import SPOOL, FactsWriter, MeasuredBatch
from calbench.files import STORE, printable
from calbench.folders import claimed, scratch_folder
from calbench.llm.client import Totals
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.prices import read_prices
from calbench.llm.replies.database import BESIDE
from calbench.llm.transport import Transport
from calbench.metrics.judge.cases import Verdict, verdicts_of
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE, scripted_verdicts, texts_understood
from calbench.metrics.measure import MeasureSpec
from calbench.pool import cut, mapped, workers
from calbench.report.tables import read_table
from calbench.runs.folder import check_folder, locked
from calbench.runs.recorded import RecordedGame, read_games, team_rank
from calbench.runs.slices import told_apart
from calbench.runs.source import ModelAudit, auditing_source, auditing_spec, money
from calbench.terminal import new_table
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace

MODEL_KEYS = ("model=", "model.", "replies.mode=", "replies.path=", "budget.max_usd=")
"""Keys that are about a model."""

FACTS = ".facts"
"""Folder of the facts, below that of the tables; leftovers of a killed audit are replaced."""

KEPT = frozenset(
    {
        *JUDGE_TABLES,
        *(CASE_FILE, ".lock", f"{FACTS}/*", f"{FACTS}/{SPOOL}/*"),
        *(f"{STORE}{end}" for end in BESIDE),
    }
)
"""Files that may be in the folder already."""


INSTRUMENTS = (
    "The judge and the primary measure are two instruments: metric_comparison.csv names the latter "
    "in vps_kind; do not subtract one from the other."
)


def main(words: Words, transport: Transport = ask_litellm) -> int:
    """Judge runs, write the tables of the audit and show what they say.

    Args:
        words: of the command line.
        transport: how models are asked.
    """
    out = Path(words.options["out"])
    spec = _spec(words)
    totals = judge_runs(words.paths, out, spec, transport)
    show(summary_table(out))
    if spec.models:
        cost = money(spec, read_prices(PRICES), totals.spent_usd)
        tell(f"{totals.calls} replies paid for, {totals.replayed} replayed; {cost} spent")
    else:
        tell("Judged by the scripted judge: fixed rules, no language model.")
    tell(INSTRUMENTS)
    compared = read_table(out / "metric_comparison.csv")
    cases, unread = (sum(int(row[key]) for row in compared) for key in ("cases", "unread"))
    verdict(
        f"{cases} cases judged, {unread} unread: {out}/metric_comparison.csv and others beside it",
        is_good=not unread,
    )
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
    return auditing_spec(words.settings)


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
    check_folder(out, KEPT, {name: table.key for name, table in JUDGE_TABLES.items()})
    found = read_games(paths)
    with scratch_folder("judge") as scratch:
        games, lines = told_apart(found, scratch)
        for line in lines:
            warn(line)
        return _judge_games(games, out, spec, transport)


def _judge_games(
    games: Sequence[RecordedGame], out: Path, spec: RunSpec, transport: Transport
) -> Totals:
    """Judge games in which every name of a team means one team."""
    teams = sorted({game.team_id for game in games}, key=team_rank())
    name = next(iter(spec.models), SCRIPTED_JUDGE)
    here = spec.model_copy(update={"out": str(out)})
    source = auditing_source(here, transport) if spec.models else None
    with (
        locked(out),
        claimed(out),
        removed(out / FACTS),
        FactsWriter(out / FACTS, VERDICT_FACTS, teams) as facts,
        noting_interrupt(lambda: f"Stopped; replies that came are in {out}") as is_stopping,
    ):

        def take(trace: Trace, verdicts: Sequence[Verdict]) -> None:
            facts.add(judged_batch(trace, verdicts, name, spec.measure))

        if source is None:
            _judge_by_rules(games, spec, facts, is_stopping)
        else:
            model = spec.models[name].spec

            async def ask(game: RecordedGame, completer: Completer) -> None:
                trace = read_trace(game.path)
                take(trace, await verdicts_of(trace, ModelJudge(completer, model), name))

            ModelAudit(games, "games are judged", ask, spec, is_stopping).run(source, "judged")
        write_judge_tables(facts.write(), out, Settings(spec.measure, spec.analysis))
    return Totals() if source is None else source.totals


def _judge_by_rules(
    games: Sequence[RecordedGame],
    spec: RunSpec,
    facts: FactsWriter,
    is_stopping: Callable[[], bool],
) -> None:
    """Let the scripted judge answer, which takes no time but a processor's."""
    understood, texts = Counter[str](), Counter[str]()
    work = partial(_judged_by_rules, measure=spec.measure)
    tasks = [[game.path for game in task] for task in cut(games, lambda game: game.seconds)]
    with (
        workers(spec.jobs, spec.executor, games=len(games)) as pool,
        progress("judged", len(games)) as tick,
    ):
        for batches in mapped(work, tasks, pool):
            if is_stopping():
                raise StoppedError("Stopped: nothing is kept; the same command starts again")
            for team, batch, (read, count) in batches:
                facts.add(batch)
                understood[team] += read
                texts[team] += count
                tick()
    if total := texts.total():
        tell(f"The scripted judge understood {understood.total()} of {total} texts.")
    for team, count in texts.items():
        if count and not understood[team]:
            warn(
                f"{printable(team)}: of its {count} texts the scripted judge understood none, so "
                "its numbers say nothing about them; let a model judge, model=ID"
            )


def _judged_by_rules(
    paths: Sequence[Path], measure: MeasureSpec
) -> list[tuple[str, MeasuredBatch, tuple[int, int]]]:
    """Judge games, in a worker; return team, verdicts, and what of its texts is understood."""
    return [
        (
            trace.config.team.team_id,
            judged_batch(trace, scripted_verdicts(trace), SCRIPTED_JUDGE, measure),
            texts_understood(trace),
        )
        for trace in map(read_trace, paths)
    ]


SHOWN = {
    "Cases": "cases",
    "Unread": "unread",
    "Judge": "mean_judge_vps_calibrated",
    "+1": "mean_judge_vps_constant",
    "Chance": "mean_judge_vps_by_chance",
}
"""Columns of the terminal's table, by column of ``metric_comparison.csv``. The primary measure is
another instrument and has no column beside the judge's."""

AGREEING = {"Direction": "directional_agreement", "Kappa": "kappa"}
"""The same by statistic of ``judge_agreement.csv``, for cells."""


def summary_table(out: Path) -> Table:
    """Return what the tables in a folder say, as the terminal shows it."""
    agreed = {
        (row["setting"], row["team"], row["statistic"]): row["value"]
        for row in read_table(out / "judge_agreement.csv")
        if row["unit"] == "cell"
    }
    table = new_table(
        "The judge's calibrated VPS by game and target, and without messages; agreement",
        ("Setting", "Team", *SHOWN, *AGREEING),
        left=2,
    )
    for row in read_table(out / "metric_comparison.csv"):
        setting, team = row["setting"], row["team"]
        found = [row[column] for column in SHOWN.values()]
        found += [agreed.get((setting, team, name), "") for name in AGREEING.values()]
        shown = (rounded(float(each), 2) if "." in each else each for each in found)
        table.add_row(setting, team, *shown)
    return table
