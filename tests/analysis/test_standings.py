"""Ranks as ranges and groups of ties follow from the comparisons."""

import pandas as pd
import pytest

from calbench.analysis.measures import MEASURES
from calbench.analysis.tables.standings import _standing

MEASURE = {measure.name: measure for measure in MEASURES}

Standing = tuple[int, int, int, str]


def pair(
    first: str, second: str, difference: float, p: float, measure: str = "excess_cost"
) -> dict[str, object]:
    return {
        "setting": "s", "team_a": first, "team_b": second, "measure": measure,
        "difference": difference, "p_adjusted": p,
    }  # fmt: skip


def standings(
    teams: str, pairs: list[dict[str, object]], measure: str = "excess_cost", level: float = 0.05
) -> dict[str, Standing]:
    rows = pd.DataFrame({"setting": "s", "team": list(teams)})
    found = _standing(rows, pd.DataFrame(pairs), MEASURE[measure], level)
    ends = [f"{measure}_{end}" for end in ("rank_low", "rank_high", "ranked", "ties")]
    return {row["team"]: tuple(row[end] for end in ends) for row in found.to_dict("records")}


ROWS = [
    pair("a", "b", -0.1, 0.3),
    pair("b", "c", -0.1, 0.05),  # the level itself tells nothing apart
    pair("a", "c", -0.2, 0.01),
    pair("a", "d", -0.9, 0.0001),
    pair("b", "d", -0.8, 0.0001),
    pair("c", "d", -0.7, 0.0001),
    pair("a", "b", 5.0, 0.0001, measure="messages"),
    {**pair("a", "b", 5.0, 0.0001), "setting": "other"},
]


def test_ranks_are_ranges_and_ties_overlap() -> None:
    assert standings("abcd", ROWS) == {
        "a": (1, 2, 4, "a"),
        "b": (1, 3, 4, "a b"),
        "c": (2, 3, 4, "b"),
        "d": (4, 4, 4, ""),
    }


def test_another_level_tells_others_apart() -> None:
    assert standings("abcd", ROWS, level=0.5) == {
        "a": (1, 1, 4, ""),
        "b": (2, 2, 4, ""),
        "c": (3, 3, 4, ""),
        "d": (4, 4, 4, ""),
    }


@pytest.mark.parametrize(("measure", "ranks"), [("coordination", (1, 2)), ("messages", (2, 1))])
def test_more_is_better_where_the_measure_says_so(measure: str, ranks: tuple[int, int]) -> None:
    found = standings("ab", [pair("a", "b", 9.0, 0.001, measure)], measure)

    assert (found["a"][0], found["b"][0]) == ranks


def test_teams_that_do_not_compete_take_no_rank_away() -> None:
    rows = [pair("a", "x", 1.0, 0.0001), pair("a", "b", 0.0, 1.0), pair("b", "x", 1.0, 0.0001)]

    assert standings("ab", rows) == {"a": (1, 2, 2, "a"), "b": (1, 2, 2, "a")}
    assert standings("a", rows) == {}
