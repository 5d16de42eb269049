"""Table 2, the frontier and the scale page: every number comes from a table, and says so."""

import math
import shutil
from pathlib import Path

import pytest

from calbench.analysis.measures import HEADLINE
from calbench.config.composition import compose, compose_choice
from calbench.errors import FileError
from calbench.report.experiment import Experiment
from calbench.report.figures.plane import WELFARE_SETTINGS
from calbench.report.tables import read_table
from tests.report.by_hand import HOSTILE
from tests.report.derived import draws, rename
from tests.report.samples import PUBLISHED, SOURCES, make_results, write_pages
from tests.report.written import figure, navigation, text_rows

pytestmark = pytest.mark.heavy

REPO = SOURCES.parent


@pytest.fixture(scope="module")
def special(tmp_path_factory: pytest.TempPathFactory) -> list[Experiment]:
    folder = tmp_path_factory.mktemp("special")
    played = make_results(folder / "uniform", "uniform", ["imap", "mediator", "secure-sum"])
    swept = {"imap": "dsm-theta-0.1", "mediator": "dsm-lmax-2", "secure-sum": "dsm-theta-0.1-w-0.5"}
    return [
        rename(played, "frontier", swept),
        draws(played, "reproduction"),
        draws(played, "reproduction-cap4"),
        rename(played, "scale", {}),
    ]


