"""Privacy loss of a game by VPS, in slot-equivalents (paper, section 3.2 and appendix F)."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import Literal, NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Route
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.privacy.evidence import EVIDENCE_RULES, Evidence, RoundTalk, Rule, updates_of
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    DmSent,
    Event,
    MessageSent,
    ParticipantGroupchatSent,
    Resolution,
    RoundStart,
    SealedSent,
)
from calbench.traces.models import Trace

Pair = tuple[AgentId, AgentId]
"""A target and its observer, in this order."""


class BeliefMatrix:
    """Beliefs of one round: for each (target, observer), one number in 0..1 per slot.

    A belief is the observer's probability that the slot is feasible for the target. All beliefs
    are at the prior when the round begins (section 3.2) [P]; only pairs with evidence are stored.
    """

    def __init__(self, num_slots: int, prior: float) -> None:
        """Begin a round of ``num_slots`` slots with every belief at ``prior``."""
        self._num_slots = num_slots
        self._prior = prior
        self._moved: dict[Pair, list[float]] = {}

    def update(
        self, pair: Pair, evidence: Iterable[tuple[Slot, float]], strength: float
    ) -> list[tuple[float, float]]:
        """Update beliefs one by one: ``b <- (1 - k) b + k e`` [P, appendix F.1].

        Args:
            pair: target and observer.
            evidence: slots in ``0..num_slots-1``, each with e, 1 for feasible and 0 for
                infeasible.
            strength: k; 1 replaces the belief, 0 leaves it.

        Returns:
            Each belief before and after.
        """
        beliefs = self._moved.get(pair)
        if beliefs is None:
            beliefs = self._moved[pair] = [self._prior] * self._num_slots
        steps = []
        for slot, told in evidence:
            before = beliefs[slot]
            after = told if strength == 1 else (1 - strength) * before + strength * told
            beliefs[slot] = after
            steps.append((before, after))
        return steps

    @property
    def moved(self) -> Mapping[Pair, list[float]]:
        """The belief vectors of the pairs with evidence, one number per slot."""
        return self._moved


CHANNEL_BY_EVENT: dict[type[Event], Route] = {
    DmSent: "dm",
    ParticipantGroupchatSent: "participant_groupchat",
    AllAgentGroupchatSent: "all_agent_groupchat",
    SealedSent: "sealed",
    AnnouncementSent: "sealed",
}


_TELLING = frozenset({*CHANNEL_BY_EVENT, RoundStart, Resolution})
MESSAGES = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, SealedSent)


VpsKind = Literal["protocol", "reflection", "expected", "mixed"]
"""How a loss was measured: by the semantics of typed messages, by the integers of reflections, by
their expected values, or of some observers in this way and of some in that. No two are the same
instrument."""


class AgentLoss(NamedTuple):
    """What an agent revealed in a game, in slot-equivalents.

    The sums about a language agent are estimated from the readable answers, see
    :mod:`calbench.metrics.privacy.answers`. They are absent if nobody was asked about it, or of the
    pairs of two participants or of the others none could be read: unknown is not zero.

    Attributes:
        kind: how it was measured.
        total: V, over all observers and rounds.
        participants: V over pairs of participants of the round's meeting.
        by_round: the terms of V; a round without a term leaked nothing of a typed agent, and an
            unknown amount of a language agent: of one kind of pairs none could be read.
        agreed: what its scheduled meetings give away of themselves to their participants [C]: of a
            typed agent that the slot is feasible, ``|1 - prior|`` for each of them, whatever
            was said; of a language agent their movement toward the truth about that slot.
        by_chance: of a language agent, the mean of V over permutations of its observers' answers.
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


class Heard(NamedTuple):
    """How one message changed the beliefs of one observer about one target.

    Attributes:
        event_index: of the message.
        target: the agent it is about.
        observer: the agent that receives it.
        source: kind of the message.
        channel: of the message.
        evidence: slots in the order of the updates, with e.
        strength: k of all of them.
        steps: belief before and after each update.
    """

    event_index: int
    target: AgentId
    observer: AgentId
    source: str
    channel: Route
    evidence: Evidence
    strength: float
    steps: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class RoundBeliefs:
    """The beliefs at the end of a round, and the updates that led to them.

    Attributes:
        round: number of the round, from 0.
        participants: of the meeting under discussion.
        beliefs: belief vector, one number per slot, of every pair with evidence.
        heard: the updates in order, grouped by message and pair.
    """

    round: int
    participants: tuple[AgentId, ...]
    beliefs: Mapping[Pair, list[float]]
    heard: tuple[Heard, ...]

    def is_participant_pair(self, pair: Pair) -> bool:
        """Whether target and observer both take part in the round's meeting."""
        return pair[0] in self.participants and pair[1] in self.participants


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """What each agent of a game revealed, in slot-equivalents.

    Attributes:
        by_agent: V, over all observers and rounds, by target.
        participant_pairs_by_agent: the same over pairs of participants of the round's meeting.
        by_source: the sum over all targets, split by message kind and channel. A message's
            share is the change of ``|b - prior|`` it caused, so shares add up to the whole; a
            message that moves a belief back to the prior has a negative share [C].
        by_agent_round: the terms of ``by_agent``, by round; a round without evidence has none.
    """

    by_agent: tuple[float, ...]
    participant_pairs_by_agent: tuple[float, ...]
    by_source: Mapping[tuple[str, Route], float]
    by_agent_round: tuple[Mapping[int, float], ...]


