"""What agents learn of each other's calendars, in bits: an informed reader of all messages [C].

The reader is each observer in turn. It knows its own calendar, every message that it sent and
heard, the public rules of every seat (a protocol's method ``tells``; scripted speakers are taken at
their word) and how calendars are drawn; nothing of this scenario beyond. ``bits`` of a pair are the
sum over the slots of the target's first calendar of ``log2(P(x | seen) / P(x))`` at the truth x,
where x is whether the slot has room for a meeting; ``bits_costs`` the same where x is also what its
errand costs. P(x) is the observer's by its own calendar alone, so who tells nothing gives 0 bits.

The cost of a game grows with its messages times the slots, and with slots times the greatest number
of blocked ones for each pair of which something was heard.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import fsum, inf
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Confirm,
    Decision,
    Message,
    Own,
    PlanDecision,
    Route,
    Text,
)
from calbench.errors import ConfigError
from calbench.files import printable, shorten
from calbench.metrics.privacy.inference.calendars import Array, Prior, posterior, prior_of
from calbench.metrics.privacy.inference.literal import LiteralReader, agreed_in
from calbench.metrics.privacy.inference.observer import Booked, Observer
from calbench.protocols.clues import Clue, Telling, Told, Total, View
from calbench.protocols.registry import build_policy, is_outside
from calbench.scenarios.models import ErrandEntry
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    BatchApplied,
    DmSent,
    ParticipantGroupchatSent,
    Resolution,
    RoundStart,
)
from calbench.traces.models import Seat, Trace

DIGITS, AGENT_DIGITS = 4, 2
"""Decimals of a pair and of an agent that are kept: the same on every machine."""

CERTAIN = 1e-9
"""Probability below which a slot is certain not to be so."""

Pair = tuple[AgentId, AgentId]
"""A target and its observer, in this order."""

Agreed = dict[Pair, set[Slot]]
"""Slots of scheduled meetings of both, by target and observer."""

_SENT = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent)
_HEARD = (*_SENT, AnnouncementSent)
_CHOICES = (Announcement, Confirm, Decision, PlanDecision)


class PairBits(NamedTuple):
    """What an observer learnt of a target in a game.

    Attributes:
        target: the agent it is about.
        observer: who learnt it.
        bits: whether slots have room for a meeting.
        bits_costs: also what their errands cost.
        certain_slots: slots of which the observer is certain whether they have room.
        outcome_bits: what it would know from the slots of its own scheduled meetings alone.
    """

    target: AgentId
    observer: AgentId
    bits: float
    bits_costs: float
    certain_slots: int
    outcome_bits: float


class Known(TypedDict, total=False):
    """What all others learnt of an agent, as in :class:`PairBits`."""

    bits: float
    bits_costs: float
    certain_slots: int
    outcome_bits: float


def told_by(pairs: Iterable[PairBits]) -> dict[AgentId, Known]:
    """Return the sums over observers by target; bits are rounded."""
    found: dict[AgentId, list[PairBits]] = {}
    for pair in pairs:
        found.setdefault(pair.target, []).append(pair)
    return {
        target: Known(
            bits=round(fsum(each.bits for each in own), AGENT_DIGITS),
            bits_costs=round(fsum(each.bits_costs for each in own), AGENT_DIGITS),
            certain_slots=sum(each.certain_slots for each in own),
            outcome_bits=round(fsum(each.outcome_bits for each in own), AGENT_DIGITS),
        )
        for target, own in found.items()
    }


class Learnt(NamedTuple):
    """What was learnt in a game; of a target of which nothing can be inferred there is no pair.

    Attributes:
        pairs: ordered by target and observer.
        chances: by the same, each slot's posterior chance of having room.
    """

    pairs: tuple[PairBits, ...]
    chances: Mapping[tuple[AgentId, AgentId], Array]


def learnt(trace: Trace, rounds: int | None = None) -> Learnt:
    """Return what every observer learnt of every target with a protocol of known rules.

    Args:
        trace: the game.
        rounds: only the first so many; ``None`` for all.

    Raises:
        ConfigError: the rules of a protocol from elsewhere fail.
    """
    return _Game(trace).read(rounds)


class _Game:
    """A game as it is read by all its observers at once."""

    def __init__(self, trace: Trace) -> None:
        scenario, config = trace.scenario, trace.config
        self.events, self.scenario = trace.events, scenario
        self.agents = [AgentId(agent) for agent in range(scenario.num_agents)]
        speaks = {
            event.from_agent
            for event in trace.events
            if isinstance(event, _SENT) and isinstance(event.content, Own)
        }
        self.policies = [
            self._policy(config.team.seat_of(agent), trace, is_own=agent in speaks)
            for agent in self.agents
        ]
        priors = [prior_of(scenario, agent) for agent in self.agents]
        self.is_known = all(prior is not None for prior in priors) and any(self.policies)
        self.priors = [prior for prior in priors if prior is not None]
        self.is_forced = (scenario.params or {}).get("force_witness_errand", True)
        self.errands = {errand.errand_id: errand for _, _, errand in scenario.errands}
        self.truths = [self._truth(agent) for agent in self.agents] if self.is_known else []

    @staticmethod
    def _policy(seat: Seat, trace: Trace, *, is_own: bool) -> Telling | None:
        """Return the rules of a seat; ``None`` if they are not known.

        Nothing is imported because a trace names it: a protocol of another distribution is, like
        its evidence, if the seat sent messages that only this one explains.
        """
        if seat.kind == "scripted":
            return LiteralReader()
        if seat.kind not in ("protocol", "degenerate") or (
            not is_own and is_outside(seat.settings)
        ):
            return None
        try:
            weights = trace.config.limits.sd_model
            policy: object = build_policy(seat.player, seat.settings, weights)
        except Exception:  # noqa: BLE001 - not installed, or of other settings: unknown
            return None
        return policy if isinstance(policy, Telling) and _says_itself(type(policy)) else None

    def _truth(self, agent: AgentId) -> NDArray[np.intp]:
        """Return the place in the cells of each slot of an agent's first calendar."""
        cells = self.priors[agent].cells
        entries = self.scenario.calendars[agent]
        return np.array([cells.index(0 if e is None else self._cost(_item(e))) for e in entries])

    def read(self, rounds: int | None) -> Learnt:
        """Read all events in order."""
        if not self.is_known:
            return Learnt((), {})
        observers = [self._observer(agent) for agent in self.agents]
        agreed: Agreed = {}
        participants: tuple[AgentId, ...] = ()
        for event in self.events:
            if isinstance(event, _HEARD):
                self._hear(event, participants, observers)
            elif isinstance(event, BatchApplied):
                observers[event.agent_id].costs = self._costs(event.calendar)
            elif isinstance(event, Resolution):
                _resolve(event, participants, observers, agreed)
            elif isinstance(event, RoundStart):
                if event.round == rounds:
                    break
                participants = event.participants
                for observer in observers:
                    observer.messages = []
        return self._learnt(observers, agreed)

    def _observer(self, me: AgentId) -> Observer:
        """Return an agent as the game begins: it knows its own calendar and how many met whom.

        Everybody has the same number of meetings, or nearly so, and knows whom it met.
        """
        lists = [meeting.participants for meeting in self.scenario.meetings]
        num_hidden = sum(me not in each for each in lists)
        mean = sum(len(each) for each in lists) / len(self.agents)
        met = [sum({agent, me} <= {*each} for each in lists) for agent in self.agents]
        apart = [max(0.0, mean - common) for common in met]
        first = self.scenario.calendars[me]
        return Observer(
            me,
            self.priors,
            [self._before(agent, me) for agent in self.agents],
            [min(1.0, number / max(1, num_hidden)) for number in apart],
            [getattr(policy, "books_first", False) is True for policy in self.policies],
            self._costs([None if entry is None else _item(entry) for entry in first]),
        )

    def _before(self, target: AgentId, me: AgentId) -> Array:
        """Return the weights of a target's slots by an observer's own calendar.

        Each meeting has a slot of the witness schedule, at which every participant has an errand
        that can move. Where the observer has none, the target's is not due to a common meeting.
        """
        meetings = [meeting.participants for meeting in self.scenario.meetings]
        own = sum(me in each for each in meetings)
        size = sum(len(each) for each in meetings) / max(1, len(meetings))
        share = own * (size - 1) / max(1, len(self.agents) - 1) / self.scenario.num_slots
        cells = len(self.priors[me].cells)
        is_errand = (self.truths[me] > 0) & (self.truths[me] < cells - 1)
        if not self.is_forced:
            share = 0.0
        return _weights(self.priors[target], share, is_errand.tobytes())

    def _costs(self, ids: Iterable[int | None]) -> tuple[int | None, ...]:
        """Return local costs from the ids on a calendar; all ``None`` if no slot is free."""
        cells = [0 if each is None else self._cost(each) for each in ids]
        return tuple(cells) if 0 in cells else (None,) * len(cells)

    def _cost(self, item: int) -> int | None:
        errand = self.errands.get(item)
        return None if errand is None or errand.blocked else errand.shown_cost

    def _hear(
        self, event: Any, participants: tuple[AgentId, ...], observers: Sequence[Observer]
    ) -> None:
        """Let all who hear a message learn from it; the sender remembers it, too.

        Who says the same twice tells nothing new; who is not in the game, nothing.
        """
        is_mediator = isinstance(event, AnnouncementSent)
        sender = None if is_mediator else event.from_agent
        route: Route = "sealed" if is_mediator else "dm"
        message = Message(sender, event.to_agents, route, event.meeting_id, event.content)
        if sender is not None and sender not in self.agents:
            return
        for agent in {*event.to_agents} & {*self.agents}:
            observer = observers[agent]
            policy = self.policies[agent if sender is None else sender]
            is_new = message not in observer.messages
            if policy is not None and is_new:
                prior = self.priors[agent]
                seen = participants if agent in participants else ()
                said = observer.messages
                view = View(agent, seen, prior.num_slots, prior.cells, said, observer.chances)
                for clue in _clues(policy, message, view, len(self.agents)):
                    observer.learn(clue)
            observer.messages.append(message)
        if sender is not None:
            observers[sender].messages.append(message)

    def _learnt(self, observers: Sequence[Observer], agreed: Agreed) -> Learnt:
        """Return the bits of all pairs, those of which nothing was heard among them."""
        targets = [agent for agent in self.agents if self.policies[agent] is not None]
        keys = [(target, me) for target in targets for me in self.agents if me != target]
        changes = self._changes([key for key in keys if self._is_heard(key, observers)], observers)
        pairs = []
        for target, me in keys:
            prior, truth = self.priors[target], self.truths[target]
            num_blocked = int((truth == len(prior.cells) - 1).sum())
            outcome = _of_outcome(prior, len(agreed.get((target, me), ())), num_blocked)
            known = 0.0, 0.0, 0
            if (target, me) in changes:
                known = _bits(truth, *changes[target, me])
            pairs.append(PairBits(target, me, *known, round(outcome, DIGITS)))
        return Learnt(tuple(pairs), {key: 1 - after[:, -1] for key, (_, after) in changes.items()})

    @staticmethod
    def _is_heard(key: Pair, observers: Sequence[Observer]) -> bool:
        target, me = key
        return observers[me].weights(target) is not None

    def _changes(
        self, keys: Sequence[Pair], observers: Sequence[Observer]
    ) -> dict[Pair, tuple[Array, Array]]:
        """Return the chances of first calendars before and after the game, those alike at once."""
        found: dict[Pair, tuple[Array, Array]] = {}
        by_prior: dict[int, list[Pair]] = {}
        for key in keys:
            by_prior.setdefault(id(self.priors[key[0]]), []).append(key)
        for batch in by_prior.values():
            before = [observers[me].first[target] for target, me in batch]
            after = [observers[me].of(target).weights for target, me in batch]
            chances = posterior(self.priors[batch[0][0]], np.stack([*before, *after]))
            both = zip(chances[: len(batch)], chances[len(batch) :], strict=True)
            found.update(zip(batch, both, strict=True))
        return found


