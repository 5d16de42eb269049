"""The sentence about a comparison says what its tests show."""

import pandas as pd
import pytest

from calbench.analysis.run_comparison import CONTRIBUTIONS, DIFFERENCES, Comparison, finding
from calbench.facts.frames import empty

NAMES = [column.name for column in DIFFERENCES]
NONE = float("nan")
ALL = ("excess_cost", "messages", "fairness", "coordination")


Found = tuple[str, float, float, float, int, str, str]
"""Measure, difference, low, high, scenarios, verdict and remark."""


def compared(*rows: Found, teams: str = "xx") -> Comparison:
    """Return a comparison with these rows."""
    names = [
        "measure",
        "difference",
        "difference_low",
        "difference_high",
        "scenarios",
        "verdict",
        "remark",
    ]
    frame = pd.DataFrame(rows, columns=names).reindex(columns=NAMES)
    named = frame.assign(setting="varied", team_a=teams[0], team_b=teams[1])
    return Comparison(named, empty(CONTRIBUTIONS))


LOWER = ("excess_cost", -0.12, -0.20, -0.05, 45, "different", "within the margin")
HIGHER = ("messages", 2.0, 1.5, 2.5, 45, "different", "")
ALIKE = ("fairness", 0.0, NONE, NONE, 45, "identical", "")
EQUAL = ("fairness", 0.001, -0.01, 0.02, 45, "tied", "")
UNCLEAR = ("coordination", 0.5, -0.5, 1.5, 44, "not told apart", "")
UNKNOWN = ("fairness", 0.1, NONE, NONE, 1, "not tested", "too few scenarios")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [LOWER, ALIKE],
            (
                "1 of 2 comparisons differ (5% level, 45 scenarios): Excess cost (B is lower by "
                "0.12 [0.05, 0.20], within the margin); identical: 1"
            ),
        ),
        (
            [HIGHER, UNKNOWN],
            (
                "1 of 2 comparisons differ (5% level, 1 to 45 scenarios): Messages (B is higher "
                "by 2.00 [1.50, 2.50]); not tested: 1 (too few scenarios)"
            ),
        ),
        (
            [EQUAL, UNCLEAR],
            (
                "No difference is shown in 2 comparisons (5% level, 44 to 45 scenarios); tied: 1; "
                "not told apart: 1"
            ),
        ),
        (
            [UNKNOWN],
            (
                "No difference is shown in 1 comparison (5% level, 1 scenario); not tested: 1 "
                "(too few scenarios)"
            ),
        ),
    ],
)
def test_sentence_says_what_the_tests_show(rows: list[Found], said: str) -> None:
    assert finding(compared(*rows), ALL, 0.95) == said


def test_only_the_chosen_measures_count() -> None:
    said = finding(compared(LOWER, HIGHER, ALIKE), ("fairness",), 0.9)
    assert said == "No difference is shown in 1 comparison (10% level, 45 scenarios); identical: 1"


def test_an_end_beyond_zero_keeps_its_sign() -> None:
    """Tests decide, and an interval may reach past zero where they find a difference."""
    rows = [("messages", -0.5, -1.0, 0.1, 9, "different", "")]
    assert "lower by 0.50 [-0.10, 1.00]" in finding(compared(*rows), ALL, 0.95)


def test_teams_are_named_where_there_are_several_and_the_rest_is_counted() -> None:
    frames = [compared(LOWER, HIGHER, teams=teams).differences for teams in ("xx", "yz")]
    both = Comparison(pd.concat(frames, ignore_index=True), empty(CONTRIBUTIONS))
    said = finding(both, ALL, 0.95)
    assert said.startswith("4 of 4 comparisons differ ")
    assert ": varied x, Excess cost (B is lower by 0.12 [0.05, 0.20], within the margin), " in said
    assert "varied y and z, Excess cost" in said
    assert said.endswith(", and 1 more")