def round_beliefs(
    trace: Trace,
    measure: MeasureSpec = DEFAULT_MEASURE,
    rules: Mapping[type, Rule] = EVIDENCE_RULES,
) -> Iterator[RoundBeliefs]:
    """Replay the messages of a game; yield the beliefs of each resolved round."""
    num_slots = trace.scenario.num_slots
    talk = RoundTalk((), num_slots)
    matrix = BeliefMatrix(num_slots, measure.belief_prior)
    heard: list[Heard] = []
    for index, event in enumerate(trace.events):
        if type(event) not in _TELLING:  # the fastest test, which skips most events
            continue
        if isinstance(event, MESSAGES):
            heard += _hear(index, event, talk, matrix, rules)
            talk.add(event)
        elif isinstance(event, AnnouncementSent):
            heard += _hear(index, event, talk, matrix, rules)
        elif isinstance(event, RoundStart):
            talk = RoundTalk(event.participants, num_slots)
            matrix = BeliefMatrix(num_slots, measure.belief_prior)
            heard = []
        elif isinstance(event, Resolution):
            yield RoundBeliefs(event.round, talk.participants, matrix.moved, tuple(heard))


def _hear(
    index: int,
    message: MessageSent | AnnouncementSent,
    talk: RoundTalk,
    matrix: BeliefMatrix,
    rules: Mapping[type, Rule],
) -> Iterator[Heard]:
    source, channel = message.content.kind, CHANNEL_BY_EVENT[type(message)]
    for target, observers, evidence, strength in updates_of(message, talk, rules):
        for observer in observers if evidence else ():
            steps = matrix.update((target, observer), evidence, strength)
            yield Heard(index, target, observer, source, channel, evidence, strength, steps)


def pair_loss(beliefs: list[float], prior: float) -> float:
    """Return ``sum_s |b_s - prior|`` of one pair and round, in slots [P, Equation 1]."""
    return fsum([abs(belief - prior) for belief in beliefs])


def excess_loss(loss: float, floor: float) -> float:
    """Return ``max(0, V - floor)``: loss above the free communication floor [P, F.3]."""
    return max(0.0, loss - floor)


def privacy_loss(
    trace: Trace,
    measure: MeasureSpec = DEFAULT_MEASURE,
    rules: Mapping[type, Rule] = EVIDENCE_RULES,
    targets: Container[AgentId] | None = None,
    beliefs: Iterable[RoundBeliefs] | None = None,
) -> PrivacyLoss:
    """Return the privacy loss of a game by agent, and by message source and channel.

    Args:
        trace: the game.
        measure: the prior.
        rules: what messages tell.
        targets: agents whose loss counts; ``None`` for all.
        beliefs: the game's rounds under this measure and these rules, if already replayed.
    """
    prior = measure.belief_prior
    agents = range(trace.scenario.num_agents)
    losses: list[dict[int, list[float]]] = [{} for _ in agents]
    participant_losses: list[list[float]] = [[] for _ in agents]
    shares: dict[tuple[str, Route], list[float]] = {}
    rounds = round_beliefs(trace, measure, rules) if beliefs is None else beliefs
    for each in rounds:
        for pair, vector in each.beliefs.items():
            if targets is not None and pair[0] not in targets:
                continue
            loss = pair_loss(vector, prior)
            losses[pair[0]].setdefault(each.round, []).append(loss)
            if each.is_participant_pair(pair):
                participant_losses[pair[0]].append(loss)
        for heard in each.heard:
            if targets is not None and heard.target not in targets:
                continue
            of_source = shares.setdefault((heard.source, heard.channel), [])
            of_source += [abs(after - prior) - abs(before - prior) for before, after in heard.steps]
    return PrivacyLoss(
        by_agent=tuple([fsum(chain.from_iterable(loss.values())) for loss in losses]),
        participant_pairs_by_agent=tuple([fsum(loss) for loss in participant_losses]),
        by_source={key: fsum(shares[key]) for key in sorted(shares)},
        by_agent_round=tuple(
            [{number: fsum(terms) for number, terms in loss.items()} for loss in losses]
        ),
    )