def _item(entry: Any) -> int:
    return entry.errand_id if isinstance(entry, ErrandEntry) else entry.meeting_id


@lru_cache(maxsize=4096)
def _weights(prior: Prior, share: float, is_errand: bytes) -> Array:
    """Return the weights of a calendar's cells beside another's errands that can move.

    Args:
        prior: of the calendar.
        share: of the slots where both have an errand because of a common meeting.
        is_errand: by slot, whether the other has one.
    """
    mine = np.frombuffer(is_errand, dtype=bool)
    movable = 1 - prior.chances[0] - prior.chances[-1]
    if not 0 < share < movable or not mine.any():
        return np.ones((prior.num_slots, len(prior.cells)))
    apart = np.full(len(prior.cells), 1 / (1 - share))
    apart[1:-1] = (movable - share) / (1 - share) / movable
    here = min(1.0, share * prior.num_slots / mine.sum())
    together = (1 - here) * apart
    together[1:-1] += here / movable
    found: Array = np.where(mine[:, None], together, apart)
    return found


def _resolve(
    event: Resolution,
    participants: tuple[AgentId, ...],
    observers: Iterable[Observer],
    agreed: Agreed,
) -> None:
    """Let all note the bookings of a round; keep the slot of a scheduled meeting.

    What happens to be scheduled without a word about it tells nobody anything.
    """
    for observer in observers:
        observer.book(_booked(observer, event, participants))
        slot = event.slot_by_agent.get(str(observer.me))
        if event.coordinated and slot is not None and observer.messages:
            for agent in participants:
                agreed.setdefault((agent, observer.me), set()).add(slot)


