"""Ranks that do not claim more than the paired comparisons show, and groups of ties [C].

Whoever is told apart from nobody shares every rank with everybody. So a team's rank is a range:
below it stand the teams it is shown to beat, above it those shown to beat it. Nothing is
estimated here; all follows from the rows of ``comparisons.csv``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from calbench.report.numbers import MEASURE_BY_NAME, decimal
from calbench.report.results import Row

LEVEL = "0.05"
"""Pairs with a corrected p below it are told apart [C]."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a team stands in one measure.

    Attributes:
        low: best rank it can have, from 1.
        high: worst rank it can have.
        ranked: how many teams it is ranked among, itself included.
        groups: letters of the tie groups it is in; empty if it is told apart from all.
        tied: teams it is not told apart from, in the order of the tables.
    """

    low: int
    high: int
    ranked: int
    groups: tuple[str, ...]
    tied: tuple[str, ...]


def standings(
    teams: Sequence[str], rows: Iterable[Row], measure: str, used: int = 0
) -> dict[str, Standing]:
    """Return the standing of every team that was compared with another.

    Args:
        teams: those to rank, in the order of the tables; comparisons with others are left out.
        rows: of ``comparisons.csv``, of one setting.
        measure: which rows count.
        used: letters that are taken already.

    Raises:
        FileError: a cell is not a number.
    """
    beats = _beats([row for row in rows if row["measure"] == measure], frozenset(teams), measure)
    compared = [team for team in teams if beats.get(team)]
    tied = {
        team: tuple(other for other in compared if beats[team].get(other) == 0) for team in compared
    }
    low = {team: 1 + sum(sign < 0 for sign in beats[team].values()) for team in compared}
    letters = _letters(tied, low, used)
    return {
        team: Standing(
            low=low[team],
            high=1 + sum(sign <= 0 for sign in beats[team].values()),
            ranked=1 + len(beats[team]),
            groups=letters[team],
            tied=tied[team],
        )
        for team in compared
    }


def _beats(rows: Iterable[Row], teams: frozenset[str], measure: str) -> dict[str, dict[str, int]]:
    """Return for every compared pair 1 if the first is better, -1 if worse, 0 if not told apart."""
    direction = 1 if MEASURE_BY_NAME[measure].better == "higher" else -1
    beats: dict[str, dict[str, int]] = {}
    for row in rows:
        first, second = row["team_a"], row["team_b"]
        if not {first, second} <= teams or not row["p_adjusted"]:
            continue
        gap = decimal(row["difference"])
        is_told_apart = decimal(row["p_adjusted"]) < decimal(LEVEL)
        sign = direction * ((gap > 0) - (gap < 0)) if is_told_apart else 0
        beats.setdefault(first, {})[second] = sign
        beats.setdefault(second, {})[first] = -sign
    return beats


def _letters(
    tied: Mapping[str, Sequence[str]], low: Mapping[str, int], used: int
) -> dict[str, tuple[str, ...]]:
    """Return the letters of every team; better groups come first in the alphabet."""
    place = {team: number for number, team in enumerate(tied)}
    groups = sorted(
        (sorted(group, key=place.__getitem__) for group in tie_groups(tied) if len(group) > 1),
        key=lambda group: ([low[team] for team in group], [place[team] for team in group]),
    )
    return {
        team: tuple(_letter(number) for number, group in enumerate(groups, used) if team in group)
        for team in tied
    }


def _letter(number: int) -> str:
    round_, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(round_ + 1) if round_ else "")


def tie_groups(tied: Mapping[str, Sequence[str]]) -> list[frozenset[str]]:
    """Return the largest sets in which nobody is told apart from anybody.

    Two teams can each be tied with a third and differ from one another, so a team may be in
    several. These are the maximal cliques of the graph of ties (Bron and Kerbosch, with a pivot).

    Args:
        tied: for each team those it is tied with; symmetric.
    """
    neighbours = {team: frozenset(others) for team, others in tied.items()}
    found: list[frozenset[str]] = []

    def extend(group: frozenset[str], open_: frozenset[str], done: frozenset[str]) -> None:
        if not open_ and not done:
            found.append(group)
            return
        pivot = max(sorted(open_ | done), key=lambda team: len(neighbours[team] & open_))
        for team in sorted(open_ - neighbours[pivot]):
            extend(group | {team}, open_ & neighbours[team], done & neighbours[team])
            open_ -= {team}
            done |= {team}

    if neighbours:
        extend(frozenset(), frozenset(neighbours), frozenset())
    return found
