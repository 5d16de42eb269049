"""``calbench verify``: replay traces and recompute every number; list games without a trace."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from calbench.agents.prompts import use_prompts
from calbench.cli.words import Status, Words
from calbench.console import alert, progress, say, tell, verdict
from calbench.engine.batch import begun_game
from calbench.errors import ConfigError, FileError
from calbench.files import STORE, check_no_link, first_problem, printable
from calbench.llm.client import open_recorded
from calbench.llm.replies.ledger import BegunGame
from calbench.llm.replies.shards import open_replies
from calbench.runs.identity import Suite, suite_of
from calbench.runs.seats import count_codes
from calbench.runs.verification import UnprovenError, Verified, verify_file
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import TRACES_FOLDER, Catalog, trace_paths
from calbench.traces.models import GameConfig
from calbench.traces.outlines import trace_name
from calbench.traces.storage import TraceReader


@dataclass(slots=True)
class Report:
    """What came of some traces: by file, what holds and how much of it was checked, or why not.

    ``codes`` counts the games of runs by their code; no trace is wrong for being of another one.
    """

    codes: Counter[str]
    proven: dict[Path, Verified] = field(default_factory=dict)
    failures: dict[Path, UnprovenError] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def total(self) -> Verified:
        """How much was checked of all traces that hold."""
        return sum(self.proven.values(), Verified())

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "traces": len(self.proven) + len(self.failures),
            "held": len(self.proven),
            **self.total.as_data(),
            "of_other_code": self.codes["other"],
            "of_unknown_code": self.codes["unknown"],
            "failures": [
                {"path": str(path), "level": error.level, "problem": error.problem}
                for path, error in self.failures.items()
            ],
            "missing": self.missing,
            "files": [{"path": str(path), **one.as_data()} for path, one in self.proven.items()],
        }

    def __str__(self) -> str:
        """Say it in one line: how many hold, and what of them is the trace's word alone."""
        count, total = len(self.proven) + len(self.failures), self.total
        parts = {
            "replies checked": total.replies_checked,
            "replies not checked": total.replies_not_checked,
            "turns of players from elsewhere not checked": total.turns_not_checked,
            "prompts not checked": total.prompts_not_checked,
            "reasons of halts not checked": total.halts_not_checked,
            "games on other scenarios than the published ones of their names": (
                total.scenarios_unlike_published
            ),
            "games of other code": self.codes["other"],
            "games of unknown code": self.codes["unknown"],
        }
        said = [f"{number} {what}" for what, number in parts.items() if number]
        return "; ".join([f"{len(self.proven)} of {count} traces hold", *said])


def main(
    words: Words,
    *,
    replies: Path | None = None,
    prompts: Path | None = None,
    suite: str | None = None,
    partial: bool = False,
    as_json: bool = False,
) -> int:
    """Verify every trace that is named, and say which fail; or list games without a trace."""
    if partial:
        if any(each is not None for each in (replies, prompts, suite)) or as_json:
            raise ConfigError("--partial: lists games by the run's own replies, and takes no more")
        return list_begun(words.paths)
    if prompts is not None:
        use_prompts(prompts)
    named = None if suite is None else suite_of(suite)
    return verify_all(words.paths, replies=replies, suite=named, as_json=as_json)


def verify_all(
    names: Sequence[Path],
    *,
    replies: Path | None = None,
    suite: Suite | None = None,
    as_json: bool = False,
) -> int:
    """Verify every trace that is named; say which fail, and which of a suite are missing."""
    paths = [path for name in names for path in trace_paths(name, has_loose=True)]
    report, reader = Report(count_codes(paths)), TraceReader()
    opened = nullcontext() if replies is None else open_recorded(replies)
    with opened as store, progress("verified", len(paths)) as tick:
        for path in paths:
            try:
                report.proven[path] = verify_file(path, store, reader, suite)
            except UnprovenError as error:
                report.failures[path] = error
                alert(f"error: {error}")
            tick()
    report.missing = [] if suite is None else list(suite.missing())
    for line in report.missing:
        alert(f"error: {line}")
    if as_json:
        print(orjson.dumps(report.as_data(), option=orjson.OPT_INDENT_2).decode())
    is_good = not report.failures and not report.missing
    verdict(str(report), is_good=is_good, is_beside=as_json)
    return Status.DONE if is_good else Status.DIFFERENT


def list_begun(paths: Sequence[Path]) -> int:
    """List the games that were begun, by reply stores; of runs, those that have no trace yet.

    A store is anyone's file: what it notes of a game has to be what this package would note, and
    nothing that it names is imported or played.

    Raises:
        FileError: a path has no store, or it is damaged.
    """
    unplayed, wrong = 0, 0
    for path in paths:
        store = path
        if path.is_dir():
            check_no_link(store := path / STORE)
        if not store.is_file():
            raise FileError(
                f"{path}: holds no reply store; name a run that has {STORE}, or its file"
            )
        with open_replies(store) as replies:
            begun = list(replies.begun())
            if not begun and replies.count():
                say(f"{path}: notes no games: its replies were recorded before games were noted")
        catalog = Catalog()
        for game in begun:
            try:
                trace, name = _begun(game)
            except (FileError, ValidationError) as error:
                problem = first_problem(error) if isinstance(error, ValidationError) else error
                alert(f"error: {store}: game {printable(game.id):.80}: {problem}")
                wrong += 1
                continue
            is_played, place = False, path / TRACES_FOLDER / trace
            with suppress(FileError):
                is_played = catalog.has(place) and catalog.outline(place).game_id == game.id
            if not is_played:
                tell(f"{name}: begun, and has no trace")
                unplayed += 1
    end = f"{wrong} cannot be read" if wrong else "all hold"
    verdict(f"{unplayed} of the games begun have no trace; {end}", is_good=not wrong)
    return Status.DIFFERENT if wrong else Status.DONE


def _begun(game: BegunGame) -> tuple[str, str]:
    """Return the name of the trace of a begun game, and whose game it is in words."""
    scenario = Scenario.model_validate_json(game.scenario)
    config = GameConfig.model_validate_json(game.config)
    if game != begun_game(scenario, config):
        raise FileError("was begun under other rules than those of this package, or was changed")
    team, replicate = config.team.team_id, config.replicate
    again = f", replicate {replicate}" if replicate else ""
    name = trace_name(team, scenario.scenario_id, replicate)
    return name, f"{team} on {scenario.scenario_id}{again}"
