"""OpenSkill's Plackett-Luce update with score margins, along many orders of the same games.

One call of the library takes some 40 microseconds, and thousands of orders and resamples of a
thousand games are millions of calls. The update of one event is a handful of small matrix
products, so all orders are updated by their next game at once. Nothing is approximated: tests
compare with the library, and the first games of every ranking are compared with it, too.

What the library (6.2) does with margins: the skill that an update expects of a seat is moved
by the mean over opponents with another score of ``(mu_i - mu_j)(1 - f)``, where the factor
``f`` is ``log1p(gap / margin)`` for gaps above the margin and 1 below. So margins act only
where skills differ already; gaps between 1 and e - 1 = 1.72 margins count *less* than a rank
alone (f >= 0.69); and beyond e^2 - 1 = 6.39 margins f exceeds 2, where the more skilled of two
is expected to lose.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, log1p

import numpy as np

from calbench.errors import CalbenchError
from calbench.stats.sums import Floats, Ints

NO_EVENT = -1
"""Where an order is shorter than the others."""

LAST = -inf
"""Score of a seat that is behind every seat of its game with a number."""

TOLERANCE = 1e-6
"""Largest difference from the library's own ratings: rounding only [C]."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants of the library: skill of a new player, and weights of an update."""

    mu: float
    sigma: float
    beta: float
    kappa: float
    tau: float


@cache
def constants() -> Constants:
    """Return the defaults of the installed library [C: the paper names none]."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    return Constants(model.mu, model.sigma, model.beta, model.kappa, model.tau)


@dataclass(frozen=True, slots=True)
class Event:
    """One game as a free-for-all of its seats.

    Attributes:
        players: number of the player in each seat; a player may take several seats.
        scores: of each rating, a score for each seat, higher is better; a seat with ``None``
            takes no part in that rating, one with :data:`LAST` is behind the others.
        margins: of each rating; with 0 only ranks count.
    """

    players: tuple[int, ...]
    scores: tuple[tuple[float | None, ...], ...]
    margins: tuple[float, ...]

    def only(self, ratings: Iterable[int]) -> "Event":
        """Return the event with some of its ratings."""
        chosen = list(ratings)
        scores = tuple(self.scores[rating] for rating in chosen)
        return Event(self.players, scores, tuple(self.margins[rating] for rating in chosen))


@dataclass(frozen=True, slots=True)
class Skills:
    """Ratings at the end of each order: both arrays are ``[order, rating, player]``."""

    mu: Floats
    sigma: Floats

    @property
    def ordinal(self) -> Floats:
        """Lower bound of a player's skill: ``mu - 3 sigma``, as in the library."""
        return self.mu - 3 * self.sigma


