"""What agents learn of each other's calendars, in bits: an informed reader of all messages [C].

The reader is each observer in turn. It knows its own calendar, who takes part in its own meetings
(looking back, so in later ones as well), every message that it sent and heard, the public rules of
every seat (a protocol's method ``tells``; scripted speakers are taken at their word) and how
calendars are drawn; nothing of this scenario beyond. ``bits`` of a pair are the sum over the slots
of the target's first calendar of ``log2(P(x | seen) / P(x))`` at the truth x, where x is whether
the slot has room for a meeting; ``bits_costs`` the same where x is also what its errand costs. P(x)
is the observer's by its own calendar alone, so who tells nothing gives 0 bits.

The cost of a game grows with its messages times the slots, and for each pair of which something was
heard with slots times the greatest number of blocked ones, times the sets of meetings without the
observer, 8 at most.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import inf
from typing import Any

import numpy as np

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Message,
    Own,
    Route,
)
from calbench.metrics.privacy.inference.bits import (
    NOTHING,
    UNKNOWN,
    Band,
    Learnt,
    Pair,
    PairBits,
    Step,
    bands_of,
    bits_of,
    by_event,
    outcome_bits,
)
from calbench.metrics.privacy.inference.calendars import (
    Array,
    Prior,
    beside,
    posterior,
    prior_of,
)
from calbench.metrics.privacy.inference.knowledge import Books, Knowledge
from calbench.metrics.privacy.inference.lessons import Asked, Booked, Given, Lessons, Linked
from calbench.metrics.privacy.inference.observer import Observer, Rounds, chance_apart, others_of
from calbench.metrics.privacy.inference.rules import are_ours, clues_of, rules_of
from calbench.protocols.clues import Telling, View
from calbench.scenarios.balance import is_balanced
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
from calbench.traces.models import Limits, Trace

Agreed = dict[Pair, set[Slot]]
"""Slots of scheduled meetings of both, by target and observer."""

_SENT = frozenset({DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent})
_HEARD = _SENT | {AnnouncementSent}
_READ = _HEARD | {BatchApplied, Resolution, RoundStart}

LEAST_SWEEPS, LEAST_CAP = 6, 100
"""Sweeps of talk and messages of a round in the paper's adversarial games, the fewest of its games
(appendix B) [P]."""

MOST_HIDDEN = 3
"""Meetings without an observer that it tells apart [C]: all sets of them are gone through."""

Events = list[tuple[int, Any]]
"""Those of a game that say what was heard, booked and begun, each beside its index."""


def learnt(trace: Trace, rounds: int | None = None) -> Learnt:
    """Return what every observer learnt of every target with a protocol of known rules.

    Args:
        trace: the game.
        rounds: only the first so many; ``None`` for all.

    Raises:
        ConfigError: the rules of a protocol from elsewhere fail.
    """
    return learnt_of([trace], rounds)[0]


def learnt_of(traces: Sequence[Trace], rounds: int | None = None) -> list[Learnt]:
    """Return the same of many games, which are read together: most of them much sooner.

    Raises:
        ConfigError: the rules of a protocol from elsewhere fail.
    """
    found, alike = [UNKNOWN] * len(traces), dict[Prior, dict[int, _Game]]()
    lessons_of: dict[Prior, Lessons] = {}
    for place, trace in enumerate(traces):
        events = [(at, each) for at, each in enumerate(trace.events) if type(each) in _READ]
        prior, policies = prior_of(trace.scenario), _policies(trace, events)
        if prior is not None and any(policies):
            lessons = lessons_of.setdefault(prior, Lessons())
            game = _Game(trace, events, prior, policies, lessons)
            alike.setdefault(prior, {})[place] = game
            game.read(rounds)
            game.end = lessons.number()
    for prior, games in alike.items():
        results = _results([*games.values()], prior, lessons_of[prior])
        for place, each in zip(games, results, strict=True):
            found[place] = each
    return found


def _results(games: Sequence["_Game"], prior: Prior, lessons: Lessons) -> Iterator[Learnt]:
    """Yield what was learnt in games whose calendars are drawn alike; all is computed at once."""
    before = np.concatenate([game.before for game in games])
    moved = lessons.take_in(Knowledge(prior, before, max(each.num_hidden for each in games)))
    begun, places = np.unique(moved.rows, return_inverse=True)
    first = posterior(prior, before[begun])[places]
    after = posterior(prior, moved.weights, moved.hidden, moved.takes)
    truths = np.concatenate([game.truths[[target for target, _ in game.pairs]] for game in games])
    found = [*bits_of(truths[moved.rows], first, after)]
    room = 1 - after[:, :, -1]
    last = np.full(len(before), -1)
    last[moved.rows] = np.arange(len(moved.rows))  # of equal rows the last one counts
    heard = np.flatnonzero(last >= 0)
    starts = [game.first for game in games]
    bands = bands_of(
        room[last[heard]],
        truths[heard] < len(prior.cells) - 1,
        np.searchsorted(starts, heard, side="right") - 1,
        len(games),
    )
    ends = np.searchsorted(moved.numbers, [game.end for game in games]).tolist()
    for game, own, start, end in zip(games, bands, [0, *ends], ends, strict=False):
        steps = [
            Step(game.heard_in[number], game.pairs[row - game.first], *found[at])
            for at, number, row in zip(
                range(start, end),
                moved.numbers[start:end].tolist(),
                moved.rows[start:end].tolist(),
                strict=True,
            )
        ]
        yield game.learnt(steps, room[start:end], own)


def _policies(trace: Trace, events: Events) -> list[Telling | None]:
    """Return the rules by which each agent speaks, where they are known."""
    speaks = {
        event.from_agent
        for _, event in events
        if type(event) in _SENT and isinstance(event.content, Own)
    }
    config, by_seat, found = trace.config, {}, []
    for agent in map(AgentId, range(trace.scenario.num_agents)):  # most games have one seat for all
        seat, is_own = config.team.seat_of(agent), agent in speaks
        key = id(seat), is_own
        if key not in by_seat:
            by_seat[key] = rules_of(seat, config.limits.sd_model, is_own=is_own)
        found.append(by_seat[key])
    return found


def _pairs_of(
    agents: Sequence[AgentId],
    events: Events,
    policies: Sequence[Telling | None],
    *,
    is_small: bool,
) -> dict[Pair, int]:
    """Return the pairs of which something may be heard, ordered, and the last event that may tell.

    A message tells of its sender and, to who takes part, of the meeting's other members; rules
    from elsewhere may tell of anybody. In a small game all others count for who hears of one.
    """
    if not all(are_ours(type(each)) for each in policies if each is not None):
        end = events[-1][0] + 1 if events else 0
        return {(target, me): end for target in agents for me in agents if target != me}
    found: dict[Pair, int] = {}
    members: tuple[AgentId, ...] = ()
    for index, event in events:
        if type(event) is RoundStart:
            members = event.participants
        elif type(event) in _HEARD:
            sender = () if isinstance(event, AnnouncementSent) else (event.from_agent,)
            everybody = (*sender, *members)
            for me in event.to_agents:
                for target in everybody if me in members else sender:
                    found[target, me] = index
    hear = {me for _, me in found} if is_small else set()
    pairs = [pair for pair in permutations(agents, 2) if pair in found or pair[1] in hear]
    return {pair: found.get(pair, 0) for pair in pairs}


def _is_together(policies: Sequence[Telling | None], limits: Limits) -> bool:
    """Whether all who take part book the same slot, by the same rules and with talk enough.

    Everybody knows both. Less talk than the tightest of the paper's games leaves may not do.
    """
    caps = [each for each in (limits.dm_cap, limits.agent_cap) if each is not None]
    is_enough = limits.max_turns_per_round >= LEAST_SWEEPS and min(caps, default=inf) >= LEAST_CAP
    says_so = all(getattr(each, "books_together", False) is True for each in policies)
    return is_enough and says_so and len({*map(type, policies)}) == 1


def _books(policy: object, *, is_small: bool) -> Books:
    """Return in which of the slots with room for all the meetings of such a player are.

    In a game that is not small, costs of others are not added up: they would take most of the time.
    """
    kinds: tuple[Books, ...] = ("first", "cheapest") if is_small else ("first",)
    return next((k for k in kinds if getattr(policy, f"books_{k}", False) is True), "anywhere")


class NotYetError(BaseException):
    """Rules ask for what is known only when all earlier lessons are taken in.

    It passes through rules of strangers, which may catch every ``Exception``.
    """


class _Game:
    """A game as it is read by all its observers at once.

    Attributes:
        pairs: of which something may be heard, ordered.
        last: of each, the last event after which bookings do not matter.
        first: row of the first of them among those of all games.
        before: what each knows by the observer's own calendar.
        truths: the place in the cells of each slot of the first calendars, by agent.
        said: what was said in this round, by sender, recipients and meeting.
        num_hidden: meetings without an observer that are told apart, at most.
        hidden: of each pair, which of these the target may have held by now.
        is_linked: whether all book their meetings in the same slot, by the same rules, and who
            takes part in whose follows from how that is drawn.
        last_heard: number of what each heard last in this round.
        told: events that tell something, or may.
        heard_in: in which event something was heard that may teach, by its number.
        end: number behind the last of these.
    """

    def __init__(
        self,
        trace: Trace,
        events: Events,
        prior: Prior,
        policies: Sequence[Telling | None],
        lessons: Lessons,
    ) -> None:
        scenario = trace.scenario
        self.events, self.scenario, self.prior = events, scenario, prior
        self.policies, self.lessons = policies, lessons
        self.agents = [AgentId(agent) for agent in range(self.scenario.num_agents)]
        self.there = frozenset(self.agents)
        moved = {meeting.cost for meeting in scenario.meetings}
        self.moved = moved.pop() if len(moved) == 1 else None
        self.costs: dict[int | None, int | None] = {
            errand.errand_id: None if errand.blocked else errand.shown_cost
            for _, _, errand in self.scenario.errands
        } | {None: 0}
        self.calendars = [
            [None if entry is None else _item(entry) for entry in scenario.calendars[agent]]
            for agent in self.agents
        ]
        # An errand that costs nothing is as a free slot: of equal costs the first place counts.
        place = {cost: at for at, cost in reversed([*enumerate(prior.cells)])}
        self.truths = np.array([[place[self.costs.get(i)] for i in ids] for ids in self.calendars])
        self.num_hidden = self._num_hidden()
        last_by_pair = _pairs_of(self.agents, events, policies, is_small=self.num_hidden > 0)
        self.pairs, self.last = [*last_by_pair], [*last_by_pair.values()]
        self.first = lessons.begin(len(self.pairs))
        self.before = self._before()
        books = [_books(policy, is_small=self.num_hidden > 0) for policy in policies]
        self.books = [books[target] for target, _ in self.pairs]
        rows: dict[AgentId, dict[AgentId, int]] = {agent: {} for agent in self.agents}
        for row, (target, me) in enumerate(self.pairs, self.first):
            rows[me][target] = row
        self.observers = [*self._observers(rows)]
        self.hidden: list[Rounds] = [() for _ in self.pairs]
        self.is_linked = self.num_hidden > 0 and _is_together(policies, trace.config.limits)
        if self.is_linked or {*self.books} != {"anywhere"}:  # what is known of others counts, too
            self.last = self._last_of_all()
        self.agreed: Agreed = {}
        self.said: dict[object, list[object]] = {}
        self.last_heard: dict[AgentId, int] = {}
        self.told: set[int] = set()
        self.heard_in: dict[int, int] = {}
        self.end = 0

    def read(self, rounds: int | None) -> None:
        """Read all events in order, and note what they teach."""
        participants: tuple[AgentId, ...] = ()
        for index, event in self.events:
            kind = type(event)
            if kind in _HEARD:
                self._hear(index, event, participants)
            elif kind is BatchApplied:
                self.observers[event.agent_id].costs = self._costs(event.calendar)
            elif kind is Resolution:
                self._resolve(index, event, participants)
            else:
                if event.round == rounds:
                    break
                participants = event.participants
                self.lessons.begin_round(event.round)
                self.said, self.last_heard = {}, {}
                for observer in self.observers:
                    observer.round_index, observer.messages = event.round, []

    def _num_hidden(self) -> int:
        """Return how many meetings without an observer are told apart: 0 if there are too many."""
        held = [{*meeting.participants} for meeting in self.scenario.meetings]
        most = max(sum(me not in each for each in held) for me in self.agents)
        return most if most <= MOST_HIDDEN else 0

    def _last_of_all(self) -> list[int]:
        """Return by pair the last event that may tell its observer of anybody."""
        last = dict[AgentId, int]()
        for (_, me), event in zip(self.pairs, self.last, strict=True):
            last[me] = max(event, last.get(me, event))
        return [last[me] for _, me in self.pairs]

    def _observers(self, rows: Mapping[AgentId, Mapping[AgentId, int]]) -> Iterator[Observer]:
        """Yield the agents as the game begins: each knows its own calendar."""
        lists = [
            tuple(sorted(map(AgentId, meeting.participants))) for meeting in self.scenario.meetings
        ]
        num_agents, size = len(self.agents), sum(map(len, lists)) / max(1, len(lists))
        is_drawn = is_balanced(lists, num_agents)
        for me in self.agents:
            seen = tuple([each if me in each else None for each in lists])
            others = others_of(me, num_agents, size, seen, is_drawn=is_drawn)
            costs = self._costs(self.calendars[me])
            yield Observer(me, self.prior.cells, rows[me], costs, others)

    def _before(self) -> Array:
        """Return by pair the weights of the target's slots by the observer's own calendar.

        Each meeting has a slot of the witness schedule, at which every participant has an errand
        that can move. Where the observer has none, another's is not due to a common meeting.
        """
        meetings, prior = self.scenario.meetings, self.prior
        size = sum(len(each.participants) for each in meetings) / max(1, len(meetings))
        is_forced = (self.scenario.params or {}).get("force_witness_errand", True)
        is_errand = (self.truths > 0) & (self.truths < len(prior.cells) - 1)
        by_observer = []
        for me in self.agents:
            own = sum(me in each.participants for each in meetings)
            share = own * (size - 1) / max(1, len(self.agents) - 1) / prior.num_slots
            known = share if is_forced else 0.0
            by_observer.append(beside(prior, known, is_errand[me].tobytes()))
        return np.array(by_observer)[[me for _, me in self.pairs]]

    def _costs(self, ids: Iterable[int | None]) -> tuple[int | None, ...]:
        """Return local costs from the ids on a calendar; all ``None`` if no slot is free."""
        cells = tuple(map(self.costs.get, ids))
        return cells if 0 in cells else (None,) * len(cells)

    def _hear(self, index: int, event: Any, participants: tuple[AgentId, ...]) -> None:
        """Let all who hear a message learn from it; the sender remembers it, too.

        Who says the same twice tells nothing new; who is not in the game, nothing.
        """
        is_mediator = isinstance(event, AnnouncementSent)
        sender = None if is_mediator else event.from_agent
        if sender is not None and sender not in self.there:
            return
        route: Route = "sealed" if is_mediator else "dm"
        message = Message(sender, event.to_agents, route, event.meeting_id, event.content)
        before = self.said.setdefault((sender, event.to_agents, event.meeting_id), [])
        is_new = event.content not in before
        before.append(event.content)
        for agent in self.there.intersection(event.to_agents):
            observer = self.observers[agent]
            policy = self.policies[agent if sender is None else sender]
            if policy is not None:
                self.told.add(index)
                if is_new:
                    seen = participants if agent in participants else ()
                    self._teach(index, observer, policy, message, seen)
            observer.messages.append(message)
        if sender is not None:
            self.observers[sender].messages.append(message)

    def _teach(
        self,
        index: int,
        observer: Observer,
        policy: Telling,
        message: Message,
        participants: tuple[AgentId, ...],
    ) -> None:
        """Note what a message teaches who hears it: now, or once it is known what it knows."""
        number = self.lessons.number()
        self.heard_in[number] = index
        self.last_heard[observer.me] = number
        prior, size, me = self.prior, len(self.agents), observer.me
        heard = observer.messages
        view = View(me, participants, prior.num_slots, prior.cells, heard, _not_yet, self.moved)
        try:
            clues = clues_of(policy, message, view, size)
        except NotYetError:
            view = view._replace(messages=(*observer.messages,))
            known = replace(observer)

            def answers(chances: Callable[[int], Array]) -> Iterator[Given]:
                of_agent = view._replace(chances=lambda agent: chances(known.rows[agent]))
                for clue in clues_of(policy, message, of_agent, size):
                    yield from known.lessons(clue, number)

            row = None if message.sender is None else observer.rows.get(message.sender)
            self.lessons.add(Asked([*observer.rows.values()], row, answers))
            return
        for clue in clues:
            for lesson in observer.lessons(clue, number):
                self.lessons.add(lesson)

    def _resolve(self, index: int, event: Resolution, participants: tuple[AgentId, ...]) -> None:
        """Let all note the bookings of a round; keep the slot of a scheduled meeting.

        What happens to be scheduled without a word about it tells nobody anything.
        """
        self._link()
        self._book(index, event, participants)
        for observer in self.observers:
            slot = event.slot_by_agent.get(str(observer.me))
            if event.coordinated and slot is not None and observer.messages:
                for agent in participants:
                    self.agreed.setdefault((agent, observer.me), set()).add(slot)

    def _link(self) -> None:
        """Note what a round's talk tells of meetings that were held before it, and not by whom."""
        for me, number in self.last_heard.items() if self.is_linked else ():
            observer, others = self.observers[me], self.observers[me].others
            rows = [*observer.rows.values()]
            hidden = [self.hidden[row - self.first] for row in rows]
            partners = others.partners([*observer.rows], hidden) if observer.is_together else None
            if partners is not None:
                self.lessons.add(Linked(number, rows, partners, others.size))

    def _book(self, index: int, event: Resolution, participants: tuple[AgentId, ...]) -> None:
        """Note a round's bookings in what each observer knows.

        Who takes no part knows of them what it overheard: where, and of those who talked. Of a
        pair of which nothing more is heard no booking matters, see ``last``.
        """
        open_ = [at for at, last in enumerate(self.last) if last > index]
        if not open_ or not participants:
            return
        members, size = {*participants}, len(participants)
        known: dict[AgentId, tuple[Slot | None, set[AgentId]]] = {
            observer.me: (observer.agreed(event), members)
            if observer.me in members
            else observer.overheard()
            for observer in self.observers
        }
        chance, number, takes = list[float](), list[int](), list[Array]()
        common: dict[int, Slot] = {}
        apart: dict[int, Slot] = {}
        for place, at in enumerate(open_):
            target, me = self.pairs[at]
            slot, there = known[me]
            is_known, observer = len(there) == size, self.observers[me]
            chance.append(float(target in there) if is_known else observer.chance(target))
            if slot is not None and target in there:
                common[place] = slot
            elif slot is not None and me in members:
                apart[place] = slot
            is_hidden = me not in members and place not in common and self.num_hidden > 0
            which = observer.others.number_of(event.round) if is_hidden else -1
            # A trace may resolve another round than its scenario has, or one twice.
            is_hidden = which >= 0 and all(which != each for each, _ in self.hidden[at])
            if is_hidden:
                self.hidden[at] += ((which, target in there if is_known else None),)
                takes.append(observer.others.takes(target, self.hidden[at]))
            number.append(which if is_hidden else -1)
        rows, books = [self.first + at for at in open_], [self.books[at] for at in open_]
        observers = [next(iter(self.observers[self.pairs[at][1]].rows.values())) for at in open_]
        everywhere = chance_apart(len(self.agents), size)
        known_of = (rows, chance, number, takes)
        booked = Booked(*known_of, common, apart, everywhere, size, books, observers)
        self.lessons.add(booked)

    def learnt(self, steps: Sequence[Step], room: Array, bands: Sequence[Band]) -> Learnt:
        """Return the bits of all pairs, those of which nothing was heard among them.

        Args:
            steps: what was known, in order.
            room: the chances of room of each.
            bands: how right these are.
        """
        prior, pairs = self.prior, []
        last = {step.pair: step for step in steps}
        blocked = (self.truths == len(prior.cells) - 1).sum(axis=1).tolist()
        targets = [agent for agent in self.agents if self.policies[agent] is not None]
        for target, me in [(target, me) for target in targets for me in self.agents]:
            if target != me:
                shared = len(self.agreed.get((target, me), ()))
                outcome = outcome_bits(prior, shared, blocked[target]) if shared else 0.0
                known = last[target, me][2:] if (target, me) in last else NOTHING
                pairs.append(PairBits(target, me, *known, outcome))
        added = by_event(steps)
        told = {index: added.get(index, 0.0) for index in sorted(self.told)}
        chances = {step.pair: own for step, own in zip(steps, room, strict=True)}
        return Learnt(tuple(pairs), chances, tuple(bands), told)


def _not_yet(_agent: AgentId) -> Array:
    """Say that what an observer knows when it hears a message is not known yet."""
    raise NotYetError


def _item(entry: Any) -> int:
    return entry.errand_id if isinstance(entry, ErrandEntry) else entry.meeting_id
