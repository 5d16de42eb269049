"""The page on density, blocked errands, slots and channels: ranks, and orders that change."""

from dataclasses import replace
from pathlib import Path

import pytest

from calbench import play_game
from calbench.config.composition import compose
from calbench.domain.messages import CHANNELS
from calbench.report.experiment import Experiment
from calbench.report.pages import pages_of
from calbench.report.pages.sensitivity import AXES, MEASURES
from calbench.report.role import Role
from calbench.scenarios.suites import sample_candidate
from calbench.traces.events import AnnouncementSent, DmSent
from tests.metrics.games import canonical_scenario
from tests.report.by_hand import results, section, site_with, table
from tests.report.samples import page_of

MESSAGES = (DmSent, AnnouncementSent)
PAGE = "results/sensitivity.md"
SETTINGS = list(dict.fromkeys(name for names in AXES.values() for name in names))

ORDERS = {
    ("adjusted_excess_cost", "a", "b"): "- - - + - - -",  # in the order of SETTINGS; b is dearer
    ("adjusted_excess_cost", "a", "c"): "0 - - - - - -",
    ("coordination", "a", "b"): "+ + + + + + +",
    ("coordination", "b", "c"): "0 0 0 0 + 0 0",
    ("messages", "b", "c"): "0 0 0 0 0 0 0",
    ("excess_cost", "a", "b"): "+ - + - + - +",
}
"""By how much the first of a pair has more of a measure, where that is shown."""

SIGNS = {"+": ("1", "different"), "-": ("-1", "different"), "0": ("1", "not_told_apart")}


@pytest.fixture
def study(tmp_path: Path) -> Experiment:
    teams = [(setting, team) for setting in SETTINGS for team in "abc"]
    rows = "\n".join(f"{setting} {team}" for setting, team in teams)
    table(tmp_path / "leaderboard.csv", f"setting team\n{rows}")
    numbers = " ".join("2 3 0.5000" for _ in MEASURES)
    heads = " ".join(f"{name}_rank_low {name}_rank_high {name}" for name in MEASURES)
    ranked = "\n".join(f"{setting} {team} {numbers}" for setting, team in teams)
    table(tmp_path / "standings.csv", f"setting team {heads}\n{ranked}")
    pairs = "\n".join(
        f"{setting} {one} {other} {measure} {SIGNS[sign][0]} {SIGNS[sign][1]}"
        for (measure, one, other), signs in ORDERS.items()
        for setting, sign in zip(SETTINGS, signs.split(), strict=True)
    )
    table(
        tmp_path / "comparisons.csv", f"setting team_a team_b measure difference verdict\n{pairs}"
    )
    return replace(results(tmp_path, "sensitivity"), role=Role(page="sensitivity", is_ranked=False))


def test_reversed_orders_are_named_by_axis_and_others_folded(study: Experiment) -> None:
    page = page_of(site_with([study]), PAGE)
    orders, folded = section(page, "orders").split("told apart at some values only", 1)

    assert "**Density.** Reverses no order" in page
    assert "**Blocked errands.** Reverses a and b by Adjusted excess cost." in page
    assert orders.count('<th scope="row">') == 1
    row = orders.partition("a and b</th>")[2].partition("</tr>")[0]
    better = [cell.partition("<")[0] for cell in row.split('<td class="cb-word">')[1:]]
    assert better == ["Adjusted excess cost", "blocked errands", "a", "a", "a", "b", "a", "a", "a"]
    pairs = [part.partition("<")[0] for part in folded.split('<th scope="row">')[1:]]
    # A pair that is told apart from density-075 on changes with density alone.
    assert pairs == ["a and c", "b and c"]
    assert "excess_cost" not in folded.replace("adjusted_excess_cost", "")


def test_ranks_are_those_of_the_table(study: Experiment) -> None:
    ranks = section(page_of(site_with([study]), PAGE), "ranks")

    assert ranks.count('<data value="2">2</data>') == len(SETTINGS) * 3 * len(MEASURES)
    assert all(f">{setting}<" in ranks for setting in SETTINGS)


def test_site_without_the_experiment_has_no_page(study: Experiment) -> None:
    other = replace(study, role=Role())

    assert PAGE not in {page.path for page in pages_of(site_with([other]), PAGE)}


def test_values_differ_in_calendars_alone() -> None:
    spec = compose(["+experiment=sensitivity"])
    suites = dict(spec.suites)

    assert sorted(suite.setting for suite in suites.values()) == sorted(SETTINGS)
    for number in range(3):
        drawn = [sample_candidate(suite, number) for suite in suites.values()]
        assert len({each.model_dump_json(include={"meetings"}) for each in drawn}) == 1
        alike = [each for each in drawn if each.num_slots == 16]
        assert len({each.model_dump_json(include={"witness"}) for each in alike}) == 1
        assert {each.num_slots for each in drawn} == {12, 16, 24}
        assert len({each.model_dump_json(include={"calendars"}) for each in drawn}) == len(drawn)
    assert {suite.num_scenarios for suite in suites.values()} == {30}


@pytest.mark.parametrize(
    "team", [each.team_id for each in compose(["+experiment=sensitivity"]).teams]
)
def test_channels_change_no_rank_while_private_messages_are_open(team: str) -> None:
    """The page says so of every protocol, and that without them only the mediator plays."""
    for number in range(2):
        scenario = canonical_scenario(number)
        every, private, closed = (
            play_game(scenario, team, channels=channels)
            for channels in (CHANNELS, CHANNELS[:1], CHANNELS[1:])
        )
        assert every.events == private.events
        assert any(isinstance(each, MESSAGES) for each in private.events)
        says = any(isinstance(each, MESSAGES) for each in closed.events)
        assert says is (team == "mediator")
        assert team != "mediator" or closed.events == every.events
