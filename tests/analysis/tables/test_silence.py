"""Teams against silence, and break-even prices: played, by hand, and by a second computation."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd
import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables.silence import BETTER, NO_BETTER, beside_silence
from calbench.facts.storage import Facts
from calbench.stats.resampling import holm_p_values
from calbench.stats.spec import AnalysisSpec
from tests.facts.measured import facts_of, play_preset, table_rows
from tests.facts.scored import agent, facts_of_scores, player, score
from tests.metrics.games import canonical_scenario

SETTINGS = Settings(analysis=AnalysisSpec(permutations=2**12))
PLAYED = ("imap", "dsm-private", "first-free", "silent")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    scenarios = [canonical_scenario(number, f"uniform-{number:03d}") for number in range(9)]
    traces = [play_preset(team, scenario) for team, scenario in product(PLAYED, scenarios)]
    return facts_of(tmp_path_factory.mktemp("facts"), traces, PLAYED)


def costs(facts: Facts, price: float = 1) -> Mapping[str, Mapping[str, list[float]]]:
    """Return adjusted excess cost of every agent-game by team and scenario, at a price."""
    found: dict[str, dict[str, list[float]]] = {}
    rows: Any = facts.of_games("agents").to_dict("records")
    for row in rows:
        failed = (row["assigned"] - row["scheduled"]) / row["assigned"]
        cost = (row["excess_cost"] + price * failed * row["cost_range"]) / row["assigned"]
        found.setdefault(row["team"], {}).setdefault(row["scenario_id"], []).append(cost)
    return found


def of_all(by_scenario: Mapping[str, Sequence[float]]) -> float:
    return mean(cost for own in by_scenario.values() for cost in own)


def test_silence_costs_what_a_silent_team_pays(played: Facts) -> None:
    by_team = costs(played)
    rows: Any = beside_silence(played, SETTINGS).set_index("team")
    for team in PLAYED:
        assert rows.loc[team, "silence_cost"] == pytest.approx(of_all(by_team["silent"]))
        paid = rows.loc[team, "adjusted_excess_cost"] - rows.loc[team, "failure_cost"]
        assert paid == pytest.approx(of_all(costs(played, 0)[team]))
    assert pd.isna(rows["no_better_than"]).tolist() == [True, False, True, True]


def test_teams_that_compete_are_tested_against_both_baselines_in_one_family(played: Facts) -> None:
    by_team = costs(played)
    rows = table_rows(played, "silence.csv", SETTINGS)
    assert [(row["team"], row["baseline"]) for row in rows] == [
        (team, baseline)
        for team in ("imap", "dsm-private")
        for baseline in ("silent", "first-free")
    ]
    p_values = []
    for row in rows:
        own, other = (by_team[row[side]] for side in ("team", "baseline"))
        gaps = [mean(own[each]) - mean(other[each]) for each in own]
        flips = [
            sum(s * g for s, g in zip(signs, gaps, strict=True))
            for signs in product((1, -1), repeat=len(gaps))
        ]
        p_values.append(mean(each <= sum(gaps) + 1e-9 for each in flips))
        assert float(row["mean"]) == pytest.approx(of_all(own), abs=6e-5)
        assert float(row["baseline_mean"]) == pytest.approx(of_all(other), abs=6e-5)
        assert float(row["difference"]) == pytest.approx(mean(gaps), abs=6e-5)
        assert float(row["p"]) == pytest.approx(p_values[-1], abs=6e-5)
    adjusted = holm_p_values(p_values)
    for row, corrected in zip(rows, adjusted.tolist(), strict=True):
        assert float(row["p_adjusted"]) == pytest.approx(corrected, abs=6e-5)
        assert row["verdict"] == (BETTER if corrected < 0.05 else NO_BETTER)
    assert {row["verdict"] for row in rows if row["team"] == "imap"} == {BETTER}


def made(folder: Path, costs_by_team: Mapping[str, Sequence[float]], price: int = 4) -> Facts:
    """Return facts of teams with this adjusted excess cost, beside silence that pays a half."""
    return facts_of_scores(
        folder,
        [
            score(
                agent(player(team), scheduled=1, adjusted_excess_cost=cost, cost_range=price),
                scenario=f"s{number}",
                team=team,
            )
            for team, own in costs_by_team.items()
            for number, cost in enumerate(own)
        ],
        list(costs_by_team),
    )


@pytest.mark.parametrize(
    ("own", "verdict", "remark"),
    [
        ([1.5, 1.0, 1.2, 1.9, 0.3, 1.0, 1.0], BETTER, ""),
        ([2.5, 3.0, 2.2, 2.9, 2.3, 2.0, 3.0], NO_BETTER, ""),
        ([2.0] * 7, NO_BETTER, ""),
        ([1.5, 1.0, 1.2, 1.9, 0.3], "not tested", "too few scenarios"),
    ],
)
def test_only_what_could_be_significant_is_tested(
    tmp_path: Path, own: list[float], verdict: str, remark: str
) -> None:
    facts = made(tmp_path, {"one": own, "other": own})  # twice 1/64 is below .05
    for row in table_rows(facts, "silence.csv", SETTINGS):
        assert (row["verdict"], row["remark"]) == (verdict, remark)
        assert row["baseline"] == "silent"
        assert (row["p"] == "") == (remark != "")
        assert (row["minimum_detectable_difference"] == "") == (len(set(own)) == 1)
    (row, _) = table_rows(facts, "standings.csv", SETTINGS)[:2]
    assert row["no_better_than"] == ("silent" if verdict == NO_BETTER else "")


def test_a_level_that_chance_alone_reaches_detects_nothing(tmp_path: Path) -> None:
    facts = made(tmp_path, {"one": [1.5, 1.0, 1.2, 1.9, 0.3, 1.0, 1.0]})
    loose = Settings(analysis=AnalysisSpec(confidence=0.5))
    (row,) = table_rows(facts, "silence.csv", loose)
    assert (row["verdict"], row["minimum_detectable_difference"]) == (BETTER, "")


def test_at_its_price_two_teams_cost_the_same(played: Facts) -> None:
    rows = table_rows(played, "break_even.csv", SETTINGS)
    assert len(rows) == 6
    for row in rows:
        sides = row["team_a"], row["team_b"]
        for price, name in ((0.001, "cheaper_below"), (50.0, "cheaper_above")):
            at = [of_all(costs(played, price)[team]) for team in sides]
            cheaper = "" if at[0] == pytest.approx(at[1]) else sides[at[0] > at[1]]
            assert row[name] == cheaper
        if row["price"]:
            price = float(row["price"])
            one, other = (of_all(costs(played, price)[team]) for team in sides)
            assert one == pytest.approx(other, abs=1e-3)
            unit = of_all(costs(played)["silent"])
            assert float(row["price_cost"]) == pytest.approx(price * unit, abs=1e-3)
            if row["price_low"]:
                assert 0 <= float(row["price_low"]) <= price <= float(row["price_high"])
        else:
            assert row["cheaper_below"] == row["cheaper_above"]
    assert [row["price"] != "" for row in rows][:3] == [False, True, True]


def test_teams_that_place_the_same_have_no_price(tmp_path: Path) -> None:
    facts = made(tmp_path, {"one": [1.0, 1.5, 2.0, 1.2], "other": [3.0, 1.0, 4.0, 2.0]})
    (row,) = table_rows(facts, "break_even.csv", SETTINGS)
    assert [row[name] for name in ("price", "price_low", "price_cost")] == ["", "", ""]
    assert row["cheaper_below"] == row["cheaper_above"] == "one"
