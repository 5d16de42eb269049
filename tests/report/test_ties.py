"""Ranks as ranges and groups of ties, against what the definition says by brute force."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from calbench.report.ties import Standing, standings, tie_groups

TEAMS = ("a", "b", "c", "d", "e", "f")
PAIRS = tuple(combinations(TEAMS, 2))


def row(
    first: str, second: str, difference: float, p: str, measure: str = "excess_cost"
) -> dict[str, str]:
    return {
        "team_a": first,
        "team_b": second,
        "measure": measure,
        "difference": f"{difference:.4f}",
        "p_adjusted": p,
    }


def test_ranks_are_ranges_and_ties_overlap() -> None:
    rows = [
        row("a", "b", -0.1, "0.3000"),
        row("b", "c", -0.1, "0.0500"),  # the level itself tells nothing apart
        row("a", "c", -0.2, "0.0100"),
        row("a", "d", -0.9, "0.0001"),
        row("b", "d", -0.8, "0.0001"),
        row("c", "d", -0.7, "0.0001"),
        row("a", "b", 5.0, "0.0001", measure="messages"),
    ]

    found = standings(("a", "b", "c", "d"), rows, "excess_cost")

    assert found == {
        "a": Standing(1, 2, 4, ("a",), ("b",)),
        "b": Standing(1, 3, 4, ("a", "b"), ("a", "c")),
        "c": Standing(2, 3, 4, ("b",), ("b",)),
        "d": Standing(4, 4, 4, (), ()),
    }


def test_more_is_better_where_the_measure_says_so() -> None:
    found = standings(("a", "b"), [row("a", "b", 9.0, "0.0010", "coordination")], "coordination")

    assert (found["a"].low, found["b"].low) == (1, 2)


def test_teams_that_do_not_compete_take_no_rank_away() -> None:
    rows = [
        row("a", "x", 1.0, "0.0001"),
        row("a", "b", 0.0, "1.0000"),
        row("b", "x", 1.0, "0.0001"),
    ]

    found = standings(("a", "b"), rows, "excess_cost", used=26)

    assert found == {
        "a": Standing(1, 2, 2, ("a2",), ("b",)),
        "b": Standing(1, 2, 2, ("a2",), ("a",)),
    }
    assert standings(("a",), rows, "excess_cost") == {}


@given(st.lists(st.sampled_from((-1, 0, 1)), min_size=len(PAIRS), max_size=len(PAIRS)))
def test_groups_are_the_largest_sets_of_ties(signs: list[int]) -> None:
    sign_of = dict(zip(PAIRS, signs, strict=True))
    rows = [row(*pair, sign, "0.0001" if sign else "0.9000") for pair, sign in sign_of.items()]

    found = standings(TEAMS, rows, "excess_cost")

    cliques = [
        frozenset(group)
        for size in range(1, len(TEAMS) + 1)
        for group in combinations(TEAMS, size)
        if all(sign_of[pair] == 0 for pair in combinations(group, 2))
    ]
    largest = {group for group in cliques if not any(group < other for other in cliques)}
    assert set(tie_groups({team: found[team].tied for team in TEAMS})) == largest
    letters = {letter for standing in found.values() for letter in standing.groups}
    by_letter = {
        frozenset(team for team in TEAMS if letter in found[team].groups) for letter in letters
    }
    assert by_letter == {group for group in largest if len(group) > 1}
    for team in TEAMS:
        better = sum(
            sign_of[pair] == (1 if pair[0] == team else -1) for pair in PAIRS if team in pair
        )
        assert found[team].low == 1 + better
        assert found[team].high == found[team].low + len(found[team].tied)
        assert found[team].ranked == len(TEAMS)
