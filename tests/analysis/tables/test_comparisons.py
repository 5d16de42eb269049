"""Pairs of teams: differences, tests and power, by hand and by a second computation."""

from itertools import product
from pathlib import Path
from statistics import stdev

import pytest

from calbench.analysis.settings import Settings
from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from calbench.stats.permutation import adjusted_p_values
from calbench.stats.power import minimum_detectable_difference, required_units
from calbench.stats.spec import AnalysisSpec
from tests.analysis.tables.sample import (
    SPEC,
    TEAMS,
    VALUE_BY_MEASURE,
    mean,
    played,
    scores_of,
    shown,
    values_of,
)
from tests.facts.measured import facts_of, facts_of_games, table_rows, text_of
from tests.facts.scored import agent, facts_of_scores, score
from tests.metrics.games import play_team
from tests.metrics.language_games import small_reflected_game

SAMPLE = Settings(analysis=SPEC)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of_games(tmp_path_factory.mktemp("facts"), played(), TEAMS, SCORES)


def two_teams(folder: Path, ours: list[int], theirs: list[int]) -> Facts:
    """Return facts of ``z`` and ``a``, in that order, with this excess cost in each scenario."""
    return facts_of_scores(
        folder,
        [
            score(agent(excess_cost=excess), scenario=f"s{number:02d}", team=team)
            for team, each in (("a", theirs), ("z", ours))
            for number, excess in enumerate(each)
        ],
        ["z", "a"],
    )


def excess_row(facts: Facts, settings: Settings = SAMPLE) -> dict[str, str]:
    rows = table_rows(facts, "comparisons.csv", settings)
    (found,) = (row for row in rows if row["measure"] == "excess_cost")
    return found


def test_every_pair_stands_once_in_the_order_of_teams_and_measures(facts: Facts) -> None:
    rows = table_rows(facts, "comparisons.csv", SAMPLE)
    counted = {
        (setting, team, name): len(values_of(scores_of(team, setting), name))
        for setting, team, name in product(("another", "uniform"), TEAMS, VALUE_BY_MEASURE)
    }
    assert [tuple(row.values())[:4] for row in rows] == [
        (setting, a, b, name)
        for setting in ("another", "uniform")
        for place, a in enumerate(TEAMS)
        for b in TEAMS[place + 1 :]
        for name in VALUE_BY_MEASURE
        if counted[setting, a, name] and counted[setting, b, name]
    ]


def test_differences_are_those_of_the_scenarios_that_count_for_both(facts: Facts) -> None:
    for row in table_rows(facts, "comparisons.csv", SAMPLE):
        by_side = {}
        for side in ("team_a", "team_b"):
            scores = scores_of(row[side], row["setting"])
            by_side[side] = {
                score.scenario_id: values_of([score], row["measure"]) for score in scores
            }
        common = [s for s, own in by_side["team_a"].items() if own and by_side["team_b"][s]]
        means = [mean([v for s in common for v in side[s]]) for side in by_side.values()]
        assert means[0] is not None
        assert means[1] is not None
        assert row["scenarios"] == str(len(common))
        assert float(row["difference"]) == pytest.approx(means[0] - means[1], abs=6e-5)


def test_p_values_are_adjusted_over_all_rows(facts: Facts) -> None:
    rows = table_rows(facts, "comparisons.csv", SAMPLE)
    p_values = [float(row["p"]) for row in rows]
    assert [float(row["p_adjusted"]) for row in rows] == pytest.approx(
        adjusted_p_values(p_values).tolist(), abs=2e-3
    )
    assert {row["setting"] for row in rows} == {"another", "uniform"}


def test_a_pair_by_hand(tmp_path: Path) -> None:
    """Of the 32 ways to swap, two make the difference as large: all swapped or none."""
    row = excess_row(two_teams(tmp_path, [5, 3, 4, 8, 6], [1, 2, 1, 2, 4]))
    gaps = [4, 1, 3, 6, 2]
    assert (row["team_a"], row["team_b"], row["scenarios"]) == ("z", "a", "5")
    assert (row["difference"], row["p"]) == ("3.2000", "0.0625")
    assert float(row["difference_low"]) < 3.2 < float(row["difference_high"])
    spread = stdev(gaps)
    assert row["minimum_detectable_difference"] == shown(
        minimum_detectable_difference(spread, 5, SPEC)
    )
    assert row["required_scenarios"] == str(required_units(3.2, spread, SPEC))


def test_power_columns_hold_known_numbers(tmp_path: Path) -> None:
    """Of a paired t-test at 5%: with power 80%, 10 pairs find d = 0.996, and d = 0.5 needs 34."""
    ten = [1, 0, 2, 1, 0, -1, 1, 2, 0, -1]
    row = excess_row(two_teams(tmp_path / "ten", ten, [0] * 10))
    assert float(row["minimum_detectable_difference"]) / stdev(ten) == pytest.approx(
        0.996, abs=1e-4
    )
    half = [3, -1, 3, -1, 1]
    assert stdev(half) == 2
    assert excess_row(two_teams(tmp_path / "half", half, [0] * 5))["required_scenarios"] == "34"