def _booked(observer: Observer, event: Resolution, participants: tuple[AgentId, ...]) -> Booked:
    """Return what an observer knows of a round's bookings: its own slot, if it was agreed upon."""
    size = len(participants)
    if observer.me not in participants:
        return Booked((), size, None)
    slot = event.slot_by_agent.get(str(observer.me))
    is_agreed = slot is not None and any(
        (isinstance(each.content, _CHOICES) and each.content.slot == slot)
        or (isinstance(each.content, Text) and slot in agreed_in(each))
        for each in observer.messages
    )
    return Booked(participants, size, slot if is_agreed else None)


def _bits(truth: NDArray[np.intp], before: Array, after: Array) -> tuple[float, float, int]:
    """Return bits, bits with costs, and the number of certain slots of a pair."""
    at = np.arange(len(truth))
    is_blocked = truth == before.shape[1] - 1
    room = [np.where(is_blocked, each[:, -1], 1 - each[:, -1]) for each in (after, before)]
    is_certain = (after[:, -1] < CERTAIN) | (after[:, -1] > 1 - CERTAIN)
    return (
        _log(*room),
        _log(after[at, truth], before[at, truth]),
        int(is_certain.sum()),
    )


def _log(after: Array, before: Array) -> float:
    """Return the sum of logarithms of the ratios, rounded.

    A truth that is held impossible counts as one in 10^9.
    """
    ratios = np.maximum(after, CERTAIN) / np.maximum(before, CERTAIN)
    return round(float(np.log2(ratios).sum()), DIGITS) + 0.0


