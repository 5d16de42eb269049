"""Ranges of scenarios by hand."""

from pathlib import Path

from tests.facts.measured import table_rows
from tests.facts.scored import agent, facts_of_scores, score


def test_the_range_is_of_means_of_scenarios_that_count(tmp_path: Path) -> None:
    facts = facts_of_scores(
        tmp_path,
        [
            score(agent(excess_cost=1), agent(excess_cost=4)),
            score(agent(excess_cost=7), agent(excess_cost=-2), scenario="s1"),
            score(agent(excess_cost=9, scheduled=0), scenario="s2"),
        ],
    )
    (row,) = table_rows(facts, "leaderboard.csv")
    ends = ("", "_interval", "_least", "_greatest")
    assert [row[f"excess_cost{end}"] for end in ends] == ["3.8000", "few", "2.5000", "9.0000"]
    per_meeting = [row[f"excess_cost_per_meeting{end}"] for end in ends]
    assert per_meeting == ["1.2500", "few", "1.2500", "1.2500"]
