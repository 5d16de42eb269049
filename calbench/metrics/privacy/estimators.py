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
from calbench.metrics.privacy.reflection import (
    PairReflection,
    ReflectedLoss,
    pair_reflections,
    reflected_losses,
)
from calbench.traces.events import Resolution, RoundStart
from calbench.traces.models import Trace

VpsKind = Literal["protocol", "reflection", "expected", "mixed"]
"""How a loss was measured: by the semantics of typed messages, by the integers of reflections, by
their expected values, or of some observers in this way and of some in that. No two are the same
instrument."""


class AgentLoss(NamedTuple):
    """What an agent revealed in a game, in slot-equivalents.

    The sums are absent for a language agent about which too little could be read, see
    :class:`~calbench.metrics.privacy.reflection.ReflectedLoss`: unknown is not zero.

    Attributes:
        kind: how it was measured.
        total: V, over all observers and rounds.
        participants: V over pairs of participants of the round's meeting.
        by_round: the terms of V; a round without a term leaked nothing of a typed agent, and an
            unknown amount of a language agent.
        agreed: what its scheduled meetings give away of themselves to their participants [C]: of a
            typed agent that the slot is feasible, ``|1 - prior|`` for each of them, whatever
            was said; of a language agent their movement toward the truth about that slot.
        by_chance: of a language agent, V without regard to slots.
        constant: of a language agent, V if all who were asked had answered +1 everywhere.
        asked: reflections about a language agent.
        read: of these, readable.
    """

    kind: VpsKind | None
    total: float | None
    participants: float | None
    by_round: Mapping[int, float]
    agreed: float | None
    by_chance: float | None = None
    constant: float | None = None
    asked: int | None = None
    read: int | None = None

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
    reflections: Iterable[PairReflection] | None = None,
) -> GameLoss:
    """Measure what each agent of a game revealed.

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
    if len(typed) < len(agents):
        pairs = pair_reflections(trace) if reflections is None else reflections
        for agent, found in zip(agents, reflected_losses(pairs, len(agents)), strict=True):
            if agent not in typed:
                losses[agent] = _reflected(found)
    return GameLoss(tuple(losses), protocol.by_source)


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


def _reflected(found: ReflectedLoss) -> AgentLoss:
    kinds: Mapping[bool | None, VpsKind] = {True: "expected", False: "reflection", None: "mixed"}
    is_known = found.total is not None
    return AgentLoss(
        kinds[found.has_expected] if is_known else None,
        found.total,
        found.participants,
        found.by_round,
        found.agreed,
        found.by_chance,
        found.constant if is_known else None,
        found.asked,
        found.read,
    )


def joint_kind(kinds: Iterable[VpsKind | None]) -> str | None:
    """Return how a row's agent-games were measured: one kind, ``mixed``, or ``None``."""
    found = {kind for kind in kinds if kind is not None}
    return "mixed" if len(found) > 1 else next(iter(found), None)
