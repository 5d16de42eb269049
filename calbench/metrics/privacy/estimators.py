"""Each agent's privacy loss by the estimator that fits its seat (paper, section 3.2).

The messages of a typed agent have a known meaning, so its loss is known for all listeners. The
loss of a language agent is what other language agents report to have learnt; typed agents cannot
read prose and learn nothing from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.messages import Route
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.players import Player
from calbench.metrics.privacy.loss import RoundBeliefs, privacy_loss
from calbench.metrics.privacy.reflection import reflected_loss
from calbench.traces.models import Trace

VpsKind = Literal["protocol", "reflection"]
"""How a loss was measured: by the semantics of typed messages, or by reflections."""


class AgentLoss(NamedTuple):
    """What an agent revealed in a game, in slot-equivalents.

    The first three are absent for a language agent without a readable reflection about it:
    unknown is not zero. ``participants`` may be absent alone.

    Attributes:
        kind: how it was measured.
        total: V, over all observers and rounds.
        participants: V over pairs of participants of the round's meeting.
        by_round: the terms of V; a round without a term leaked nothing of a typed agent, and an
            unknown amount of a language agent.
    """

    kind: VpsKind | None
    total: float | None
    participants: float | None
    by_round: Mapping[int, float]

    def of_round(self, number: int) -> float | None:
        """Return what a round revealed, in slot-equivalents; ``None`` if unknown."""
        return self.by_round.get(number, 0.0 if self.kind == "protocol" else None)


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
) -> GameLoss:
    """Measure what each agent of a game revealed.

    Args:
        trace: the game.
        players: by agent id.
        measure: the prior of typed evidence.
        beliefs: the game's rounds, if already replayed.
    """
    agents = [AgentId(agent) for agent in range(trace.scenario.num_agents)]
    typed = frozenset(agent for agent in agents if not players[agent].uses_language)
    protocol = privacy_loss(trace, measure, targets=typed, beliefs=beliefs)
    losses = [
        AgentLoss("protocol", total, participants, by_round)
        for total, participants, by_round in zip(
            protocol.by_agent,
            protocol.participant_pairs_by_agent,
            protocol.by_agent_round,
            strict=True,
        )
    ]
    if len(typed) < len(agents):
        reflected = reflected_loss(trace)
        for agent in agents:
            if agent not in typed:
                total = reflected.by_agent[agent]
                losses[agent] = AgentLoss(
                    None if total is None else "reflection",
                    total,
                    reflected.participant_pairs_by_agent[agent],
                    reflected.by_agent_round[agent],
                )
    return GameLoss(tuple(losses), protocol.by_source)


def joint_kind(kinds: Iterable[VpsKind | None]) -> str | None:
    """Return how a row's agent-games were measured: one kind, ``mixed``, or ``None``."""
    found = {kind for kind in kinds if kind is not None}
    return "mixed" if len(found) > 1 else next(iter(found), None)
