"""Facts of typed messages: every update of a belief, and every pair in every round.

Both are about typed agents and come from scored games: the privacy loss of a language agent is not
computed from its words but measured by reflections, which are other facts.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from calbench.domain.ids import AgentId
from calbench.facts.columns import (
    EVENT,
    OBSERVER,
    ROUND,
    SLOTS,
    TARGET,
    count,
    fine,
    text,
    truth,
)
from calbench.facts.fact import Fact, MeasuredGame, Values
from calbench.metrics.privacy.beliefs import Pair
from calbench.metrics.privacy.loss import RoundBeliefs, pair_loss

IDEAL = 0.5
"""Belief of an observer without knowledge of a slot [C]."""

SOURCE = text("source", "kind of message", "P")
TARGET_TAKES_PART = truth("target_is_participant", "of the round's meeting", "P")
OBSERVER_TAKES_PART = truth("observer_is_participant", "of the round's meeting", "P")
UPDATES = "updates"

ALIKE = 7
"""Number of columns that are equal for all updates of one observer by one message."""


def typed_agents(game: MeasuredGame) -> frozenset[AgentId]:
    """Return the agents of a game that do not speak in words."""
    return frozenset(
        AgentId(agent) for agent, player in enumerate(game.players) if not player.uses_language
    )


def _updates(game: MeasuredGame) -> Values:
    """Return the updates of a scored game, column by column."""
    found: dict[str, list[Any]] = {column.name: [] for column in BELIEFS.columns}
    of_all, of_each = list(found.values())[:ALIKE], list(found.values())[ALIKE:]
    typed = typed_agents(game)
    for each in game.rounds if game.is_scored else ():
        for index, target, observer, source, channel, evidence, strength, steps in each.heard:
            if target in typed:
                alike = (index, each.round, target, observer, source, channel, strength)
                for column, value in zip(of_all, alike, strict=True):
                    column.extend((value,) * len(steps))
                slots, told = zip(*evidence, strict=True)
                before, after = zip(*steps, strict=True)
                for column, values in zip(of_each, (slots, told, before, after), strict=True):
                    column.extend(values)
    return found


BELIEFS = Fact(
    "beliefs",
    _updates,
    (
        EVENT,
        ROUND,
        TARGET,
        OBSERVER,
        SOURCE,
        text("channel", "channel it was sent on", "P"),
        fine("strength", "", "k, 1 replaces the belief", "", "P"),
        count("slot", "", "slot that the message is about", "P"),
        fine("evidence", "", "e, 1 for feasible, 0 for infeasible", "", "P"),
        fine("belief_before", "", "b", "", "P"),
        fine("belief_after", "", "(1 - k) b + k e", "", "P"),
    ),
    is_large=True,
)
"""Every update of a belief about a typed agent."""


def _pair_rounds(game: MeasuredGame) -> Values:
    """Return what one observer learnt about one typed target in one round, column by column."""
    names = [column.name for column in PAIRS.columns]
    rows: list[tuple[Any, ...]] = []
    if game.is_scored:
        typed, agents = typed_agents(game), range(len(game.players))
        pairs = [pair for pair in permutations(map(AgentId, agents), 2) if pair[0] in typed]
        for each in game.rounds:
            rows += _of_round(each, pairs, game)
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return dict(zip(names, map(list, columns), strict=True))


def _of_round(
    each: RoundBeliefs, pairs: list[Pair], game: MeasuredGame
) -> Iterator[tuple[Any, ...]]:
    """Yield the row of each pair in a round, in the order of the columns."""
    prior = game.measure.belief_prior
    observations: Counter[Pair] = Counter()
    for heard in each.heard:
        observations[heard.target, heard.observer] += len(heard.steps)
    untouched = game.trace.scenario.num_slots * abs(prior - IDEAL)
    members = frozenset(each.participants)
    for pair in pairs:
        target, observer = pair
        vector = each.beliefs.get(pair)
        distance, loss = untouched, 0.0
        if vector is not None:
            distance = pair_loss(vector, IDEAL)
            loss = distance if prior == IDEAL else pair_loss(vector, prior)
        takes_part = target in members, observer in members
        yield each.round, target, observer, *takes_part, observations[pair], distance, loss


PAIRS = Fact(
    "pairs",
    _pair_rounds,
    (
        ROUND,
        TARGET,
        OBSERVER,
        TARGET_TAKES_PART,
        OBSERVER_TAKES_PART,
        count("observations", UPDATES, "belief updates", "P"),
        fine(
            "posterior_distance_to_ideal",
            SLOTS,
            f"sum over slots of |b - {IDEAL}| at the end of the round",
            "",
            "P, definition C",
        ),
        fine("vps_loss", SLOTS, "sum over slots of |b - prior|", "", "P"),
    ),
    is_large=True,
)
"""Every ordered pair of a typed target and an observer in every round, also without a message:
means need nothing else."""
