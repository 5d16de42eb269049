"""Each agent's privacy loss by the estimator that fits its seat (paper, section 3.2).

The messages of a typed agent have a known meaning, so its loss is known for all listeners. The
loss of a language agent is how far other language agents report that their beliefs moved to the
truth; typed agents cannot read prose.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.messages import Route, Text
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.players import Player
from calbench.metrics.privacy.loss import (
    MESSAGES,
    AgentLoss,
    RoundBeliefs,
    VpsKind,
    privacy_loss,
)
from calbench.metrics.privacy.reflection import PairReflection, pair_reflections, reflected_losses
from calbench.traces.events import Resolution, RoundStart
from calbench.traces.models import Trace


class GameLoss(NamedTuple):
    """The privacy loss of a game.

    Attributes:
        by_agent: by agent id.
        by_source: what typed agents revealed, by message kind and channel.
    """

    by_agent: tuple[AgentLoss, ...]
    by_source: Mapping[tuple[str, Route], float]


def game_loss(
    trace: Trace,
    players: Sequence[Player],
    measure: MeasureSpec = DEFAULT_MEASURE,
    beliefs: Iterable[RoundBeliefs] | None = None,
    reflections: Iterable[PairReflection] | None = None,
) -> GameLoss:
    """Measure what each agent of a game revealed.

    What a typed agent says in free text has no rule of evidence, so its loss is unknown.

    Args:
        trace: the game.
        players: by agent id.
        measure: the prior of typed evidence.
        beliefs: the game's rounds, if already replayed.
        reflections: of the game, if already found.
    """
    agents = [AgentId(agent) for agent in range(trace.scenario.num_agents)]
    typed = frozenset(agent for agent in agents if not players[agent].uses_language)
    protocol = privacy_loss(trace, measure, targets=typed, beliefs=beliefs)
    losses = [
        AgentLoss("protocol", *found)
        for found in zip(
            protocol.by_agent,
            protocol.participant_pairs_by_agent,
            protocol.by_agent_round,
            _agreed(trace, measure.belief_prior),
            strict=True,
        )
    ]
    for agent in typed.intersection(_in_words(trace)):
        losses[agent] = AgentLoss(None, None, None, {}, None)
    if len(typed) < len(agents):
        pairs = pair_reflections(trace) if reflections is None else reflections
        for agent, found in zip(agents, reflected_losses(pairs, len(agents)), strict=True):
            if agent not in typed:
                losses[agent] = found
    return GameLoss(tuple(losses), protocol.by_source)


def _in_words(trace: Trace) -> set[AgentId]:
    """Return the agents that said something in free text."""
    sent = (event for event in trace.events if isinstance(event, MESSAGES))
    return {event.from_agent for event in sent if isinstance(event.content, Text)}


def _agreed(trace: Trace, prior: float) -> list[float]:
    """Return what the scheduled meetings give away of each typed agent, by agent id."""
    others = [0] * trace.scenario.num_agents
    participants: tuple[AgentId, ...] = ()
    for event in trace.events:
        if isinstance(event, RoundStart):
            participants = event.participants
        elif isinstance(event, Resolution) and event.outcome == "scheduled":
            for agent in participants:
                others[agent] += len(participants) - 1
    return [abs(1 - prior) * number for number in others]


def joint_kind(kinds: Iterable[VpsKind | None]) -> str | None:
    """Return how a row's agent-games were measured: one kind, ``mixed``, or ``None``."""
    found = {kind for kind in kinds if kind is not None}
    return "mixed" if len(found) > 1 else next(iter(found), None)
