"""The page of a setting: excluded games and revealing messages, on tables checked by hand."""

from pathlib import Path

import pytest

from calbench.analysis.measures import MEASURES
from calbench.metrics.outcomes import OUTCOMES
from calbench.report.pages import PAGES
from calbench.report.pages.setting import NAMED, WARNING, content
from calbench.report.site import Site
from calbench.report.templating import Templates
from calbench.scenarios.storage import write_suite
from tests.report.by_hand import results, site_with, table
from tests.report.samples import suite_of
from tests.report.written import values_of

ENDS = " ".join("." for _ in OUTCOMES)


def page_of_setting(site: Site) -> str:
    """Return the page of a site's only setting."""
    (setting,) = site.settings
    (page,) = (each for each in PAGES if each.template == "results/setting.md")
    values = content(site, setting).values
    shared = {"site": site, "page": page, "paths": set(), "explaining": []}
    return Templates(site.sources / "docs").filled(page.source, page.root, {**shared, **values})


def site_of_games(folder: Path, excluded: int, *, is_flagged: bool = True) -> Site:
    """Write the tables of a setting in which games of one of two teams are excluded."""
    given = results(folder, has_games=True)
    write_suite(given.suite, suite_of("uniform", 2))
    (given.traces / "silent").mkdir(parents=True)
    (given.traces / "silent" / "uniform-000.json").touch()
    table(
        folder / "leaderboard.csv",
        f"""
        setting team scenarios games vps_kind {" ".join(each.name for each in MEASURES)}
        uniform silent 2 1 protocol {" ".join("." for _ in MEASURES)}
        """,
    )
    flag = str(is_flagged).lower()
    table(
        folder / "outcomes.csv",
        f"""
        setting team games games_excluded excluded_percent is_flagged meetings {" ".join(OUTCOMES)}
        uniform imap 2 0 0.0000 false 6 {ENDS}
        uniform silent 1 {excluded} 50.0000 {flag} 3 {ENDS}
        """,
    )
    games = ["setting scenario_id team is_excluded", "uniform uniform-000 imap false"]
    games += [f"uniform uniform-{number:03} silent true" for number in range(excluded)]
    table(folder / "games.csv", "\n".join(games))
    return site_with([given], folder / "summary")


def excluded_games(page: str) -> str:
    """Return the part of the page about excluded games."""
    ended = page.index("explains each outcome")
    return page[ended : page.index("## How far does fairness")]


def test_excluded_games_are_named_and_flagged(tmp_path: Path) -> None:
    page = page_of_setting(site_of_games(tmp_path, 1))

    shown = excluded_games(page)
    assert WARNING.strip() in shown
    assert page.count(f"silent{WARNING}</th>") == 1  # where the table says how meetings ended
    assert "imap" not in shown
    assert '<a href="../traces.html#uniform/silent/uniform-000">uniform-000</a>' in shown
    assert values_of(shown) == ["1", "50.0000"]


def test_only_the_first_excluded_games_are_named(tmp_path: Path) -> None:
    shown = excluded_games(page_of_setting(site_of_games(tmp_path, NAMED + 1, is_flagged=False)))

    assert f"uniform-{NAMED - 1:03}, more, in games.csv</td>" in shown
    assert f"uniform-{NAMED:03}" not in shown
    assert WARNING.strip() not in shown


def test_page_says_if_no_game_was_excluded(tmp_path: Path) -> None:
    shown = excluded_games(page_of_setting(site_of_games(tmp_path, 0)))

    assert "No game was excluded: every number counts all games." in shown


@pytest.mark.parametrize("experiment", ["uniform", "varied"])
def test_revealing_messages_lead_to_their_events(tmp_path: Path, experiment: str) -> None:
    table(
        tmp_path / "summary" / "revealing_messages.csv",
        f"""
        experiment setting team scenario_id event_index target_agent source toward vps
        {experiment} uniform silent uniform-000 9 2 all_costs 0.7500 1.0000
        {experiment} uniform silent uniform-001 9 2 all_costs 0.1250 0.2500
        """,
    )

    page = page_of_setting(site_of_games(tmp_path, 0))

    revealing = page[page.index("No message disclosed anything") :]
    revealing = revealing[: revealing.index("## What are the measures?")]
    if experiment == "uniform":
        assert values_of(revealing) == ["2", "0.7500", "1.0000", "2", "0.1250", "0.2500"]
        address = "../traces.html#uniform/silent/uniform-000/9"
        assert f'<a href="{address}">uniform-000, event 9</a>' in revealing
        assert '<td class="cb-word">uniform-001, event 9</td>' in revealing
        assert '<td class="cb-word">all costs</td>' in revealing
    else:
        assert values_of(revealing) == []
