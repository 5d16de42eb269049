"""Difficulty and its effect, length of messages, and several draws of a suite, by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calbench.analysis.registry import Settings
from calbench.domain.ids import AgentId
from calbench.metrics.game import GameScore
from calbench.stats.resampling import adjusted_p_values
from calbench.stats.spec import AnalysisSpec
from tests.facts.measured import lines_of, table_rows
from tests.facts.scored import agent, facts_of_scores, meeting, score

SPEC = AnalysisSpec()
SETTINGS = Settings(analysis=SPEC)


def hard(fraction: float | None, tertile: str | None, scenario: str, **changes: Any) -> GameScore:
    return score(scenario=scenario, feasible_fraction=fraction, tertile=tertile, **changes)


def test_fractions_by_setting_and_third(tmp_path: Path) -> None:
    games = [
        hard(0.5, "easy", "s0"),
        hard(0.5, "easy", "s0", team="other"),
        hard(0.25, "easy", "s1", is_excluded=True),  # of the suite, played to the end or not
        hard(0.75, "easy", "s2"),
        hard(1.0, "easy", "s3"),
        hard(1e-9, "hard", "s4"),
        hard(0.125, "medium", "s5", team="other"),
        hard(None, "medium", "s6"),
        hard(0.5, None, "s0", setting="another"),
        hard(0.0625, None, "s1", setting="another"),
        hard(None, None, "s2", setting="unknown"),
    ]
    assert lines_of(facts_of_scores(tmp_path, games), "difficulty.csv") == [
        "another,all,2,0.0625000000,0.2812500000,0.5000000000",
        "uniform,easy,4,0.2500000000,0.6250000000,1.0000000000",
        "uniform,medium,1,0.1250000000,0.1250000000,0.1250000000",
        "uniform,hard,1,0.0000000010,0.0000000010,0.0000000010",
    ]


def placed(
    excess: int, scheduled: int, of: int, scenario: str, tertile: str | None, **changes: Any
) -> GameScore:
    """Return a game of two agents which together paid so much more than the oracle."""
    return score(
        agent(excess_cost=excess + 1),
        agent(excess_cost=-1),
        scenario=scenario,
        tertile=tertile,
        num_meetings=of,
        meetings=tuple(
            meeting(number, "scheduled" if number <= scheduled else "no_batch")
            for number in range(1, of + 1)
        ),
        **changes,
    )


def test_excess_runs_over_games_and_placed_meetings_over_meetings(tmp_path: Path) -> None:
    games = [
        placed(4, 1, 4, "s0", "hard"),
        placed(1, 1, 1, "s1", "hard"),
        placed(7, 2, 2, "s2", "easy"),
        placed(50, 0, 3, "s3", "easy", is_excluded=True),
        placed(3, 1, 2, "s0", "hard", team="b"),
        placed(2, 2, 4, "s0", None, setting="another"),
    ]
    rows = table_rows(
        facts_of_scores(tmp_path, games, ["imap", "b"]), "games_by_third.csv", SETTINGS
    )
    names = ("setting", "tertile", "team", "games", "excess_cost", "scheduled")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("another", "all", "imap", "1", "2.0000", "0.5000"),
        ("uniform", "easy", "imap", "1", "7.0000", "1.0000"),
        ("uniform", "hard", "imap", "2", "2.5000", "0.4000"),  # 2 of 5, not the mean of shares
        ("uniform", "hard", "b", "1", "3.0000", "0.5000"),
    ]
    assert {row["excess_cost_interval"] for row in rows} == {"few"}


def test_bytes_run_over_the_meetings_of_scored_games(tmp_path: Path) -> None:
    games = [
        score(agent(), agent(), message_bytes=100, num_meetings=4),
        score(agent(), agent(), scenario="s1", message_bytes=50, num_meetings=1),
        score(agent(), scenario="s2", message_bytes=0, num_meetings=3),
        score(scenario="s3", message_bytes=9999, num_meetings=1, is_excluded=True),
        score(team="a", message_bytes=7, num_meetings=3),
        score(setting="another", message_bytes=10, num_meetings=1),
    ]
    assert lines_of(facts_of_scores(tmp_path, games, ["imap", "a"]), "scale_bytes.csv") == [
        "another,imap,1,1,1,10,10.00,10.00,10.00",
        "uniform,imap,2,3,8,150,18.75,0.00,50.00",
        "uniform,a,1,1,3,7,2.33,2.33,2.33",
    ]


def played(
    number: int, fraction: float, excess: int, team: str = "imap", setting: str = "one"
) -> GameScore:
    return hard(
        fraction,
        None,
        f"s{number}",
        team=team,
        setting=setting,
        meetings=(meeting(1), meeting(2)),
        agents=(
            replace(
                agent(excess_cost=excess, messages_sent=2, cost_range=number % 3),
                agent_id=AgentId(0),
            ),
        ),
    )


def test_effects_are_positive_where_harder_scenarios_cost_more(tmp_path: Path) -> None:
    games = [
        *(played(n, 1 / (n + 1), 2 * n) for n in range(12)),
        *(played(n, 1 / (n + 1), 9 - n, team="other") for n in range(12)),
        *(played(n, 1 / (n + 1), n, setting="small") for n in range(9)),
    ]
    facts = facts_of_scores(tmp_path, games, ["imap", "other"])
    found = {
        (row["setting"], row["team"], row["measure"]): row
        for row in table_rows(facts, "difficulty_effects.csv")
    }
    assert found["one", "imap", "excess_cost"]["rho"] == "1.0000"
    assert found["one", "other", "excess_cost"]["rho"] == "-1.0000"
    # Where every scenario has the same result, and where there are few, nothing is said.
    assert found["one", "imap", "coordination"]["no_rho"] == "same"
    assert found["small", "imap", "excess_cost"]["no_rho"] == "few"
    assert found["small", "imap", "excess_cost"]["rho"] == ""
    assert found["all", "imap", "excess_cost"]["scenarios"] == "12"
    assert found["all", "imap", "excess_cost"]["no_rho"] == ""
    tested = {place: float(row["p"]) for place, row in found.items() if row["p"]}
    corrected = adjusted_p_values(list(tested.values()))
    for place, expected in zip(tested, corrected.tolist(), strict=True):
        assert float(found[place]["p_adjusted"]) == pytest.approx(expected, abs=2e-4)
    assert len(tested) < len(found)


def test_predictors_are_chosen_on_the_first_suite_and_tested_on_the_others(tmp_path: Path) -> None:
    # On the first suite imap pays for few slots; on the others that is so for one team alone.
    games = [
        *(played(n, 1 / (n + 1), n + n % 3, setting="a") for n in range(20)),
        *(played(n, 1 / (n + 1), n + n % 3, setting=name) for name in "bc" for n in range(20)),
        *(played(n, 1 / (n + 1), n + n % 3, "other", "a") for n in range(20)),
        *(played(n, 1 / (n + 1), -n, "other", "b") for n in range(20)),
    ]
    rows = table_rows(
        facts_of_scores(tmp_path, games, ["imap", "other"]), "difficulty_predictors.csv"
    )
    assert {(row["chosen_on"], row["tested_on"]) for row in rows} == {("a", "b c")}
    chosen = {row["team"]: row for row in rows if row["is_chosen"] == "true"}
    assert {row["predictor"] for row in chosen.values()} == {"feasible_fraction"}
    assert [chosen[team]["is_confirmed"] for team in ("imap", "other")] == ["true", "false"]
    assert float(chosen["other"]["rho"]) == -1
    assert [chosen[team]["scenarios"] for team in ("imap", "other")] == ["40", "20"]
    weak = [row for row in rows if row["predictor"] == "cost_range"]
    assert {(row["is_chosen"], row["is_confirmed"], row["p_adjusted"]) for row in weak} == {
        ("false", "false", "")
    }


def test_one_suite_tests_no_predictor(tmp_path: Path) -> None:
    games = [played(n, 1 / (n + 1), n) for n in range(12)]
    assert table_rows(facts_of_scores(tmp_path, games), "difficulty_predictors.csv") == []


def drawn(seed: int, excess: float, suite: str = "uniform", **changes: Any) -> GameScore:
    seats = agent(excess_cost=excess, burden_gap=excess, messages_sent=0, scheduled=1)
    usual: dict[str, Any] = {
        "setting": f"{suite}-seed{seed}",
        "fairness_least": 1.0,
        "fairness_greatest": 8.0,
    }
    return score(seats, **(usual | changes))


def test_draws_by_hand(tmp_path: Path) -> None:
    games = [
        drawn(1, 3),
        drawn(20, 6),
        drawn(3, 0, fairness_least=0.25),
        drawn(3, 900, is_excluded=True, scenario="s1"),
        drawn(1, 2, team="a"),
        drawn(1, 5, suite="varied"),
        drawn(1, 70, setting="plain"),
        drawn(1, 70, setting="uniform-seedx"),
    ]
    facts = facts_of_scores(tmp_path, games, ["imap", "a"])
    assert [line for line in lines_of(facts, "draws.csv", SETTINGS) if "imap" in line] == [
        "uniform,imap,3,coordination,50.0000,50.0000,50.0000",
        "uniform,imap,3,excess_cost,3.0000,0.0000,6.0000",
        "uniform,imap,3,messages,0.0000,0.0000,0.0000",
        "uniform,imap,3,fairness,3.0000,0.0000,6.0000",
        "uniform,imap,3,excess_vps,0.0000,0.0000,0.0000",
        "uniform,imap,3,fairness_least,0.7500,0.2500,1.0000",
        "uniform,imap,3,fairness_greatest,8.0000,8.0000,8.0000",
        "varied,imap,1,coordination,50.0000,50.0000,50.0000",
        "varied,imap,1,excess_cost,5.0000,5.0000,5.0000",
        "varied,imap,1,messages,0.0000,0.0000,0.0000",
        "varied,imap,1,fairness,5.0000,5.0000,5.0000",
        "varied,imap,1,excess_vps,0.0000,0.0000,0.0000",
        "varied,imap,1,fairness_least,1.0000,1.0000,1.0000",
        "varied,imap,1,fairness_greatest,8.0000,8.0000,8.0000",
    ]
    rows = table_rows(facts, "draws.csv", SETTINGS)
    assert [row["team"] for row in rows if row["setting"] == "uniform"] == ["imap"] * 7 + ["a"] * 7


def test_means_are_of_the_numbers_that_single_draws_show(tmp_path: Path) -> None:
    """0.0001, 0.0001 and 0.0002, whose mean is nearer to 0.0001; unrounded it is to 0.0002."""
    games = [
        score(
            agent(burden_gap=gap),
            setting=f"uniform-seed{seed}",
            fairness_least=gap,
            fairness_greatest=gap,
        )
        for seed, gap in enumerate((0.00014, 0.00014, 0.00019))
    ]
    rows = table_rows(facts_of_scores(tmp_path, games), "draws.csv", SETTINGS)
    found = [row for row in rows if "fairness" in row["measure"]]
    assert [(row["mean"], row["least"], row["greatest"]) for row in found] == [
        ("0.0001", "0.0001", "0.0002")
    ] * 3


def test_a_measure_that_counts_nowhere_has_no_row(tmp_path: Path) -> None:
    """A draw in which it does not count is no suite of its mean."""
    silent = agent(scheduled=0, excess_vps=None, vps=None, vps_kind=None)
    games = [
        score(silent, setting="uniform-seed1"),
        score(agent(messages_sent=6), setting="uniform-seed2"),
        score(silent, setting="varied-seed1"),
    ]
    rows = table_rows(facts_of_scores(tmp_path, games), "draws.csv", SETTINGS)
    found = {(row["setting"], row["measure"]): (row["suites"], row["mean"]) for row in rows}
    assert found["uniform", "messages"] == ("1", "3.0000")
    assert found["uniform", "coordination"] == ("2", "50.0000")
    assert ("varied", "messages") not in found
    assert ("varied", "excess_vps") not in found


def test_a_run_of_single_suites_has_no_draws(tmp_path: Path) -> None:
    for name, games in (("none", []), ("plain", [score()])):
        assert lines_of(facts_of_scores(tmp_path / name, games), "draws.csv", SETTINGS) == []
