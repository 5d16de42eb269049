"""The files through which one excess cost goes, from the engine to the leaderboard's page.

A game is played in which one agent's excess is a number that nothing else is. While it is recorded,
measured, averaged and shown, every function of the package that returns or yields that number is
noted. What cannot be seen: functions that only store or hand on what they are given, generated
methods, libraries (pandas, NumPy), and the page's script, which draws the cell in the browser.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pydantic import BaseModel

from calbench.analysis.output import write_tables
from calbench.analysis.registry import Settings, write_frames
from calbench.analysis.scoring import measure_games
from calbench.analysis.summary import SUMMARY, Runs, RunTables
from calbench.analysis.tables import TABLES
from calbench.domain.actions import Action
from calbench.facts.games import SCORES
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.report.escape import write_data
from calbench.report.experiment import Experiment
from calbench.report.pages.board import leaderboard
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.templating import ASSETS
from calbench.scenarios.difficulty import completed
from calbench.scenarios.models import ErrandEntry, Scenario
from calbench.scenarios.storage import write_suite
from calbench.stats.spec import AnalysisSpec
from calbench.traces.storage import write_trace
from tests.cli.runs import REPO
from tests.engine.scripts import Lines, book, decide, move, play_scripts
from tests.factories import make_scenario
from tests.report.samples import SOURCES

pytestmark = pytest.mark.heavy

PACKAGE = REPO / "calbench"

PAID = 400_003 + 412_346
"""What the agent pays: two moves."""

EXCESS = PAID - 2
"""The best schedule would have cost it 2."""

MEAN = round(EXCESS / 3, 4)
"""Of three agents, the others without excess: the cell of the leaderboard."""

OTHERS: Mapping[str, str] = {
    "calbench/analysis/certainties.py": "which values are exact",
    "calbench/analysis/tables/players.py": "means by player",
    "calbench/metrics/outcomes.py": "what a meeting's batches cost, and excess by round",
    "calbench/metrics/privacy/inference/game.py": "the events of which bits are inferred",
    "calbench/metrics/regret.py": "excess by meeting",
}
"""Files that return the same number on its way to other cells."""

DEPTH = 5
"""How far down a record is searched."""


def numbers(*wanted: float) -> Callable[[Any, int], bool]:
    """Return what tells whether a value holds one of some numbers, down to a depth.

    Records (data classes and models) are opened below depth 1 only.
    """
    digits = [f"{number:.10g}" for number in wanted]

    def is_one(value: Any) -> bool:
        return isinstance(value, int | float | np.number) and round(float(value), 4) in wanted

    def holds(value: Any, depth: int) -> bool:
        if isinstance(value, str):
            return any(each in value for each in digits)
        if isinstance(value, bytes):
            return any(each.encode() in value for each in digits)
        if isinstance(value, pd.DataFrame | pd.Series | np.ndarray):
            return any(
                is_one(each) or (isinstance(each, str) and holds(each, 0)) for each in _cells(value)
            )
        if isinstance(value, pa.Table | pa.RecordBatch):
            return any(map(is_one, _cells(value.to_pandas())))
        if depth and (parts := _parts(value, depth)):
            return any(holds(part, depth - 1) for part in parts)
        return is_one(value)

    return holds


def _cells(value: Any) -> list[Any]:
    return list(np.asarray(value, dtype=object).ravel())


def _parts(value: Any, depth: int) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return _fields(value) if depth > 1 else []
    return list(value) if isinstance(value, list | tuple | set | frozenset) else []


def _fields(record: Any) -> list[Any]:
    if isinstance(record, BaseModel):
        return list(vars(record).values())
    return [getattr(record, each.name, None) for each in fields(record)]


@dataclass
class Watch:
    """Notes which files of the package return a number.

    Attributes:
        bare: those that return it itself, or in a text, a column, a frame or a plain collection.
        inside: those that return it inside records, too.
    """

    bare: dict[str, None]
    inside: dict[str, None]

    def over(self, step: Callable[[], Any], *wanted: float) -> Any:
        """Take a step, noting who returns one of some numbers."""
        holds = numbers(*wanted)

        def note(frame: FrameType, event: str, value: Any) -> None:
            if event != "return" or not frame.f_code.co_filename.endswith(".py"):
                return
            path = Path(frame.f_code.co_filename)
            if (
                not path.is_relative_to(PACKAGE)
                or (name := str(path.relative_to(REPO))) in self.bare
            ):
                return
            sys.setprofile(None)
            if holds(value, 1):
                self.bare[name] = None
            if name not in self.inside and holds(value, DEPTH):
                self.inside[name] = None
            sys.setprofile(note)

        sys.setprofile(note)
        try:
            return step()
        finally:
            sys.setprofile(None)


@dataclass(frozen=True)
class Recorded:
    """A game on disk."""

    path: Path
    team_id: str
    scenario_id: str
    seconds: float = 0.01


def shown_for_nothing(scenario: Scenario) -> Scenario:
    """Return a scenario whose errands show a cost of 1, so that no shown cost is the number."""
    calendars = tuple(
        tuple(
            replace(entry, shown_cost=1) if isinstance(entry, ErrandEntry) else entry
            for entry in calendar
        )
        for calendar in scenario.calendars
    )
    return scenario.model_copy(update={"calendars": calendars})


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Watch:
    """Follow the excess cost of one agent to the page data of the leaderboard."""
    folder, found = tmp_path_factory.mktemp("way"), Watch({}, {})
    rows = ["E400003E412346E2..", "...BB", "BB..."]
    (scenario,) = completed([shown_for_nothing(make_scenario(rows, [(0, 1), (0, 2)]))])
    costly: list[Action] = [move(101, 0, 3), move(102, 1, 4), book(1, 0)]
    lines: dict[int, Lines] = {0: {decide(): costly}, 1: {decide(): [book(1, 0)]}}
    game = found.over(lambda: play_scripts(scenario, lines), PAID)
    job = Recorded(folder / "game.json", "scripted", scenario.scenario_id)
    found.over(lambda: write_trace(job.path, game.trace), PAID)
    facts = found.over(
        lambda: measure_games([job], folder / "facts", DEFAULT_MEASURE, lambda: None, None, SCORES),
        PAID,
        EXCESS,
    )
    settings = Settings(DEFAULT_MEASURE, AnalysisSpec(), {})
    tables, summary = folder / "tables" / "run", folder / "tables" / "summary"
    found.over(lambda: TABLES["standings.csv"].write(facts, settings, tables), EXCESS, MEAN)
    run = [RunTables("run", tables)]
    board = SUMMARY["leaderboard.csv"]
    found.over(
        lambda: write_frames(
            summary / board.path, [board.make(Runs(run, run, [], [], [], folder))], board.columns
        ),
        MEAN,
    )
    write_tables(facts, tables, settings)
    write_suite(folder / "suite.jsonl", [scenario])
    experiment = Experiment("run", folder / "suite.jsonl", tables, folder)
    site = Site(SOURCES, (experiment,), Tables(summary), Tables(folder / "none"))
    content = found.over(lambda: leaderboard.content(site), MEAN)
    found.over(lambda: write_data(folder, "leaderboard", content.data["leaderboard"]), MEAN)
    assert f'"{MEAN}"' in (folder / "leaderboard.js").read_text()
    return found


def listed() -> tuple[list[str], list[str]]:
    """Return the files that CONTRIBUTING lists, and those that it says carry the number unseen."""
    text = (REPO / "CONTRIBUTING.md").read_text()
    section = text.split("## The way of a number\n", 1)[1].split("\n## ", 1)[0]
    steps = re.findall(r"^\d+\. `([\w/.]+)`", section, re.MULTILINE)
    return steps, re.findall(r"`([\w/.]+\.py)`", section.strip().rpartition("\n\n")[2])


def test_files_on_the_way_are_those_that_are_listed(watch: Watch) -> None:
    steps, _ = listed()
    *python, script = steps
    assert set(watch.bare) - OTHERS.keys() == set(python)
    assert len(steps) <= 21
    assert script.removeprefix("site/assets/") in ASSETS["leaderboard"]


def test_files_that_carry_it_inside_a_record_are_named_too(watch: Watch) -> None:
    _, carriers = listed()
    assert set(watch.inside) - set(watch.bare) - OTHERS.keys() == set(carriers)
    assert set(watch.inside) >= OTHERS.keys(), "nothing of these returns it any more"


def test_files_are_listed_in_the_order_in_which_they_have_it_first(watch: Watch) -> None:
    steps, _ = listed()
    first = [name for name in watch.bare if name in steps]
    assert first == steps[:-1]
