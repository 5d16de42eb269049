"""The leaderboard: every number of the tables, nothing mixed that cannot be compared."""

import csv
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from calbench.analysis.measures import MEASURES
from calbench.analysis.tables.standings import USAGE_COLUMNS
from calbench.report.columns import is_known
from calbench.report.experiment import Experiment
from calbench.report.pages.board import comparisons
from calbench.report.pages.board.leaderboard import PRICE_PER_GAME, cell, fields, partly, versions
from calbench.report.pages.board.views import View, views_of
from calbench.report.site import Site
from calbench.report.tables import Row, Tables, cell_of, read_table
from calbench.report.writing import write_site
from tests.report.sample_site import SampleSite
from tests.report.samples import NOTHING, PUBLISHED, SOURCES, make_results, page_of, site_of
from tests.report.unpacking import file_value
from tests.report.written import stated, text_rows

pytestmark = pytest.mark.heavy  # whole pages; the sample site has them in the fast suite too

USAGE = [column.name for column in USAGE_COLUMNS[:-1]]
"""What teams asked of models."""


@pytest.fixture(scope="module")
def spoken(sample_site: SampleSite) -> Experiment:
    return sample_site.language


@pytest.fixture(scope="module")
def cohort(sample_site: SampleSite) -> Experiment:
    return sample_site.cohort


