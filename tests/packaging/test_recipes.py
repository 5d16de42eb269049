"""The recipes of CONTRIBUTING for a measure, a fact and a table, followed in a copy of the package.

The copy is edited where the recipes say and nowhere else; then a run has the measure and the table
wherever a reader looks for them.
"""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runs import REPO, SMALL, python

pytestmark = pytest.mark.heavy

CONTRIBUTING = (REPO / "CONTRIBUTING.md").read_text()

PARTS = ("calbench", "conf", "data/label_banks", "site")
TEAMS = ("imap", "sd-map", "silent")
RUN = (*SMALL, "suite.scenario.num_agents=5", f"teams=[{','.join(TEAMS)}]", "out=run")
"""Two meetings of two among five agents: one of them has none, and does not count."""

Edit = tuple[str, str, str]
"""File, what is there, and what takes its place; nothing is there: a new file."""

MEASURE: tuple[Edit, ...] = (
    (
        "calbench/metrics/moves.py",
        "",
        '''"""What agents moved."""

from collections.abc import Iterable

from calbench.domain.actions import Reschedule
from calbench.traces.events import BatchApplied, Event


def items_moved_by_agent(events: Iterable[Event], num_agents: int) -> tuple[int, ...]:
    """Return how many moves of each agent were applied."""
    counts = [0] * num_agents
    for event in events:
        if isinstance(event, BatchApplied):
            counts[event.agent_id] += sum(isinstance(a, Reschedule) for a in event.actions)
    return tuple(counts)
''',
    ),
    (
        "calbench/metrics/game.py",
        "    messages_sent: int\n",
        "    messages_sent: int\n    items_moved: int\n",
    ),
    (
        "calbench/metrics/game.py",
        "            messages_sent=sent[agent],\n",
        "            messages_sent=sent[agent],\n            items_moved=moved[agent],\n",
    ),
    (
        "calbench/metrics/game.py",
        "    sent = messages_sent_by_agent(events, num_agents)\n",
        (
            "    sent = messages_sent_by_agent(events, num_agents)\n"
            "    moved = items_moved_by_agent(events, num_agents)\n"
        ),
    ),
    (
        "calbench/metrics/game.py",
        "from calbench.metrics.optimum import ",
        (
            "from calbench.metrics.moves import items_moved_by_agent\n"
            "from calbench.metrics.optimum import "
        ),
    ),
    (
        "calbench/facts/games.py",
        '        count("messages_sent", "messages", "a group message counts once", "P"),\n',
        (
            '        count("messages_sent", "messages", "a group message counts once", "P"),\n'
            '        count("items_moved", "moves", "applied, voluntary ones too"),\n'
        ),
    ),
    (
        "calbench/analysis/measures.py",
        '    Measure(\n        "fairness",\n',
        """    Measure(
        "moves",
        "Moves",
        "moves per meeting",
        "lower",
        "items moved / S",
        "agent-games with S > 0",
        "C",
        _per("items_moved", "scheduled"),
    ),
    Measure(
        "fairness",
""",
    ),
    (
        "site/docs/method.md",
        "### Fairness {#fairness}\n",
        (
            "### Moves {#moves}\n\n    mean of items moved / S\n\n"
            "Runs over agent-games with S > 0. [C]\n\n"
            "### Fairness {#fairness}\n"
        ),
    ),
)

FACT: tuple[Edit, ...] = (
    (
        "calbench/facts/batches.py",
        "",
        '''"""Facts of batches: every one that was applied."""

from calbench.domain.actions import Reschedule
from calbench.facts.columns import AGENT, ROUND, count
from calbench.facts.fact import Fact
from calbench.traces.events import BatchApplied

BATCHES = Fact(
    "batches",
    lambda game: [event for event in game.trace.events if isinstance(event, BatchApplied)],
    (
        AGENT,
        ROUND,
        (
            count("moves", "moves", "in the batch"),
            lambda batch: sum(isinstance(action, Reschedule) for action in batch.actions),
        ),
    ),
)
''',
    ),
    (
        "calbench/analysis/scoring.py",
        "from calbench.facts.beliefs import ",
        "from calbench.facts.batches import BATCHES\nfrom calbench.facts.beliefs import ",
    ),
    (
        "calbench/analysis/scoring.py",
        "TALK: tuple[Fact, ...] = (",
        "TALK: tuple[Fact, ...] = (BATCHES, ",
    ),
)

