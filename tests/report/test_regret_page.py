"""Regret explained, on tables checked by hand."""

from pathlib import Path

import pytest

from calbench.report.pages import regret
from calbench.report.site import GameLinks
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from tests.report.by_hand import HOSTILE, results, section, site_with, table
from tests.report.samples import page_of, suite_of
from tests.report.written import values_of


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    """Write the tables behind the regret of two games: in one the optimum became unreachable."""
    folder = tmp_path / "summary"
    table(
        folder / "regret_by_game.csv",
        """
        experiment setting team scenario_id excess slot_choice avoidable_moves failed_rounds
        + optimum cost event_index round phase agent_id least_cost_after
        uniform uniform imap uniform-000 2 0 2 0 5 7 12 1 DECISION 0 6
        uniform uniform imap uniform-001 4 0 0 4 2 6 . . . . .
        """,
    )
    table(
        folder / "regret_by_team.csv",
        """
        experiment setting team games agent_games excess excess_low excess_high slot_choice
        + slot_choice_low slot_choice_high avoidable_moves avoidable_moves_low avoidable_moves_high
        + failed_rounds failed_rounds_low failed_rounds_high games_searched optimum_unreachable
        + unreachable_share unreachable_share_low unreachable_share_high
        uniform uniform imap 2 4 1.5000 1.0000 2.0000 0.0000 . . 0.5000 0.0000 1.0000 1.0000
        + 0.0000 2.0000 2 1 0.5000 0.0945 0.9055
        uniform uniform silent 2 4 0.0000 . . 0.0000 . . 0.0000 . . 0.0000 . . 2 0 0.0000 . .
        """,
    )
    table(
        folder / "optimum_unreachable_by_round.csv",
        """
        experiment setting team round phase optimum_unreachable
        uniform uniform imap 1 DECISION 1
        uniform uniform imap 10 RESOLUTION 3
        uniform uniform imap 10 DECISION 7
        """,
    )
    return folder


@pytest.fixture(scope="module")
def suite() -> tuple[Scenario, ...]:
    return suite_of("uniform", 2)


def test_regret_is_shown_as_the_tables_have_it(tmp_path: Path, summary: Path) -> None:
    page = page_of(site_with([results(tmp_path)], summary), "results/regret.md")
    parts, rounds = section(page, "split"), section(page, "lost")

    assert values_of(parts)[:11] == [
        "4", "1.5000", "1.0000", "2.0000", "0.0000", "0.5000", "0.0000", "1.0000",
        "1.0000", "0.0000", "2.0000",
    ]  # fmt: skip
    assert "mean over agent-games with 95% (t: 96%) interval" in parts
    assert values_of(rounds) == [
        "2", "1", "0.5000", "0.0945", "0.9055", "1", "3", "7", "2", "0", "0.0000",
    ]  # fmt: skip
    assert rounds.index("in round 1<") < rounds.index("in round 10<")
    assert rounds.index(">decision<") < rounds.index(">resolution<")
    assert rounds.count('<span title="none">\N{EN DASH}</span>') == 2
    assert "<table" not in section(page, "worst")
    assert 'data-table="regret_by_team.csv"' in section(page, "files")


def test_page_is_absent_without_an_experiment_in_its_tables(tmp_path: Path, summary: Path) -> None:
    assert regret.content(site_with([results(tmp_path, "other")], summary)) is None
    assert regret.content(site_with([results(tmp_path)])) is None


def test_worst_games_lead_to_the_event_after_which_the_optimum_was_unreachable(
    tmp_path: Path, summary: Path, suite: tuple[Scenario, ...]
) -> None:
    write_suite(tmp_path / "suite.jsonl", suite)
    given = results(tmp_path, has_games=True)
    (given.traces / "imap").mkdir(parents=True)
    (given.traces / "imap" / "uniform-000.json").touch()

    worst = section(page_of(site_with([given], summary), "results/regret.md"), "worst")

    assert '<a href="../traces.html#uniform/imap/uniform-000">uniform-000</a>' in worst
    event = '<a href="../traces.html#uniform/imap/uniform-000/12">uniform-000, event 12</a>'
    assert f'{event}: round <data value="1">1</data>, decision; from then on at least' in worst
    assert "uniform-001" not in worst  # the browser does not have it

    (given.traces / "imap" / "uniform-001.json").touch()
    worst = section(page_of(site_with([given], summary), "results/regret.md"), "worst")
    assert worst.index("uniform-001") < worst.index("uniform-000")  # it has the greater excess
    assert '<td class="cb-word">never</td>' in worst


def test_links_lead_only_to_games_that_there_are(
    tmp_path: Path, suite: tuple[Scenario, ...]
) -> None:
    write_suite(tmp_path / "suite.jsonl", suite)
    given = results(tmp_path, has_games=True)
    links = GameLinks([given])

    assert links.address("uniform", "imap", "uniform-000") == ""
    assert links.address("elsewhere", "imap", "x", 3) == ""
    (given.traces / HOSTILE).mkdir(parents=True)
    (given.traces / HOSTILE / "uniform-000.json").touch()
    assert links.address("uniform", HOSTILE, "uniform-000", 3) == (
        "traces.html#uniform/%3Cb%20onclick%3Dx%3E%7B%7B1%7D%7D/uniform-000/3"
    )