@pytest.fixture(scope="module")
def browsable(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("browsable")
    return make_results(folder / "uniform", "uniform", ["imap", "silent"])


@pytest.fixture(scope="module")
def docs(
    browsable: Experiment, special: list[Experiment], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("site") / "src"
    write_pages([browsable, *special], out, PUBLISHED)
    return out / "docs"


def test_every_published_number_is_held_against_drawn_suites(docs: Path) -> None:
    rows = read_table(docs / "tables" / "table2_draws.csv")
    found = {(r["setting"], r["experiment"], r["team"], r["measure"]): r for r in rows}

    paper = read_table(PUBLISHED / "table2.csv")
    shown = {(r["setting"], r["published_team"], r["measure"], r["published"]) for r in rows}
    assert {(r["setting"], r["team"], name, r[name]) for r in paper for name in HEADLINE} <= shown
    cost = found["uniform", "reproduction", "dsm-private", "excess_cost"]
    assert cost["published"] == "0.98"
    assert abs(float(cost["z"])) < 3
    capped = found["uniform", "reproduction-cap4", "sd-map", "coordination"]
    assert capped["plays_as"] == "variant"
    placed = found["uniform", "reproduction", "sd-map", "coordination"]
    assert (placed["plays_as"], placed["constant"], placed["z"]) == ("rules", "other", "")
    assert float(found["uniform", "reproduction", "sd-map", "messages"]["z"]) > 9
    vps = found["uniform", "reproduction", "dsm-private", "excess_vps"]
    assert (vps["constant"], vps["p"]) == ("same", "")
    page = (docs / "results" / "reproduction.md").read_text()
    for row in rows:
        if row["z"]:
            assert f'<data value="{row["z"]}">' in page
            assert f'<data value="{row["p"]}">' in page
    for constant, words in (("same", "as in all of ours"), ("other", "in none of ours")):
        assert page.count(f'<td class="cb-word">{words}</td>') == sum(
            row["constant"] == constant for row in rows
        )


def test_frontier_lines_start_at_their_preset_and_hold_the_rows(docs: Path) -> None:
    drawn = {trace["name"]: trace for trace in figure(docs, "plane-uniform")["data"]}

    assert {"imap", "silent"} < set(drawn)
    assert drawn["DSM, w varies, θ = 0.1"]["text"] == ["w = 0.5", "w = 1"]
    assert drawn["DSM, θ varies"]["customdata"] == [12.4]
    assert drawn["DSM, θ varies"]["x"] == [pytest.approx(math.log10(13.4))]


def test_frontier_knows_the_preset_it_starts_from() -> None:
    settings = compose_choice("protocol", "dsm-welfare")

    for name, value in WELFARE_SETTINGS.items():
        assert settings[name] == float(value)


def test_bytes_per_meeting_are_the_games_bytes_over_all_meetings(
    docs: Path, special: list[Experiment]
) -> None:
    (scale,) = (each for each in special if each.name == "scale")
    games = text_rows(scale.tables, "games.csv", team="imap")
    (row,) = [r for r in read_table(docs / "tables" / "scale_bytes.csv") if r["team"] == "imap"]

    total = sum(int(game["message_bytes"]) for game in games)
    assert row["message_bytes"] == str(total)
    meetings = sum(int(game["meetings"]) for game in games)
    assert float(row["bytes_per_meeting"]) == pytest.approx(total / meetings, abs=0.005)
    assert figure(docs, "scale-bytes")["data"][0]["y"] == [float(row["bytes_per_meeting"])]


def test_special_experiments_have_no_game_and_no_page_of_settings(docs: Path) -> None:
    index = (docs / "pagedata" / "index.js").read_text()

    assert [path.name for path in (docs / "pagedata" / "games").iterdir()] == ["uniform"]
    assert "scale" not in index
    pages = [next(iter(entry)) for entry in navigation(docs.parent)]
    assert pages == [
        "uniform", "Cost and privacy", "Talk", "Cost and fairness", "Difficulty", "Larger games",
        "The paper's tables", "Table 2", "Inconsistencies in the paper",
        "Privacy, measured", "Where excess cost comes from",
    ]  # fmt: skip


def test_pages_are_absent_with_their_experiments(browsable: Experiment, tmp_path: Path) -> None:
    write_pages([browsable], tmp_path / "src")

    names = {path.name for path in (tmp_path / "src" / "docs" / "results").iterdir()}
    assert names == {
        "comparisons.md", "cost.md", "difficulty.md", "plane.md", "privacy.md", "ratings.md",
        "regret.md", "talk.md", "uniform.md",
    }  # fmt: skip
    pages = [next(iter(entry)) for entry in navigation(tmp_path / "src")]
    assert pages == [
        "uniform", "Cost and privacy", "Talk", "Cost and fairness", "Difficulty",
        "Privacy, measured", "Where excess cost comes from",
    ]  # fmt: skip
    assert not (tmp_path / "src" / "docs" / "tables" / "published").exists()


def test_hostile_published_cells_are_escaped_or_refused(
    browsable: Experiment, special: list[Experiment], tmp_path: Path
) -> None:
    published = tmp_path / "published"
    shutil.copytree(PUBLISHED, published)
    shutil.copytree(PUBLISHED.parent / "predictive", tmp_path / "predictive")
    tried, table = published / "tried.csv", published / "table2.csv"
    tried.write_text(tried.read_text().replace("batches=exhaustive", HOSTILE))
    write_pages([browsable, *special], tmp_path / "a", published)
    page = (tmp_path / "a" / "docs" / "results" / "reproduction.md").read_text()

    assert "&lt;b onclick=x&gt;&#123;&#123;1&#125;&#125;" in page
    assert "<b " not in page
    told = tried.read_text()
    tried.write_text(told.replace("1.3244", "NaN"))
    with pytest.raises(FileError, match="not the number it should be"):
        write_pages([browsable, *special], tmp_path / "b", published)
    tried.write_text(told)
    table.write_text(table.read_text().replace("0.530", "NaN"))
    with pytest.raises(FileError, match="where a finite number should be"):
        write_pages([browsable, *special], tmp_path / "c", published)


def test_speed_was_measured_for_every_team_and_size() -> None:
    teams = [team.team_id for team in compose(["+experiment=scale"]).teams]
    rows = read_table(PUBLISHED / "speed.csv")

    assert [(row["team"], row["agents"]) for row in rows] == [
        (team, agents) for team in teams for agents in ("5", "10", "20", "50")
    ]
    assert all(float(row["games_per_second"]) > 0 and row["note"] for row in rows)
