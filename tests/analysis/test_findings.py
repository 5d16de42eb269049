"""The sentence about a comparison says what its intervals say."""

import pandas as pd
import pytest

from calbench.analysis.findings import finding
from calbench.analysis.run_comparison import CONTRIBUTIONS, DIFFERENCES, Comparison
from calbench.facts.frames import empty

NAMES = [column.name for column in DIFFERENCES]
NONE = float("nan")
ALL = ("excess_cost", "messages", "fairness", "coordination")


def compared(*rows: tuple[str, float, float, float, int], teams: str = "xx") -> Comparison:
    """Return a comparison with (measure, difference, low, high, scenarios) in each row."""
    entries = [
        {
            "setting": "varied",
            "team_a": teams[0],
            "team_b": teams[1],
            "measure": measure,
            "difference": difference,
            "difference_low": low,
            "difference_high": high,
            "scenarios": scenarios,
        }
        for measure, difference, low, high, scenarios in rows
    ]
    frame = pd.DataFrame(entries).reindex(columns=NAMES)
    return Comparison(frame, empty(CONTRIBUTIONS))


LOWER = ("excess_cost", -0.12, -0.20, -0.05, 45)
HIGHER = ("messages", 2.0, 1.5, 2.5, 45)
SAME = ("fairness", 0.0, 0.0, 0.0, 45)
UNCLEAR = ("coordination", 0.5, -0.5, 1.5, 44)
UNKNOWN = ("fairness", 0.1, NONE, NONE, 1)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [LOWER, SAME],
            (
                "1 of 2 differences leave out zero (95% intervals, 45 scenarios): Excess cost "
                "(B is lower by 0.12 [0.05, 0.20])"
            ),
        ),
        (
            [HIGHER, LOWER, UNKNOWN],
            (
                "2 of 2 differences leave out zero (95% intervals, 45 scenarios): Messages (B is "
                "higher by 2.00 [1.50, 2.50]), Excess cost (B is lower by 0.12 [0.05, 0.20]); "
                "without an interval: 1"
            ),
        ),
        (
            [SAME, UNCLEAR],
            "No difference is significant: all 2 hold zero (95% intervals, 44 to 45 scenarios)",
        ),
        ([UNKNOWN], "No difference has an interval, on 1 scenario"),
    ],
)
def test_sentence_says_what_the_intervals_say(
    rows: list[tuple[str, float, float, float, int]], said: str
) -> None:
    assert finding(compared(*rows), ALL, 0.95) == said


def test_only_the_chosen_measures_count() -> None:
    said = finding(compared(LOWER, HIGHER, SAME), ("fairness",), 0.9)
    assert said == "No difference is significant: all 1 hold zero (90% intervals, 45 scenarios)"


def test_teams_are_named_where_there_are_several_and_the_rest_is_counted() -> None:
    frames = [compared(LOWER, HIGHER, teams=teams).differences for teams in ("xx", "yz")]
    both = Comparison(pd.concat(frames, ignore_index=True), empty(CONTRIBUTIONS))
    said = finding(both, ALL, 0.95)
    assert said.startswith("4 of 4 differences leave out zero ")
    assert ": varied x, Excess cost (B is lower by 0.12 [0.05, 0.20]), varied x, Mess" in said
    assert "varied y and z, Excess cost" in said
    assert said.endswith(", and 1 more")