@pytest.fixture(scope="module")
def played(spoken: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """Protocols on the scenarios of the language experiment."""
    folder = tmp_path_factory.mktemp("uniform")
    scenarios = [s for s in spoken.scenarios if s.setting == "uniform"]
    return make_results(folder, "uniform", ["imap", "mediator", "silent"], scenarios=scenarios)


@pytest.fixture(scope="module")
def site(
    spoken: Experiment,
    cohort: Experiment,
    played: Experiment,
    tmp_path_factory: pytest.TempPathFactory,
) -> Site:
    out = tmp_path_factory.mktemp("site") / "src"
    return site_of([played, spoken, cohort], out, PUBLISHED)


@pytest.fixture(scope="module")
def docs(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("written") / "src"
    write_site(site, out)
    return out / "docs"


@pytest.fixture(scope="module")
def views(site: Site) -> tuple[View, ...]:
    return views_of(site)


def page_data(docs: Path, key: str) -> Any:
    return file_value(docs / "pagedata" / f"{key}.js")


def rows_of(views: tuple[View, ...]) -> list[Row]:
    return [row for view in views for row in view.rows]


def test_every_number_is_a_cell_of_a_table(
    views: tuple[View, ...], played: Experiment, spoken: Experiment, cohort: Experiment
) -> None:
    by_name = {each.name: each for each in (played, spoken, cohort)}
    for view in views:
        for row in view.rows[:-1]:
            tables = by_name[row["experiment"]].tables
            (own,) = (
                r
                for r in tables.rows("leaderboard.csv")
                if (r["setting"], r["team"]) == (view.setting, row["team"])
            )
            assert {name: row[name] for name in own if name in row} == {
                name: cell for name, cell in own.items() if name in row
            }
            for usage in tables.rows("usage.csv"):
                if usage["team"] == row["team"]:
                    assert {n: row[n] for n in USAGE} == {n: usage[n] for n in USAGE}
            assert (row["calls"] is not None) == (row["team"] == "my-model")


def test_loss_by_messages_and_by_reflections_have_columns_of_their_own(
    views: tuple[View, ...],
) -> None:
    known = {field["id"]: field for field in fields(rows_of(views))}
    row_of = {row["team"]: row for row in views[0].rows}
    by_messages = known["excess_vps.protocol"]
    by_reflections = known["excess_vps.reflection"]

    assert "excess_vps" not in known
    assert cell(row_of["imap"], by_messages) == row_of["imap"]["excess_vps"] is not None
    assert cell(row_of["imap"], by_reflections) is None
    assert cell(row_of["candid"], by_messages) is None
    assert cell(row_of["candid"], by_reflections) == row_of["candid"]["excess_vps"]


def test_measure_of_some_seats_says_of_how_many(docs: Path, views: tuple[View, ...]) -> None:
    (row,) = (row for row in views[0].rows if row["team"] == "imap")
    seats = row["adjusted_excess_cost_n"]
    some = {**row, "excess_vps_n": 1}

    assert partly(row, "excess_vps") == ""
    assert partly(some, "excess_vps") == f"1 of {seats} seats"
    assert partly({**row, "excess_vps_n": None}, "excess_vps") == ""
    assert partly({**row, "messages_n": 9}, "messages") == f"9 of {seats} seats"
    shown = [partly(own, "messages") for pool in views[0].pools for own in pool.rows]
    page = (docs / "leaderboard.md").read_text()
    assert page.count(" seats</span>") >= len([words for words in shown if words])


def test_several_instruments_are_none(views: tuple[View, ...]) -> None:
    mixed = {**views[0].rows[0], "vps_kind": "mixed"}

    assert [field["id"] for field in fields([mixed]) if field["vps"]] == []


def test_page_says_what_is_measured_and_what_a_rank_is(docs: Path) -> None:
    page = (docs / "leaderboard.md").read_text()

    assert "beyond a fixed allowance" in page
    assert "beyond need" not in page
    assert "one team is above another only if a test shows it" in page
    published = page.split('id="published"')[1]
    assert "Excess VPS, by reflections" in published
    paper = page_data(docs, "leaderboard")["paper"]
    titles = [each["title"] for each in paper["fields"]]
    assert titles[-1] == "Excess VPS, by reflections"
    assert len({each.split(",")[0] for each in titles}) == len(titles)


def test_comparisons_lead_to_the_pages_of_their_teams(docs: Path) -> None:
    page = (docs / "results" / "comparisons.md").read_text()
    players = page_data(docs, "comparisons")["players"]

    links = set(re.findall(r'href="\.\./players/([^"]+)\.html"', page))
    assert {"imap", "mediator"} <= links <= set(players)
    assert all((docs / "players" / f"{name}.md").is_file() for name in players)


def test_file_and_page_data_hold_the_same_rows(docs: Path, views: tuple[View, ...]) -> None:
    rows = read_table(docs / "tables" / "leaderboard.csv")
    data = page_data(docs, "leaderboard")

    assert rows == [{k: cell_of(v) for k, v in row.items()} for view in views for row in view.rows]
    for number, (view, shown) in enumerate(zip(views, data["views"], strict=True)):
        assert (shown["setting"], shown["channel"]) == (view.setting, view.channel)
        pools = page_data(docs, f"leaderboard/{number}") if number else shown["pools"]
        assert ("pools" in shown) == (number == 0)
        cells = [row for pool in pools for row in (*pool["rows"], *pool["apart"])]
        found = [dict(zip(data["columns"], row, strict=True)) for row in cells]
        by_place = {(row["experiment"], row["team"]): row for row in view.rows}
        assert len(found) == len(by_place)
        for row in found:
            told = {name: cell for name, cell in row.items() if cell}
            own = by_place[row["experiment"] or "", row["team"]]
            assert told == {name: cell_of(own[name]) for name in own if is_told(own, name)}
    about = page_data(docs, "leaderboard/about")
    assert list(about) == [field["id"] for field in data["fields"]]
    for field in about.values():
        assert field["definition"]
        assert field["link"].split("#")[0] in {"method.html", "data.html"}
        assert field["origin"] or field["table"] == "leaderboard.csv"


def is_told(row: Row, name: str) -> bool:
    """Whether the page's script is told a cell: of scenarios' ranges only those of few."""
    measure, _, end = name.rpartition("_")
    is_idle = end in {"least", "greatest"} and row[f"{measure}_interval"] != "few"
    return is_known(row[name]) and name not in {"setting", "channel"} and not is_idle


def test_teams_of_two_experiments_are_two_pools(views: tuple[View, ...]) -> None:
    shown = [
        (pool.title, [row["team"] for row in pool.rows], [row["team"] for row in pool.apart])
        for pool in views[0].pools
    ]

    assert shown == [
        ("Protocols, privacy by messages", ["imap", "mediator"], ["silent", "oracle"]),
        (
            "Scripted speakers, privacy by reflections",
            ["candid", "guarded", "oversharer", "mixed-scripted"],
            [],
        ),
    ]


def test_titles_of_pools_follow_from_their_rows(views: tuple[View, ...]) -> None:
    rows = {row["team"]: row for row in views[0].rows}
    mixed = {**rows["candid"], "experiment": "uniform", "kind": "protocol and scripted agents"}
    unmeasured = {**rows["imap"], "vps_kind": ""}

    def titles(*own: Row) -> list[str]:
        view = View("uniform", "private messages", (), tuple(own), "95%", "0.05")
        return [pool.title for pool in view.pools]

    assert titles(rows["imap"], mixed) == [
        "Protocols and teams of several kinds, privacy by messages or by reflections"
    ]
    assert titles(unmeasured) == ["Protocols"]
    assert titles(rows["silent"]) == ["Degenerate baselines, privacy by messages"]
    assert titles(rows["oracle"]) == ["The exact optimum"]


def test_page_says_versions_and_where_changes_are_told(docs: Path, site: Site) -> None:
    page = (docs / "leaderboard.md").read_text()
    said = versions(site)

    assert f"Metrics version {said['metrics']}, rules of play version {said['rules']}." in page
    assert 'href="changelog.html"' in page


def test_page_reads_without_scripts(docs: Path, views: tuple[View, ...]) -> None:
    page = (docs / "leaderboard.md").read_text()
    own = [*read_table(docs / "tables" / "leaderboard.csv"), *read_table(PUBLISHED / "table1.csv")]
    shown = stated(page)

    assert len(shown) > 100
    assert {value for value, _ in shown} <= {cell for row in own for cell in row.values()}
    names = re.findall(r'<th scope="row" class="lb-team">.*?</span>(?:<a [^>]*>)?([\w-]+)', page)
    assert names[:4] == ["imap", "mediator", "oracle", "silent"]
    assert sorted(names[4:]) == ["candid", "guarded", "mixed-scripted", "oversharer"]
    assert {row["team"] for row in views[0].rows} == set(names)
    ours, published = page.split('id="published"')
    assert "Claude" not in ours
    assert "arXiv 2605.09823v2, Table 1" in published


def test_who_is_no_better_than_silence_is_marked_and_the_tests_are_shown(
    docs: Path, played: Experiment, spoken: Experiment
) -> None:
    page, board = (docs / "results" / "comparisons.md").read_text(), page_data(docs, "leaderboard")
    against = [row for each in (played, spoken) for row in text_rows(each.tables, "silence.csv")]
    shown = page.partition('id="silence"')[2] or page.partition("{#silence}")[2]
    for row in against:
        assert f'<data value="{row["difference"]}">' in shown
    equal = {row["team"] for row in against if row["verdict"] == "no better than silence"}
    place = board["columns"].index("no_better_than") if equal else None
    marked = {
        row[board["columns"].index("team")]
        for pool in board["views"][0]["pools"]
        for row in pool["rows"]
        if place is not None and row[place]
    }
    assert marked == equal
    for row in text_rows(played.tables, "break_even.csv"):
        assert (f'<data value="{row["price"]}">' in shown) == (row["price"] != "")


def test_comparisons_hold_every_row_and_say_who_is_better(
    docs: Path, played: Experiment, spoken: Experiment, cohort: Experiment
) -> None:
    data = page_data(docs, "comparisons")
    rows = [dict(zip(data["columns"], r, strict=True)) for g in data["groups"] for r in g["rows"]]

    assert rows == [
        {name: row[name] for name in comparisons.COLUMNS}
        for results in (played, spoken)
        for row in text_rows(results.tables, "comparisons.csv")
    ]
    row = {"team_a": "x", "team_b": "y", "measure": "coordination", "difference": -1.0}
    different = {**row, "verdict": "different", "remark": ""}
    assert comparisons.said(different) == "y is better"
    assert comparisons.said({**different, "measure": "excess_cost"}) == "x is better"
    close = {**different, "remark": "within the margin"}
    assert comparisons.said(close) == "y is better, within the margin"
    assert comparisons.said({**row, "verdict": "tied", "remark": ""}) == "tied"
    untested = {**row, "verdict": "not tested", "remark": "two instruments"}
    assert comparisons.said(untested) == "not tested: two instruments"
    open_ = {**row, "verdict": "not told apart", "remark": "", "minimum_detectable_difference": 0.5}
    assert comparisons.said(open_) == "not told apart; 0.50 would have been found"
    shown = stated((docs / "results" / "comparisons.md").read_text())
    further = [
        row
        for results in (played, spoken, cohort)
        for name in ("silence.csv", "break_even.csv")
        for row in text_rows(results.tables, name)
    ]
    known = {cell for row in (*rows, *further) for cell in row.values()}
    assert {value for value, _ in shown} <= known


def test_ratings_show_the_table_and_what_weakens_it(
    docs: Path, spoken: Experiment, tmp_path: Path
) -> None:
    page = (docs / "results" / "ratings.md").read_text()
    assert "Not rated" in page
    rows = read_table(spoken.folder / "ratings.csv")
    names = [row["player"] for row in rows if row["setting"] == "uniform"]
    assert names
    folder = shutil.copytree(spoken.folder, tmp_path / "seven")
    path = folder / "ratings.csv"
    first = {**rows[0], "never_met": "other <b>", "mmr": "1000.0000", "component": "one"}
    first |= {"rank_low": "1", "rank_high": "7", "mmr_spread": "3.0000", "kind": "model"}
    models = [
        {**first, "pool": "models", "setting": "all", "player": f"model-{n}", "component": part}
        for n, part in enumerate(["one", "one", "one", "two", "two", "two", "two"])
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(models)
    seven = Experiment("seven", spoken.suite, folder, spoken.traces)

    shown = page_of(
        Site(SOURCES, (seven,), Tables(tmp_path), Tables(NOTHING)), "results/ratings.md"
    )

    assert shown.count('<th scope="row">model-') == 7
    assert "1</data>\N{EN DASH}<data" in shown
    assert "model-0 never sat in a game with: other, &lt;b&gt;." in shown
    assert "No chain of games links all players" in shown


def test_every_measure_can_be_shown(views: tuple[View, ...]) -> None:
    shown = {field["column"] for field in fields(rows_of(views))}

    assert {measure.name for measure in MEASURES} <= shown
    assert {*USAGE, PRICE_PER_GAME, "games_excluded"} <= shown
