"""Each agent's privacy loss by the estimator that fits its seat (paper, section 3.2).

What a typed agent says has a known meaning, and so has its loss, whoever hears it. What a
language agent says is measured by what other language agents report to have learnt; typed
agents cannot read prose, and learn nothing from it.
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
    """What an agent gave away in a game, in slot-equivalents.

    The first three are absent for a language agent of whom no readable reflection speaks: unknown
    is not zero. ``participants`` may be absent alone.

    Attributes:
        kind: how it was measured.
        total: V, over all observers and rounds.
        participants: V over pairs that both took part in the round's meeting.
        by_round: the terms of V; without a term a round leaked nothing of a typed agent, and
            an unknown amount of a language agent.
    """

    kind: VpsKind | None
    total: float | None
    participants: float | None
    by_round: Mapping[int, float]

    def of_round(self, number: int) -> float | None:
        """Return what a round gave away, in slot-equivalents; ``None`` if unknown."""
        return self.by_round.get(number, 0.0 if self.kind == "protocol" else None)


class GameLoss(NamedTuple):
    """The privacy loss of a game.

    Attributes:
        by_agent: by agent id.
        by_source: what typed agents gave away, by message kind and channel.
    """

    by_agent: tuple[AgentLoss, ...]
    by_source: Mapping[tuple[str, Route], float]


def game_loss(
    trace: Trace,
    players: Sequence[Player],
    measure: MeasureSpec = DEFAULT_MEASURE,
    beliefs: Iterable[RoundBeliefs] | None = None,
) -> GameLoss:
    """Measure what each agent of a game gave away.

    Args:
        trace: the game.
        players: who sat where, by agent id.
        measure: the prior of typed evidence.
        beliefs: the game's rounds, if they were replayed already.
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
    """Return how a row's agent-games were measured: one kind, ``mixed``, or not at all."""
    found = {kind for kind in kinds if kind is not None}
    return "mixed" if len(found) > 1 else next(iter(found), None)