TABLE: tuple[Edit, ...] = (
    (
        "calbench/analysis/tables/batches.py",
        "",
        '''"""Batches of teams."""

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import SETTING, TEAM, count
from calbench.facts.storage import Facts


@table(
    "batches.csv",
    (
        SETTING,
        TEAM,
        count("batches", "batches", "applied in scored games"),
        count("moves", "moves", "in these batches"),
    ),
    key="setting team",
    needs="batches",
)
def batches(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many batches of every team were applied, and what they moved."""
    del settings
    rows = facts.of_games("batches").assign(batches=1)
    return rows.groupby(["setting", "team"], sort=False)[["batches", "moves"]].sum().reset_index()
''',
    ),
    (
        "calbench/analysis/tables/__init__.py",
        "    audits,\n    comparisons,\n",
        "    audits,\n    batches,\n    comparisons,\n",
    ),
    (
        "calbench/analysis/tables/__init__.py",
        '    "audits",\n    "comparisons",\n',
        '    "audits",\n    "batches",\n    "comparisons",\n',
    ),
)

PAGES = """
import json
from pathlib import Path
from calbench.report.columns import anchor
from calbench.report.experiment import Experiment
from calbench.report.pages import dictionary, setting
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.templating import Templates

run, none = Path("run"), Tables(Path("nothing"))
experiment = Experiment("run", run / "suite.jsonl", run / "tables", run / "traces")
site = Site(Path("site"), (experiment,), none, none)
contents = {
    "data.md": dictionary.content(site),
    "results/setting.md": setting.content(site, site.settings[0]),
}
templates = Templates(Path("site/docs"))
shown = [
    templates.filled(name, "", {"site": site, "explaining": [], **content.values})
    for name, content in contents.items()
]
print(json.dumps([*shown, anchor("moves")]))
"""


@dataclass(frozen=True)
class Followed:
    """A copy of the package, and what a run of it left."""

    root: Path
    touched: frozenset[str]

    @property
    def tables(self) -> Path:
        return self.root / "run" / "tables"

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.tables / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def resource(self, path: str) -> dict[str, Any]:
        package = json.loads((self.tables / "datapackage.json").read_bytes())
        (found,) = [each for each in package["resources"] if each["path"] == path]
        return dict(found)


def apply(root: Path, edit: Edit) -> None:
    name, old, new = edit
    path = root / name
    if not old:
        assert not path.exists()
        path.write_text(new)
        return
    text = path.read_text()
    assert text.count(old) == 1, (name, old)
    path.write_text(text.replace(old, new))


