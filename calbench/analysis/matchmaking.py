"""Teams to play next: those that reduce the greatest uncertainty, in balanced seats [C].

A proposal is one team for a whole suite. It rotates: all players move by one seat from each
scenario to the next, so each has every seat equally often (see :class:`Team`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.analysis.rating_pools import RATINGS, Scenario
from calbench.analysis.rating_scopes import Scope
from calbench.errors import CalbenchError
from calbench.metrics.players import Player
from calbench.stats.plackett_luce import constants
from calbench.stats.sums import Ints

SAME_CALENDAR = 1000
"""Weight of repeating a calendar, relative to repeating a seat [C]."""

SIGMA_DIGITS = 6
"""Decimals of sigmas that are compared [C]: last bits differ between processors."""

Held = Counter[tuple[int, Scenario, int]]
"""How often each player, by number, had each starting calendar."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A team to be played next.

    Attributes:
        players: by agent in the first scenario of the suite.
        first_meetings: pairs of them that never shared a game before.
    """

    players: tuple[Player, ...]
    first_meetings: tuple[tuple[Player, Player], ...]


def propose(
    scope: Scope, scenarios: Sequence[Scenario], *, num_seats: int, num_teams: int = 1
) -> list[Proposal]:
    """Return teams for the next games, the most informative first.

    A team begins with the player with the greatest uncertainty. Then it adds the player with the
    greatest uncertainty relative to its members: first players that never met them, then those
    that no chain of games links with them, then wide rank intervals, then large sigmas. With fewer
    players than seats they repeat in this order.

    Args:
        scope: ratings of the games so far.
        scenarios: of the suite to play, in its order.
        num_seats: agents of a game.
        num_teams: number of teams; each assumes that those before it are played.

    Raises:
        CalbenchError: there are fewer than two players.
    """
    players = scope.players
    if len(players) < 2:
        raise CalbenchError(
            f"matchmaking: {len(players)} players of pool {scope.pool}; name runs with at least "
            "two, or entrants"
        )
    met = scope.meetings.games.copy()
    held = _held(scope.seats)
    proposed: Counter[int] = Counter()
    need = _need(scope, met, proposed)
    found = []
    for _ in range(num_teams):
        members = _members(need, min(num_seats, len(players)), len(players))
        pairs = [(a, b) for i, a in enumerate(members) for b in members[i + 1 :]]
        first = tuple((players[a], players[b]) for a, b in pairs if not met[a, b])
        seated = _seated([members[i % len(members)] for i in range(num_seats)], held, scenarios)
        for a, b in pairs:
            met[[a, b], [b, a]] += max(1, len(scenarios))
        proposed.update(members)
        held.update(_taken(seated, scenarios))
        found.append(Proposal(tuple(players[number] for number in seated), first))
    return found


def never_met_after(scope: Scope, proposals: Sequence[Proposal]) -> list[int]:
    """Return how many players each never met, by number, once proposed teams have played."""
    number = {player: place for place, player in enumerate(scope.players)}
    met = scope.meetings.games > 0
    for proposal in proposals:
        seated = [number[player] for player in proposal.players]
        met[np.ix_(seated, seated)] = True
    np.fill_diagonal(met, True)
    return [int(count) for count in (~met).sum(axis=1)]


def _held(seats: pd.DataFrame) -> Held:
    """Return how often players had each calendar."""
    columns = (seats[name].tolist() for name in ("number", "setting", "scenario_id", "agent_id"))
    return Counter(
        (number, Scenario(setting, scenario), agent)
        for number, setting, scenario, agent in zip(*columns, strict=True)
    )


Need = Callable[[int, Sequence[int]], tuple[float, ...]]
"""Sort key of a player given the members of a team: the least is chosen first."""


def _need(scope: Scope, met: Ints, proposed: Counter[int]) -> Need:
    """Return the sort key of players by their uncertainty."""
    unknown = _unknown(scope)

    def need(player: int, others: Sequence[int]) -> tuple[float, ...]:
        strangers = sum(player != other and not met[player, other] for other in others)
        unlinked = sum(not scope.meetings.is_linked(player, other) for other in others)
        width, sigma = unknown[player]
        return -strangers, -unlinked, proposed[player], -width, -sigma, player

    return need


def _unknown(scope: Scope) -> list[tuple[float, float]]:
    """Return the width of each player's rank interval, and its greatest sigma."""
    standings = scope.standings.sort_values("number")
    # Without an interval any rank is possible; without a rating a player is new.
    width = (standings["rank_high"] - standings["rank_low"]).fillna(len(scope.players))
    sigmas = standings[[f"{rating.name}_sigma" for rating in RATINGS if rating.in_mmr]]
    greatest = sigmas.fillna(constants().sigma).max(axis="columns")
    rounded = (round(sigma, SIGMA_DIGITS) for sigma in greatest.tolist())
    return list(zip(width.tolist(), rounded, strict=True))


def _members(need: Need, size: int, num_players: int) -> list[int]:
    """Choose the players, one after the other."""
    every = range(num_players)
    members: list[int] = []
    while len(members) < size:
        around = members or every
        left = (player for player in every if player not in members)
        members.append(min(left, key=lambda player: need(player, around)))
    return members


def _seated(members: Sequence[int], held: Held, scenarios: Sequence[Scenario]) -> tuple[int, ...]:
    """Return the players by first seat: they get the calendars and seats they had least."""
    from scipy.optimize import linear_sum_assignment

    num_seats = len(members)
    seats: Counter[tuple[int, int]] = Counter()
    for (player, _, agent), times in held.items():
        seats[player, agent] += times
    costs = np.zeros((num_seats, num_seats))
    for row, player in enumerate(members):
        for start in range(num_seats):
            again = sum(
                SAME_CALENDAR * held[player, scenario, (start + place) % num_seats]
                + seats[player, (start + place) % num_seats]
                for place, scenario in _places(scenarios)
            )
            # Ties keep the order of the choice.
            costs[row, start] = again * num_seats**2 + (start - row) % num_seats
    rows, starts = linear_sum_assignment(costs)
    by_start = {int(start): members[int(row)] for row, start in zip(rows, starts, strict=True)}
    return tuple(by_start[start] for start in range(num_seats))


def _taken(seated: Sequence[int], scenarios: Sequence[Scenario]) -> Held:
    """Return how often the players of a rotating team get each calendar."""
    return Counter(
        (player, scenario, (start + place) % len(seated))
        for place, scenario in _places(scenarios)
        for start, player in enumerate(seated)
    )


def _places(scenarios: Sequence[Scenario]) -> list[tuple[int, Scenario]]:
    """Number the scenarios within their settings, as in play."""
    places: Counter[str] = Counter()
    numbered = []
    for scenario in scenarios:
        numbered.append((places[scenario.setting], scenario))
        places[scenario.setting] += 1
    return numbered