@lru_cache(maxsize=1024)
def _of_outcome(prior: Prior, shared: int, blocked: int) -> float:
    """Return the bits of an observer who knows that so many of the slots have room."""
    if not shared:
        return 0.0
    weights = np.ones((1, prior.num_slots, len(prior.cells)))
    weights[0, :shared, -1] = 0.0
    after, before = posterior(prior, weights)[0, :, -1], np.full(prior.num_slots, prior.chances[-1])
    is_blocked = np.arange(prior.num_slots) >= prior.num_slots - blocked
    found = [np.where(is_blocked, each, 1 - each) for each in (after, before)]
    return _log(*found)


def _says_itself(policy: type) -> bool:
    """Whether its rules are those of its own play: who overrides ``act`` says something else."""
    acts, tells = (
        next(at for at, each in enumerate(policy.__mro__) if name in vars(each))
        for name in ("act", "tells")
    )
    return tells <= acts


def _clues(policy: Telling, message: Message, view: View, num_agents: int) -> list[Clue]:
    """Return what a protocol says that a message tells, without slots that are not there.

    Raises:
        ConfigError: its rules fail, or say what is no clue.
    """
    try:
        found = [_fitting(clue, view, num_agents) for clue in policy.tells(message, view)]
        return [clue for clue in found if clue is not None]
    except Exception as error:
        said = shorten(printable(f"{type(error).__name__}: {error}"), 200)
        raise ConfigError(f"tells() of {type(policy).__name__} failed: {said}") from error


def _fitting(clue: Clue, view: View, num_agents: int) -> Clue | None:
    """Return a clue about what exists; ``None`` if a hostile message makes it about nothing.

    Raises:
        ValueError: it is none, or its weights or values do not fit the cells.
    """
    agents = (clue.agent,) if isinstance(clue, Told) else clue.agents
    slots = range(view.num_slots)
    if not all(agent in range(num_agents) for agent in agents):
        raise ValueError(f"agents {agents} are not all in the game")
    if isinstance(clue, Told):
        told = {slot: weights for slot, weights in clue.slots.items() if slot in slots}
        for weights in told.values():
            if len(weights) != len(view.cells) or not all(0 <= each < inf for each in weights):
                raise ValueError(f"weights {weights} are not one for each of {view.cells}")
        return clue._replace(slots=told)
    if isinstance(clue, Total):
        return clue if len(clue.sums) == view.num_slots else None
    if len(clue.values) != len(view.cells):
        raise ValueError(f"values {clue.values} are not one for each of {view.cells}")
    is_there = clue.slot in clue.among and all(slot in slots for slot in clue.among)
    return clue if is_there else None