class Update:
    """The update of every event as matrices, ready to be applied in any order.

    Attributes:
        num_players: players are numbered below this.
        num_ratings: ratings of each event.
    """

    def __init__(self, events: Sequence[Event], num_players: int, num_ratings: int) -> None:
        """Prepare events.

        Args:
            events: the games.
            num_players: players are numbered below this.
            num_ratings: ratings of each event.
        """
        self.num_players, self.num_ratings = num_players, num_ratings
        num_seats = max((len(event.players) for event in events), default=0)
        shape = (len(events) + 1, num_ratings, num_seats)  # the last row is no event
        self._seats = np.full((len(events) + 1, num_seats), num_players)
        self._takes_part = np.zeros(shape, dtype=np.bool_)
        self._expect = np.zeros((*shape, num_seats))
        self._not_better = np.zeros((*shape, num_seats))
        self._share = np.zeros((*shape, num_seats))
        self._tied = np.ones(shape)
        self._has_repeats = any(len(set(e.players)) < len(e.players) for e in events)
        for index, event in enumerate(events):
            self._seats[index, : len(event.players)] = event.players
            for rating in range(num_ratings):
                self._prepare(index, rating, event)

    def _prepare(self, index: int, rating: int, event: Event) -> None:
        place, score_by_seat = (index, rating), seat_scores(event, rating)
        seats, scores = list(score_by_seat), list(score_by_seat.values())
        for seat, mine in score_by_seat.items():
            self._takes_part[(*place, seat)] = True
            self._tied[(*place, seat)] = scores.count(mine)
            weights = _weights(mine, scores, event.margins[rating])
            self._expect[(*place, seat, seat)] = 1 - sum(weights)
            for other, score, weight in zip(seats, scores, weights, strict=True):
                self._expect[(*place, seat, other)] += weight
                self._not_better[(*place, seat, other)] = float(score >= mine)
        for seat, player in enumerate(event.players):
            same = [other for other in seats if event.players[other] == player]
            for other in same:
                self._share[(*place, seat, other)] = 1 / len(same)
            if not same:
                self._share[(*place, seat, seat)] = 1

    def along(self, orders: Ints, joined: "Update | None" = None) -> Skills:
        """Return the ratings after the events of each order.

        Args:
            orders: ``[order, step]``, indices of events, :data:`NO_EVENT` for none.
            joined: the same events with one more seat, the first. Whoever sits there is rated
                by them against the others as they are at that moment; it moves nobody else.
        """
        start = constants()
        shape = (len(orders), self._takes_part.shape[1], self.num_players + 1)
        size = shape[0] * shape[1] * shape[2]
        mu, sigma = np.full(size, start.mu), np.full(size, start.sigma)
        if self._takes_part.any() or joined is not None:
            rows = np.arange(0, size, shape[2]).reshape(shape[0], shape[1], 1)
            for events in orders.T:
                guest = None if joined is None else joined.guest_skills(events, rows, mu, sigma)
                cells = rows + self._seats[events][:, np.newaxis, :]
                mu[cells], sigma[cells] = self._step(events, mu[cells], sigma[cells], start)
                if guest is not None:
                    mu[guest[0]], sigma[guest[0]] = guest[1:]
        return Skills(mu.reshape(shape)[:, :, :-1], sigma.reshape(shape)[:, :, :-1])

    def guest_skills(
        self, events: Ints, rows: Ints, mu: Floats, sigma: Floats
    ) -> tuple[Ints, Floats, Floats]:
        """Return where the skills of the first seats are, and what these events make of them."""
        cells = rows + self._seats[events][:, np.newaxis, :]
        new_mu, new_sigma = self._step(events, mu[cells], sigma[cells], constants())
        return cells[..., 0], new_mu[..., 0], new_sigma[..., 0]

    def _step(
        self, events: Ints, mu: Floats, sigma: Floats, start: Constants
    ) -> tuple[Floats, Floats]:
        """Apply one event of each order to the skills of its seats (Weng and Lin, algorithm 4)."""
        takes_part, not_better = self._takes_part[events], self._not_better[events]
        tied = self._tied[events]
        variance = sigma**2 + start.tau**2
        spread = np.sqrt(np.where(takes_part, variance + start.beta**2, 0.0).sum(-1, keepdims=True))
        spread = np.where(spread > 0, spread, 1.0)
        expected = _product(self._expect[events], mu) / spread
        expected = np.where(takes_part, expected, -np.inf)
        greatest = expected.max(-1, keepdims=True)
        strength = np.exp(expected - np.where(np.isfinite(greatest), greatest, 0.0))
        # For each seat q, the total strength of all seats that did no better than q.
        against = np.einsum("...iq,...i->...q", not_better, strength)
        against = np.where(against > 0, against, 1.0)
        once = strength * _product(not_better, 1 / (tied * against))
        twice = strength**2 * _product(not_better, 1 / (tied * against**2))
        gain = (1 / tied - once) * variance / spread
        loss = (once - twice) * variance / spread**2 * np.sqrt(variance) / spread
        new_mu = np.where(takes_part, mu + gain, mu)
        shrunk = np.sqrt(variance) * np.sqrt(np.maximum(1 - loss, start.kappa))
        new_sigma = np.where(takes_part, shrunk, sigma)
        if not self._has_repeats:
            return new_mu, new_sigma
        share = self._share[events]
        return _product(share, new_mu), _product(share, new_sigma)


