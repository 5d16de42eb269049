"""The recipes of CONTRIBUTING, followed in a copy of the package.

The copy is edited where the recipes say and nowhere else; then a run has the measure and the table
wherever a reader looks for them, and the pipeline builds a site with everything else.
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

from calbench.report.columns import anchor
from tests.cli.runs import REPO, SMALL, python
from tests.report.unpacking import page_table, unpacked_game

pytestmark = [pytest.mark.heavy, pytest.mark.slow]

CONTRIBUTING = (REPO / "CONTRIBUTING.md").read_text()

Edit = tuple[str, str, str]
"""File, what is there, and what takes its place; nothing is there: a new file."""


def edits(text: str) -> Iterator[Edit]:
    """Yield edits from a text.

    A file's stand below ``=== FILE``, with ``@@`` between them: what stays is behind a blank, what
    goes behind a minus, what comes behind a plus. A backslash is where a line goes on unseen.
    """
    for part in text.split("=== ")[1:]:
        name, _, pieces = part.partition("\n")
        for piece in pieces.split("@@\n"):
            lines = piece.splitlines(keepends=True)
            old, new = (
                "".join(line[1:] for line in lines if line[0] in signs).replace("\\\n", "")
                for signs in (" -", " +")
            )
            yield name, old, new


def apply(root: Path, edit: Edit) -> None:
    name, old, new = edit
    path = root / name
    text = path.read_text() if old else ""
    assert text.count(old) == 1 if old else not path.exists(), (name, old)
    path.write_text(text.replace(old, new) if old else new)


RECIPES = {
    title: [*edits(text)]
    for part in Path(__file__).with_name("recipes.txt").read_text().split("## Add ")[1:]
    for title, _, text in [f"Add {part}".partition("\n")]
}
"""By the title of the section, one example of each."""

TESTS = RECIPES.pop("Add tests")
"""What recipes say of tests: a protocol declares its vocabulary."""

DATA = ("audit_sample", "cohorts", "label_banks", "predictive", "published", "release")
PARTS = ("calbench", "conf", "site", *(f"data/{name}" for name in DATA))
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "dvc.yaml", "requirements.lock")
TEAMS = ("imap", "sd-map", "silent")
RUN = (*SMALL, "suite.scenario.num_agents=5", f"teams=[{','.join(TEAMS)}]", "out=run")
"""Two meetings of two among five agents: one of them has none, and does not count."""

STAGES = ("generate", "play", "calibrate", "analyze", "publish")
"""What the pipeline runs after ``compose``, here of one experiment."""

PLACES = {
    "Add a protocol": 7,
    "Add a metric": 4,
    "Add a table": 1,
    "Add a fact": 2,
    "Add a figure": 2,
    "Add a page": 2,
    "Add an experiment": 1,
}
"""How many files a recipe names, one a step."""


@dataclass(frozen=True)
class Followed:
    """A copy of the package, and what a run and the pipeline left there."""

    root: Path
    touched: frozenset[str]

    @property
    def tables(self) -> Path:
        return self.root / "run" / "tables"

    def rows(self, name: str) -> list[dict[str, str]]:
        return read_rows(self.tables / name)

    def resource(self, path: str) -> dict[str, Any]:
        package = json.loads((self.tables / "datapackage.json").read_bytes())
        (found,) = [each for each in package["resources"] if each["path"] == path]
        return dict(found)

    def computed(self, path: str) -> list[dict[str, str]]:
        return read_rows(self.root / "data" / "tables" / path)

    def page(self, name: str) -> str:
        return (self.root / "build" / "site" / name).read_text()

    @property
    def home(self) -> str:
        return self.page("index.html")


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sources(root: Path) -> Iterator[tuple[str, bytes]]:
    paths = [path for part in PARTS for path in sorted((root / part).rglob("*"))]
    for path in (*paths, *(root / name for name in FILES)):
        if path.is_file() and path.suffix != ".pyc":
            yield path.relative_to(root).as_posix(), path.read_bytes()


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    """Follow all recipes, play a small run, and build a site of the new experiment."""
    root = tmp_path_factory.mktemp("recipes") / "copy"
    for part in (*PARTS, "stages"):
        shutil.copytree(REPO / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copyfile(REPO / name, root / name)
    before = dict(sources(root))
    for edits in RECIPES.values():
        for edit in edits:
            apply(root, edit)
    run(root, "calbench", *RUN)
    run(root, "stages.libraries")
    run(root, "stages.compose")
    for path in (root / "build" / "parts").iterdir():
        given = json.loads(path.read_text())
        path.write_text(json.dumps({"hopes": given["hopes"]}))
    for stage in STAGES:
        run(root, f"stages.{stage}")
    after = dict(sources(root))
    touched = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return Followed(root, frozenset(touched))


def run(root: Path, *command: str) -> str:
    ended = python("-m", *command, cwd=root)
    assert ended.status == 0, ended.err
    return ended.out


def steps(title: str) -> list[str]:
    """Return the numbered steps of a recipe."""
    section = CONTRIBUTING.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\d+\. (.*?)(?=^\d+\. |\n\n)", section, re.MULTILINE | re.DOTALL)


def places(step: str) -> list[str]:
    """Return patterns of the files that a step names: one, a folder's, or one with a free name."""
    named = re.findall(r"`((?:calbench|conf|site)/[\w/.<>-]+|dvc\.yaml)`", step)
    free = (re.sub("<[a-z]+>", "[a-z]+", re.escape(name)) for name in named)
    return [re.sub("/$", "/[a-z]+[.]py", name) for name in free]


