"""Several draws of a suite, by hand."""

from pathlib import Path
from typing import Any

from calbench.analysis.registry import Settings
from calbench.metrics.game import GameScore
from calbench.stats.spec import AnalysisSpec
from tests.facts.measured import lines_of, table_rows
from tests.facts.scored import agent, facts_of_scores, score

SETTINGS = Settings(analysis=AnalysisSpec())


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