def sources(root: Path) -> Iterator[tuple[str, bytes]]:
    for part in PARTS:
        for path in sorted((root / part).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                yield path.relative_to(root).as_posix(), path.read_bytes()


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    """Follow the three recipes, play a small run and measure it."""
    root = tmp_path_factory.mktemp("recipes") / "copy"
    for part in PARTS:
        shutil.copytree(REPO / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    before = dict(sources(root))
    for edit in (*MEASURE, *FACT, *TABLE):
        apply(root, edit)
    ended = python("-m", "calbench", *RUN, cwd=root)
    assert ended.status == 0, ended.err
    after = dict(sources(root))
    touched = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return Followed(root, frozenset(touched))


def steps(title: str) -> list[str]:
    """Return the numbered steps of a recipe."""
    section = CONTRIBUTING.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\d+\. (.*?)(?=^\d+\. |\n\n)", section, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("title", "edits", "places"),
    [("Add a metric", MEASURE, 4), ("Add a fact", FACT, 2), ("Add a table", TABLE, 2)],
)
def test_recipe_names_every_file_that_is_touched(
    title: str, edits: tuple[Edit, ...], places: int
) -> None:
    named = steps(title)
    assert len(named) == places
    found = [re.findall(r"`((?:calbench|site)/[\w/.]+)`", step) for step in named]
    assert all(found)
    for name, _, _ in edits:
        assert any(
            name == place or (place.endswith("/") and name.rpartition("/")[0] + "/" == place)
            for step in found
            for place in step
        ), name


def test_nothing_else_had_to_be_touched(followed: Followed) -> None:
    assert followed.touched == {name for name, _, _ in (*MEASURE, *FACT, *TABLE)}


@pytest.fixture(scope="module")
def moved(followed: Followed) -> dict[str, list[tuple[int, int]]]:
    """Return moves and meetings scheduled of every agent of every game, by team, from traces."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row in followed.rows("agent_games.csv"):
        path = followed.root / "run" / "traces" / row["team"] / f"{row['scenario_id']}.json"
        moves = sum(
            action["type"] == "reschedule"
            for event in json.loads(path.read_bytes())["events"]
            if event["type"] == "batch_applied" and event["agent_id"] == int(row["agent_id"])
            for action in event["actions"]
        )
        found.setdefault(row["team"], []).append((moves, int(row["scheduled"])))
    return found


def test_measure_is_in_the_leaderboard_with_its_interval(
    followed: Followed, moved: dict[str, list[tuple[int, int]]]
) -> None:
    for name, by in (("leaderboard.csv", "team"), ("players.csv", "player")):
        rows = {row[by]: row for row in followed.rows(name)}
        assert set(rows) == set(TEAMS)
        for team, row in rows.items():
            parts = [moves / meetings for moves, meetings in moved[team] if meetings]
            if parts:
                assert float(row["moves"]) == pytest.approx(sum(parts) / len(parts), abs=5.1e-5)
                assert float(row["moves_low"]) <= float(row["moves"]) <= float(row["moves_high"])
            else:
                assert (row["moves"], row["moves_low"], row["moves_high"]) == ("", "", "")
    assert any(float(row["moves"] or 0) > 0 for row in rows.values())


def test_only_agent_games_that_count_are_counted(
    followed: Followed, moved: dict[str, list[tuple[int, int]]]
) -> None:
    counted = {
        row["team"]: int(row["agent_games"])
        for row in followed.rows("agent_game_counts.csv")
        if row["measure"] == "moves"
    }
    assert counted == {
        team: sum(meetings > 0 for _, meetings in games) for team, games in moved.items()
    }
    assert counted["silent"] == 0
    assert 0 < counted["imap"] <= 12 < len(moved["imap"]) == 15


def test_measure_is_compared_and_ranked(followed: Followed) -> None:
    board = {row["team"]: row for row in followed.rows("leaderboard.csv")}
    (row,) = [row for row in followed.rows("comparisons.csv") if row["measure"] == "moves"]
    assert (row["team_a"], row["team_b"]) == ("imap", "sd-map")
    assert 0 < int(row["scenarios"]) <= 3
    assert row["p_adjusted"]
    standings = {row["team"]: row for row in followed.rows("standings.csv")}
    assert standings["imap"]["moves"] == board["imap"]["moves"]
    assert standings["silent"]["moves_n"] == "0"
    assert standings["imap"]["moves_ranked"] == "2"
    assert standings["oracle"]["moves"] == standings["oracle"]["moves_n"] == ""


def test_measure_is_in_the_metrics_where_it_is_defined(followed: Followed) -> None:
    board = {row["team"]: row["moves"] for row in followed.rows("leaderboard.csv")}
    found = json.loads((followed.tables / "metrics.json").read_bytes())["taste"]
    assert {team: found[team].get("moves") for team in TEAMS} == {
        team: float(shown) if shown else None for team, shown in board.items()
    }
    alone = json.loads((followed.tables / "metrics" / "taste" / "imap.json").read_bytes())
    assert alone == found["imap"]


def test_measure_and_table_are_described_beside_the_tables(followed: Followed) -> None:
    for path in ("leaderboard.csv", "players.csv", "standings.csv"):
        fields = {each["name"]: each for each in followed.resource(path)["schema"]["fields"]}
        assert fields["moves"]["unit"] == "moves per meeting"
        assert fields["moves"]["denominator"] == "agent-games with S > 0"
        assert fields["moves"]["origin"] == "C"
        assert {"moves_low", "moves_high"} <= fields.keys()
    own = followed.resource("batches.csv")
    assert own["description"].startswith("How many batches of every team were applied")
    assert own["schema"]["primaryKey"] == ["setting", "team"]


def test_table_holds_what_it_says(
    followed: Followed, moved: dict[str, list[tuple[int, int]]]
) -> None:
    rows = {row["team"]: row for row in followed.rows("batches.csv")}
    assert list(rows["imap"]) == ["setting", "team", "batches", "moves", "metrics_version"]
    for team in ("imap", "sd-map"):
        assert int(rows[team]["moves"]) == sum(moves for moves, _ in moved[team])
        assert int(rows[team]["batches"]) > 0


def test_measure_and_table_stand_on_the_pages(followed: Followed) -> None:
    ended = python("-c", PAGES, cwd=followed.root)
    assert ended.status == 0, ended.err
    data_page, setting_page, anchor = json.loads(ended.out)
    assert "### tables/batches.csv {#batches}" in data_page
    board = data_page.split("### tables/leaderboard.csv ", 1)[1].split("### tables/", 1)[0]
    assert "<code>moves_high</code>" in board
    assert "items moved / S" in setting_page
    assert f"{{#{anchor}}}" in (followed.root / "site/docs/method.md").read_text()


def test_facts_that_leave_talk_out_leave_out_the_table(followed: Followed) -> None:
    ended = python(
        "-m", "calbench", "rescore", "run", "out=scores", "facts=scores", cwd=followed.root
    )
    assert ended.status == 0, ended.err
    assert not (followed.root / "scores" / "batches.csv").exists()
    assert (followed.root / "scores" / "leaderboard.csv").is_file()


def test_measure_is_known_to_the_comparison_of_runs(followed: Followed) -> None:
    ended = python(
        *("-m", "calbench", "compare", "run", "run", "a=imap", "b=sd-map", "measure=moves"),
        cwd=followed.root,
    )
    assert ended.status == 0, ended.err
    assert "Moves" in ended.out
