"""Facts of typed messages: every update of a belief, and every pair in every round.

Both are about typed agents and come from scored games: the privacy loss of a language agent is not
computed from its words but measured by reflections, which are other facts.
"""

from collections.abc import Iterable
from itertools import permutations
from typing import Any

from calbench.domain.ids import AgentId
from calbench.facts.columns import columns, text, truth
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
    columns(
        """
    event_index round target_agent observer_agent source
    channel (text; P): channel it was sent on
    strength (fine; P, SD-MAP's 0.7 R): k, 1 replaces the belief
    slot (count; P): slot that the message is about
    evidence (fine; P): e, 1 for feasible, 0 for infeasible
    belief_before (fine; P): b
    belief_after (fine; P): (1 - k) b + k e
    """,
        of=[SOURCE],
    ),
    is_large=True,
)
"""Every update of a belief about a typed agent."""


def _pair_rounds(game: MeasuredGame) -> Values:
    """Return what one observer learnt about one typed target in one round, column by column."""
    found: dict[str, list[Any]] = {column.name: [] for column in PAIRS.columns}
    if game.is_scored:
        typed, agents = typed_agents(game), range(len(game.players))
        pairs = [pair for pair in permutations(map(AgentId, agents), 2) if pair[0] in typed]
        for each in game.rounds:
            for column, values in zip(found.values(), _of_round(each, pairs, game), strict=True):
                column.extend(values)
    return found


def _of_round(
    each: RoundBeliefs, pairs: list[Pair], game: MeasuredGame
) -> tuple[Iterable[Any], ...]:
    """Return the columns of a round, in their order, with a value for each pair."""
    prior, beliefs = game.measure.belief_prior, each.beliefs
    observations: dict[Pair, int] = {}
    for heard in each.heard:
        pair = heard.target, heard.observer
        observations[pair] = observations.get(pair, 0) + len(heard.steps)
    untouched = game.trace.scenario.num_slots * abs(prior - IDEAL)
    distances = {pair: pair_loss(vector, IDEAL) for pair, vector in beliefs.items()}
    losses = (
        distances
        if prior == IDEAL
        else {pair: pair_loss(vector, prior) for pair, vector in beliefs.items()}
    )
    members = frozenset(each.participants)
    targets, observers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return (
        [each.round] * len(pairs),
        targets,
        observers,
        [target in members for target in targets],
        [observer in members for observer in observers],
        [observations.get(pair, 0) for pair in pairs],
        [distances.get(pair, untouched) for pair in pairs],
        [losses.get(pair, 0.0) for pair in pairs],
    )


PAIRS = Fact(
    "pairs",
    _pair_rounds,
    columns(
        f"""
    round target_agent observer_agent target_is_participant observer_is_participant
    observations (count, {UPDATES}; P): belief updates
    posterior_distance_to_ideal (fine, slot-equivalents; P, definition C): sum over slots of |b -
        {IDEAL}| at the end of the round
    vps_loss (fine, slot-equivalents; P): sum over slots of |b - prior|
    """,
        of=[TARGET_TAKES_PART, OBSERVER_TAKES_PART],
    ),
    is_large=True,
)
"""Every ordered pair of a typed target and an observer in every round, also without a message:
means need nothing else."""
