"""What to play next: teams that lower the greatest uncertainty, seated evenly [C].

A proposal is one team for a whole suite. It rotates: everybody moves on by one seat from each
scenario to the next, so that all sit everywhere equally often (see :class:`Team`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calbench.analysis.rated import RATINGS, RatedGame, Scenario
from calbench.analysis.ratings import Scope, Standing
from calbench.analysis.skill import constants
from calbench.errors import CalbenchError
from calbench.metrics.seats import Player

SAME_CALENDAR = 1000
"""How many times taking a seat again sitting down with the same calendar again counts [C]."""

Held = Counter[tuple[Player, Scenario, int]]
"""How often each player had each starting calendar."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A team to be played next.

    Attributes:
        players: by agent in the first scenario of the suite.
        first_meetings: pairs in it that never sat in a game before.
    """

    players: tuple[Player, ...]
    first_meetings: tuple[tuple[Player, Player], ...]


def propose(
    scope: Scope,
    games: Sequence[RatedGame],
    scenarios: Sequence[Scenario],
    *,
    num_seats: int,
    num_teams: int = 1,
) -> list[Proposal]:
    """Return teams for the next games, the most informative first.

    Each team begins with the player of whom least is known, and takes on whoever is least known
    among those that its members met least: players that never met come first, then those that
    no chain of games links, then wide rank intervals, then great sigmas. With fewer players
    than seats they repeat in this order.

    Args:
        scope: ratings of the games so far.
        games: these games.
        scenarios: of the suite that is to be played, in its order.
        num_seats: agents of a game.
        num_teams: how many teams; each takes those before it for played.

    Raises:
        CalbenchError: there are no two players to meet.
    """
    players = [standing.player for standing in scope.standings]
    if len(players) < 2:
        raise CalbenchError(
            f"matchmaking: {len(players)} players of pool {scope.pool}; name runs in which at "
            "least two sat, or entrants"
        )
    unknown = {s.player: _unknown(s, len(players)) for s in scope.standings}
    met = {frozenset((one, other)): count for one, other, count in scope.meetings.pairs()}
    links = scope.meetings.components()
    held: Held = Counter(
        (player, game.scenario, agent)
        for game in games
        for player, agent in zip(game.players, game.agents, strict=True)
    )
    proposed: Counter[Player] = Counter()
    found = []
    for _ in range(num_teams):
        members = _members(players, unknown, met, links, proposed, num_seats)
        pairs = [(a, b) for i, a in enumerate(members) for b in members[i + 1 :]]
        first = tuple((a, b) for a, b in pairs if not met[frozenset((a, b))])
        seated = _seated([members[i % len(members)] for i in range(num_seats)], held, scenarios)
        for a, b in pairs:
            met[frozenset((a, b))] += max(1, len(scenarios))
        proposed.update(members)
        held.update(_taken(seated, scenarios))
        found.append(Proposal(seated, first))
    return found


def _unknown(standing: Standing, num_players: int) -> tuple[int, float]:
    """Return how wide a player's rank interval is, and how great its greatest sigma."""
    rank = standing.rank
    width = num_players  # of one without an interval
    if rank is not None and rank.low is not None and rank.high is not None:
        width = rank.high - rank.low
    skills = [standing.skills[rating.name] for rating in RATINGS if rating.in_mmr]
    sigmas = [constants().sigma if skill is None else skill.sigma for skill in skills]
    return width, round(max(sigmas), 6)


def _members(
    players: Sequence[Player],
    unknown: Mapping[Player, tuple[int, float]],
    met: Mapping[frozenset[Player], int],
    links: Mapping[Player, Player],
    proposed: Counter[Player],
    num_seats: int,
) -> list[Player]:
    """Choose who plays, one after the other."""

    def strangers(player: Player, others: Sequence[Player]) -> int:
        return sum(player != other and not met[frozenset((player, other))] for other in others)

    members: list[Player] = []
    while len(members) < min(num_seats, len(players)):
        left = [player for player in players if player not in members]
        around = members or players
        members.append(
            min(
                left,
                key=lambda player: (
                    -strangers(player, around),
                    -sum(links[player] != links[other] for other in around),
                    proposed[player],
                    -unknown[player][0],
                    -unknown[player][1],
                    player.order,
                ),
            )
        )
    return members


def _seated(
    members: Sequence[Player], held: Held, scenarios: Sequence[Scenario]
) -> tuple[Player, ...]:
    """Return who starts where, so that players get calendars and seats they had least so far."""
    from scipy.optimize import linear_sum_assignment

    num_seats = len(members)
    seats: Counter[tuple[Player, int]] = Counter()
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
            # Among equals, everybody stays in the order of the choice.
            costs[row, start] = again * num_seats**2 + (start - row) % num_seats
    rows, starts = linear_sum_assignment(costs)
    by_start = {int(start): members[int(row)] for row, start in zip(rows, starts, strict=True)}
    return tuple(by_start[start] for start in range(num_seats))


def _taken(seated: Sequence[Player], scenarios: Sequence[Scenario]) -> Held:
    """Return which calendars the players of a rotating team get."""
    return Counter(
        (player, scenario, (start + place) % len(seated))
        for place, scenario in _places(scenarios)
        for start, player in enumerate(seated)
    )


def _places(scenarios: Sequence[Scenario]) -> list[tuple[int, Scenario]]:
    """Number the scenarios within their settings, as play does."""
    places: Counter[str] = Counter()
    numbered = []
    for scenario in scenarios:
        numbered.append((places[scenario.setting], scenario))
        places[scenario.setting] += 1
    return numbered
