"""Featured games on the page of games: sentences from the table's cells, links to their events."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.analysis.summary import SUMMARY
from calbench.analysis.summary.featured import FEATURED
from calbench.report.site import Site
from calbench.report.tables import Row, Tables
from tests.report.samples import make_results, page_of, site_of

PAGE = "traces.md"

GAME: Row = {
    "place": "1",
    "experiment": "varied",
    "setting": "varied",
    "team": "imap",
    "kind": "protocol",
    "scenario_id": "varied-000",
    "meetings": "5",
    "scheduled": "5",
    "cost": "9",
    "excess_cost": "2",
    "vps_kind": "protocol",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("featured")
    return site_of(
        [make_results(folder / "varied", "varied", ["imap", "silent"], num_scenarios=2)],
        folder / "src",
    )


def page(site: Site, folder: Path, rows: Sequence[Row]) -> str:
    """Return the page of games with these rows of the table, as one line."""
    names = [column.name for column in SUMMARY[FEATURED].columns]
    folder.mkdir(exist_ok=True)
    with (folder / FEATURED).open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return " ".join(page_of(replace(site, summary=Tables(folder)), PAGE).split())


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"rule": "sensitive_leak", "agent_id": "2", "amount": "2", "tier": "sensitive",
             "label": "a / b"},
            'agent 2 tells <data value="2">2</data> sensitive labels in one message: “a / b”.',
        ),
        (
            {"rule": "sensitive_leak", "agent_id": "2", "amount": "1", "tier": "sensitive",
             "label": "a / b"},
            ('tells <data value="1">1</data> sensitive label and others in one message: '
            "“a / b”."),
        ),
        (
            {"rule": "sensitive_leak", "agent_id": "0", "amount": "1", "tier": "sensitive",
             "label": "<b>{{ x }}"},
            ('agent 0 tells <data value="1">1</data> sensitive label in one message: '
            "“&lt;b&gt;&#123;&#123; x &#125;&#125;”."),
        ),
        (
            {"rule": "optimum_lost", "agent_id": "1", "optimum": "4", "least_cost_after": "7"},
            ("a decision of agent 1 raises the least cost that can still be reached from "
            '<data value="4">4</data> to <data value="7">7</data>.'),
        ),
        (
            {"rule": "optimum_lost", "optimum": "4", "least_cost_after": "7"},
            "the end of a round raises the least cost",
        ),
        (
            {"rule": "broken_meeting", "amount": "1", "meeting_id": "3", "broken_meetings": "2"},
            "after the talk about meeting 3, meeting 2, agreed on before, is no longer in place.",
        ),
        (
            {"rule": "broken_meeting", "amount": "2", "meeting_id": "3", "broken_meetings": "1 2"},
            "after the talk about meeting 3, meetings 1, 2, agreed on before, are no longer",
        ),
        (
            {"rule": "cheapest_secret", "excess_vps": "6.133333"},
            ('with excess VPS <data value="6.133333">6.13</data> by typed messages. Of the games '
            "here at the optimum"),
        ),
        (
            {"rule": "largest_regret"},
            ('all <data value="5">5</data> meetings are scheduled at cost '
            '<data value="9">9</data>, <data value="2">2</data> above the optimum.'),
        ),
        (
            {"rule": "largest_regret", "scheduled": "1"},
            ('<data value="1">1</data> of <data value="5">5</data> meetings is scheduled at cost '
            '<data value="9">9</data>, <data value="2">2</data> above the optimum of what is'),
        ),
    ],
)  # fmt: skip
def test_sentence_is_made_from_the_row(played: Site, tmp_path: Path, row: Row, said: str) -> None:
    assert said in page(played, tmp_path, [{**GAME, **row}])


def test_games_link_to_their_events_under_the_title_of_their_rule(
    played: Site, tmp_path: Path
) -> None:
    rows = [
        {**GAME, "rule": "largest_regret"},
        {
            **GAME,
            "rule": "optimum_lost",
            "event_index": "43",
            "optimum": "4",
            "least_cost_after": "7",
        },
    ]
    shown = page(played, tmp_path, rows)
    first = shown.index("<h3>The moment an optimum was lost</h3>")
    second = shown.index("<h3>The largest regret</h3>")
    assert first < shown.index('href="traces.html#varied/imap/varied-000/43"') < second
    assert second < shown.index('href="traces.html#varied/imap/varied-000"')
    assert "(protocol) on varied-000" in shown


def test_games_that_the_site_lacks_are_not_featured(played: Site, tmp_path: Path) -> None:
    lacking = {**GAME, "rule": "largest_regret", "scenario_id": "varied-077"}
    assert "Featured games" not in page(played, tmp_path, [lacking])
    assert "Featured games" not in page(played, tmp_path, [])
    none = replace(played, summary=Tables(tmp_path / "nowhere"))
    assert "Featured games" not in page_of(none, PAGE)


def test_table_of_real_games_fills_the_page(played: Site) -> None:
    shown = page_of(played, PAGE)
    assert 'id="cb-featured"' in shown
    assert shown.count('href="traces.html#') == len(played.summary.rows(FEATURED))