def test_what_is_always_the_same_has_neither_interval_nor_power(tmp_path: Path) -> None:
    row = excess_row(two_teams(tmp_path, [5] * 4, [2] * 4))
    assert (row["difference"], row["p"]) == ("3.0000", "0.1250")
    assert (row["difference_low"], row["difference_interval"]) == ("", "same")
    assert (row["minimum_detectable_difference"], row["required_scenarios"]) == ("", "")


def test_no_difference_is_found_by_no_number_of_scenarios(tmp_path: Path) -> None:
    row = excess_row(two_teams(tmp_path, [1, 2, 3], [3, 1, 2]))
    assert (row["difference"], row["p"], row["required_scenarios"]) == ("0.0000", "1.0000", "")
    assert row["minimum_detectable_difference"] != ""


@pytest.mark.parametrize(
    ("num_scenarios", "gap", "needed"), [(1, False, False), (2, False, True), (3, True, True)]
)
def test_few_scenarios_resolve_nothing(
    tmp_path: Path, num_scenarios: int, *, gap: bool, needed: bool
) -> None:
    row = excess_row(two_teams(tmp_path, [5, 7, 9][:num_scenarios], [1, 2, 8][:num_scenarios]))
    assert row["scenarios"] == str(num_scenarios)
    assert (row["difference_low"], row["difference_interval"]) == ("", "few")
    assert bool(row["minimum_detectable_difference"]) == gap
    assert bool(row["required_scenarios"]) == needed


def test_scenarios_of_one_team_alone_play_no_part(tmp_path: Path) -> None:
    row = excess_row(two_teams(tmp_path, [5, 5, 5, 1000], [1, 2, 3]))
    assert (row["scenarios"], row["difference"]) == ("3", "3.0000")


def test_teams_without_a_common_scenario_are_not_compared(tmp_path: Path) -> None:
    games = [score(team="a"), score(scenario="s1", team="b"), score(setting="varied", team="b")]
    assert table_rows(facts_of_scores(tmp_path, games), "comparisons.csv") == []


def test_games_weigh_by_the_agents_that_count(tmp_path: Path) -> None:
    """Two seats against one: each mean runs over its own seats."""
    games = [
        score(agent(excess_cost=3), agent(excess_cost=0), scenario="s0", team="a"),
        score(agent(excess_cost=9), scenario="s1", team="a"),
        score(agent(excess_cost=1), scenario="s0", team="b"),
        score(agent(excess_cost=1), scenario="s1", team="b"),
    ]
    row = excess_row(facts_of_scores(tmp_path, games))
    assert row["difference"] == "3.0000"


def test_losses_measured_in_different_ways_are_not_compared(tmp_path: Path) -> None:
    words = small_reflected_game()
    traces = [words, play_team(words.scenario, "imap")]
    rows = table_rows(
        facts_of(tmp_path, traces, ["words", "imap"], facts=SCORES), "comparisons.csv"
    )
    measures = {row["measure"] for row in rows}
    assert measures == {name for name in VALUE_BY_MEASURE if "vps" not in name}


def test_losses_measured_alike_are_compared(tmp_path: Path) -> None:
    games = [score(agent(vps_kind="reflection", excess_vps=9.0), team="a"), score(team="b")]
    games += [score(agent(vps_kind="reflection", excess_vps=2.0), team="c")]
    rows = table_rows(facts_of_scores(tmp_path, games), "comparisons.csv")
    assert [
        (row["team_a"], row["team_b"], row["difference"])
        for row in rows
        if row["measure"] == "excess_vps"
    ] == [("a", "c", "7.0000")]


def test_resamples_and_level_are_those_of_the_settings(tmp_path: Path) -> None:
    facts = two_teams(tmp_path, [5, 3, 4, 8, 6], [1, 2, 1, 2, 4])
    usual = excess_row(facts)
    half = Settings(analysis=SPEC.model_copy(update={"confidence": 0.5}))
    strict = Settings(analysis=AnalysisSpec(bootstrap_resamples=200, power=0.99))
    assert excess_row(facts, half)["difference_low"] > usual["difference_low"]
    assert float(excess_row(facts, half)["minimum_detectable_difference"]) < float(
        usual["minimum_detectable_difference"]
    )
    assert float(excess_row(facts, strict)["minimum_detectable_difference"]) > float(
        usual["minimum_detectable_difference"]
    )


def test_excluded_games_are_not_compared(tmp_path: Path) -> None:
    games = [score(team="a"), score(agent(excess_cost=5), team="b")]
    excluded = score(agent(excess_cost=70), scenario="s1", team="b", is_excluded=True)
    with_excluded = facts_of_scores(
        tmp_path / "with", [*games, excluded, score(scenario="s1", team="a")]
    )
    row = excess_row(with_excluded)
    assert (row["scenarios"], row["difference"]) == ("1", "-5.0000")
    assert text_of(facts_of_scores(tmp_path / "none", []), "comparisons.csv").count("\n") == 1