@pytest.mark.parametrize("title", RECIPES)
def test_recipe_names_every_file_that_is_touched(title: str) -> None:
    named = [places(step) for step in steps(title)]
    touched = {name for name, _, _ in RECIPES[title]}
    assert len(named) == PLACES[title]
    assert all(any(re.fullmatch(at, name) for name in touched for at in step) for step in named)
    everywhere = [at for step in named for at in step]
    assert [n for n in touched if not any(re.fullmatch(at, n) for at in everywhere)] == []


def test_nothing_else_had_to_be_touched(followed: Followed) -> None:
    assert followed.touched == {name for edits in RECIPES.values() for name, _, _ in edits}


def test_every_recipe_that_adds_to_the_site_is_followed() -> None:
    titles = re.findall(r"^## (Add .*)$", CONTRIBUTING, re.MULTILINE)
    others = {"Add a suite", "Add a label bank", "Add a model", "Add an agent"}
    assert set(titles) - others == RECIPES.keys() == PLACES.keys()


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
                assert row["moves_interval"] == "few"  # three scenarios; their range is given
                ends = float(row["moves_least"]), float(row["moves_greatest"])
                assert ends[0] <= float(row["moves"]) <= ends[1]
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
    pairs = {
        (row["team_a"], row["team_b"]): row
        for row in followed.rows("comparisons.csv")
        if row["measure"] == "moves"
    }
    row = pairs["imap", "sd-map"]
    assert 0 < int(row["scenarios"]) <= 3
    assert row["difference"]
    assert row["remark"] == "too few scenarios"
    assert {pairs[team, "silent"]["remark"] for team in ("imap", "sd-map")} == {"degenerate team"}
    standings = {row["team"]: row for row in followed.rows("standings.csv")}
    assert standings["imap"]["moves"] == board["imap"]["moves"]
    assert standings["silent"]["moves_n"] == "0"
    assert standings["imap"]["moves_ranked"] == "2"
    assert standings["oracle"]["moves"] == standings["oracle"]["moves_n"] == ""


def test_measure_is_in_the_metrics_where_it_is_defined(followed: Followed) -> None:
    board = {row["team"]: row["moves"] for row in followed.rows("leaderboard.csv")}
    found = json.loads((followed.tables / "metrics.json").read_bytes())["taste-varied"]
    assert {team: found[team].get("moves") for team in TEAMS} == {
        team: float(shown) if shown else None for team, shown in board.items()
    }
    alone = json.loads((followed.tables / "metrics" / "taste-varied" / "imap.json").read_bytes())
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


def test_measure_and_table_are_on_the_site(followed: Followed) -> None:
    assert 'id="batches"' in followed.page("data.html")
    dictionary = followed.page("data/results.html")
    assert 'id="batches"' in dictionary
    board = dictionary.split('id="leaderboard"', 1)[1].split("<h3", 1)[0]
    assert "<code>moves_high</code>" in board
    assert "items moved / S" in followed.page("results/hopes.html")
    assert f'id="{anchor("moves")}"' in followed.page("method.html")