def _product(matrices: Floats, vectors: Floats) -> Floats:
    product: Floats = np.einsum("...ij,...j->...i", matrices, vectors)
    return product


def rated_seats(event: Event, rating: int) -> list[int]:
    """Return the seats that take part in a rating; none unless they hold at least two players."""
    seats = [seat for seat, score in enumerate(event.scores[rating]) if score is not None]
    return seats if len({event.players[seat] for seat in seats}) > 1 else []


def seat_scores(event: Event, rating: int) -> dict[int, float]:
    """Return the score of each seat that takes part in a rating, by seat.

    The last ones are put half a margin behind the worst other seat, so they lose to it by a rank
    alone; where all are last, all are equal.
    """
    given = event.scores[rating]
    scores = {seat: float(given[seat] or 0.0) for seat in rated_seats(event, rating)}
    worst = min((score for score in scores.values() if score != LAST), default=0.0)
    behind = worst - (event.margins[rating] / 2 or 1.0)
    return {seat: behind if score == LAST else score for seat, score in scores.items()}


def _weights(mine: float, scores: Sequence[float], margin: float) -> list[float]:
    """Return ``(f - 1) / n`` for each seat, n of which have another score."""
    others = sum(score != mine for score in scores)
    return [
        (_factor(abs(score - mine), margin) - 1) / others if score != mine else 0.0
        for score in scores
    ]


def _factor(gap: float, margin: float) -> float:
    return log1p(gap / margin) if 0 < margin < gap else 1.0


def rate_by_library(
    events: Sequence[Event],
    num_players: int,
    num_ratings: int,
    order: Sequence[int],
    joined: Sequence[Event] = (),
) -> list[list[tuple[float, float]]]:
    """Return ``[rating][player]`` as mu and sigma, by calls of ``openskill`` itself.

    A player in several seats enters once for each, with the same rating, and gets the mean of
    the results [C]. Of ``joined`` games, as in :meth:`Update.along`, only the first seat moves.
    """
    found = []
    for rating in range(num_ratings):
        skills = [(constants().mu, constants().sigma)] * num_players
        for index in order:
            moved = _by_library(events[index], rating, skills)
            if joined:
                guest = joined[index].players[0]
                moved |= _only(guest, _by_library(joined[index], rating, skills))
            for player, skill in moved.items():
                skills[player] = skill
        found.append(skills)
    return found


def _only(player: int, skills: Mapping[int, tuple[float, float]]) -> dict[int, tuple[float, float]]:
    return {player: skills[player]} if player in skills else {}


def _by_library(
    event: Event, rating: int, skills: Sequence[tuple[float, float]]
) -> dict[int, tuple[float, float]]:
    """Return the skills of those whom one event moves."""
    from openskill.models import PlackettLuce

    scores = seat_scores(event, rating)
    if not scores:
        return {}
    model = PlackettLuce(margin=event.margins[rating])
    rated = model.rate(
        [[model.rating(*skills[event.players[seat]])] for seat in scores],
        scores=list(scores.values()),
    )
    results: dict[int, list[tuple[float, float]]] = {}
    for seat, (result,) in zip(scores, rated, strict=True):
        results.setdefault(event.players[seat], []).append((result.mu, result.sigma))
    means = {}
    for player, pairs in results.items():
        mus, sigmas = zip(*pairs, strict=True)
        means[player] = sum(mus) / len(mus), sum(sigmas) / len(sigmas)
    return means


def check_against_library(
    events: Sequence[Event], order: Sequence[int], skills: Skills, joined: Sequence[Event] = ()
) -> None:
    """Compare ratings along the first of several orders with the library's own.

    Raises:
        CalbenchError: the installed library computes other ratings.
    """
    _, num_ratings, num_players = skills.mu.shape
    theirs = np.array(rate_by_library(events, num_players, num_ratings, order, joined))
    ours = np.stack([skills.mu[0], skills.sigma[0]], axis=-1)
    if theirs.size and float(np.abs(theirs - ours).max()) > TOLERANCE:
        raise CalbenchError(
            "ratings: the installed openskill does not compute what this version of calbench "
            "expects; install the version of requirements.lock"
        )