def table_rows(page: str) -> list[str]:
    return re.findall(r"<tr>.*?</tr>", page, re.DOTALL)


def cells(row: dict[str, str], *measures: str) -> list[str]:
    return [f'<data value="{row[measure]}">' for measure in measures]


@pytest.mark.parametrize(
    ("name", "measures"),
    [
        ("results/hopes.html", ("coordination", "excess_cost")),
        ("leaderboard.html", ("coordination", "adjusted_excess_cost")),
    ],
)
def test_team_of_the_protocol_is_on_the_page_of_its_setting_and_in_the_leaderboard(
    followed: Followed, name: str, measures: tuple[str, ...]
) -> None:
    (row,) = [row for row in followed.computed("hopes/leaderboard.csv") if row["team"] == "wishes"]
    assert (row["games"], row["vps_kind"]) == ("2", "protocol")
    assert 0 < float(row["coordination"]) < 100
    own = [each for each in table_rows(followed.page(name)) if re.search(">wishes ?<", each)]
    assert any(all(cell in each for cell in cells(row, *measures)) for each in own)


def test_what_its_messages_give_away_is_counted(followed: Followed) -> None:
    games = followed.computed("hopes/games.csv")
    assert all(float(row["vps"]) > 0 for row in games if row["team"] == "wishes")
    shares = {row["source"] for row in followed.computed("hopes/vps_shares.csv")}
    assert "wish" in shares


def test_games_of_the_protocol_replay(followed: Followed) -> None:
    said = run(followed.root, "calbench", "verify", "data/traces/hopes/wishes")
    assert "2 of 2 traces hold" in said


def test_new_experiment_has_a_page_in_the_navigation_and_a_game_to_step_through(
    followed: Followed,
) -> None:
    assert re.search(r'href="results/hopes.html"[^<]*>\s*(<[^>]*>\s*)*High hopes', followed.home)
    pagedata = followed.root / "build" / "site" / "pagedata"
    scenario, *_ = sorted((pagedata / "games" / "hopes").iterdir())
    _, trace = unpacked_game(pagedata, "hopes", "wishes", scenario.stem)
    assert b'"wish"' in trace


def test_new_page_is_in_the_navigation_with_the_numbers_of_the_table(followed: Followed) -> None:
    assert re.search(r'href="results/thrift.html"[^<]*>\s*(<[^>]*>\s*)*Thrift', followed.home)
    rows = table_rows(followed.page("results/thrift.html"))
    for row in followed.computed("hopes/leaderboard.csv"):
        own = [each for each in rows if f">{row['team']} <" in each]
        assert len(own) == 1
        assert all(cell in own[0] for cell in cells(row, "excess_cost"))


def test_new_figure_is_drawn_where_its_template_puts_it(followed: Followed) -> None:
    page = followed.page("results/talk.html")
    section = page.split('id="fair"', 1)[1].split("<h2", 1)[0]
    assert 'data-figure="figures/fair-hopes"' in section
    assert "Left is fairer in High hopes." in section
    site = followed.root / "build" / "site"
    assert "calbench.data(" in (site / "pagedata/figures/fair-hopes.js").read_text()
    drawn = {row["team"]: row["fairness"] for row in page_table(site, "figures/fair-hopes.csv")}
    board = followed.computed("hopes/leaderboard.csv")
    assert drawn == {row["team"]: row["fairness"] for row in board if row["fairness"]}
    assert "wishes" in drawn


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


OWN_TESTS = {"calbench": 1, "conf": 0, "site": 0}
"""Which part of a path names its tests' folder: ``calbench/facts/...`` has ``tests/facts``."""


@pytest.mark.slow
def test_fast_tests_of_what_was_touched_are_green(followed: Followed) -> None:
    touched = {name.split("/")[OWN_TESTS[name.split("/")[0]]] for name in followed.touched}
    folders = {{"conf": "config", "site": "report"}.get(each, each) for each in touched}
    assert {"protocols", "metrics", "facts", "analysis", "report"} <= folders
    shutil.copytree(
        REPO / "tests", followed.root / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copyfile(REPO / "pyproject.toml", followed.root / "pyproject.toml")
    for edit in TESTS:
        apply(followed.root, edit)
    chosen = sorted(f"tests/{folder}" for folder in {*folders, "conformance"})
    run(followed.root, "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses=1", *chosen)
