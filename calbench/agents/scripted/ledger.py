"""What has been said in a round, as one participant knows it: of slots, and of what stands in them.

A question for a reason names whom it is for, since a group hears it too. It says nothing about
where the meeting might be, so :mod:`calbench.agents.scripted.understanding` leaves it out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from calbench.agents.scripted.understanding import (
    EASY,
    IMPOSSIBLE,
    LONGEST,
    SENTENCE,
    Act,
    Ask,
    AskMove,
    Claim,
    Confirm,
    ConfirmMove,
    Level,
    Move,
    NoneOfThem,
    Settle,
    SettleMove,
    is_for_reason,
    slots_in,
)
from calbench.domain.ids import AgentId, MeetingId, Slot


@dataclass(slots=True)
class Ledger:
    """What all participants said about slots in this round, in order of hearing.

    Attributes:
        me: whose ledger it is.
        num_slots: slots beyond are ignored.
        levels: by agent and slot, as claimed.
        proposed: by agent, slots it asked others about without saying how hard they are.
        votes: by agent, the slot it settled on or agreed to last.
        first: the first agent that said anything, this agent included.
        questions: by asker, the slots it asked this agent about that wait for an answer.
        open_questions: who asks which slots would do, naming none.
        asked: by agent, the slots this agent asked it about last.
        ever_asked: slots this agent has asked about.
        said: how many messages this agent has sent.
        answered: agents that this agent has told anything about its slots.
        told: by agent, how hard slots are, in answer to questions about an earlier meeting.
        move_questions: who asks which question about an earlier meeting, not answered yet.
        moves: announced joint moves, with who announced them.
        move_votes: who agreed to which move.
        asked_moves: moves this agent has asked for, by meeting and start.
    """

    me: AgentId
    num_slots: int
    levels: dict[AgentId, dict[Slot, Level]] = field(default_factory=dict)
    proposed: dict[AgentId, dict[Slot, None]] = field(default_factory=dict)
    votes: dict[AgentId, Slot] = field(default_factory=dict)
    first: AgentId | None = None
    questions: dict[AgentId, list[Slot]] = field(default_factory=dict)
    open_questions: dict[AgentId, None] = field(default_factory=dict)
    asked: dict[AgentId, tuple[Slot, ...]] = field(default_factory=dict)
    ever_asked: set[Slot] = field(default_factory=set)
    said: int = 0
    answered: set[AgentId] = field(default_factory=set)
    told: dict[tuple[AgentId, MeetingId], dict[Slot, Level]] = field(default_factory=dict)
    move_questions: list[tuple[AgentId, AskMove]] = field(default_factory=list)
    moves: dict[Move, AgentId] = field(default_factory=dict)
    move_votes: dict[Move, set[AgentId]] = field(default_factory=dict)
    asked_moves: dict[tuple[MeetingId, Slot], tuple[Slot, ...]] = field(default_factory=dict)

    def hear(self, sender: AgentId, acts: Sequence[Act]) -> None:
        """Take in a message of another agent."""
        if self.first is None:
            self.first = sender
        self._note(sender, acts)
        for act in acts:
            if isinstance(act, Claim):
                continue  # noted already; most are
            if isinstance(act, Ask):
                if slots := self._within(act.slots):
                    waiting = self.questions.setdefault(sender, [])
                    waiting.extend(slot for slot in slots if slot not in waiting)
                else:
                    self.open_questions[sender] = None
            elif isinstance(act, AskMove):
                self.move_questions.append((sender, act))
            elif isinstance(act, NoneOfThem):
                for slot in self.asked.get(sender, ()):
                    self._claim(sender, slot, IMPOSSIBLE)
            elif isinstance(act, Confirm) and act.slot is None and self.me in self.votes:
                self.votes[sender] = self.votes[self.me]

    def say(self, recipients: Iterable[AgentId], acts: Sequence[Act]) -> None:
        """Take in a message of this agent."""
        if self.first is None:
            self.first = self.me
        self.said += 1
        self._note(self.me, acts)
        claims = [act for act in acts if isinstance(act, Claim)]
        others = [act for act in acts if not isinstance(act, Claim)]
        for agent in recipients:
            self._answer(agent, claims, others)
        for act in others:
            if isinstance(act, Ask):
                self.ever_asked.update(act.slots)
            elif isinstance(act, AskMove):
                self.asked_moves[act.meeting, act.start] = act.targets

    def _answer(self, agent: AgentId, claims: Sequence[Claim], acts: Sequence[Act]) -> None:
        """Record what one recipient now knows, and which of its questions are answered."""
        claimed = {act.slot for act in claims if act.meeting is None}
        is_none = any(isinstance(act, NoneOfThem) for act in acts)
        if is_none:
            for slot in self.questions.get(agent, ()):
                self._claim(self.me, slot, IMPOSSIBLE)
        if is_none or any(isinstance(act, Settle | Confirm) for act in acts):
            self.questions.pop(agent, None)
        elif agent in self.questions:
            self.questions[agent] = [s for s in self.questions[agent] if s not in claimed]
        if claimed or is_none:
            self.open_questions.pop(agent, None)
            self.answered.add(agent)
        asked = [act.slots for act in acts if isinstance(act, Ask)]
        if asked:
            self.asked[agent] = asked[-1]
        if self.move_questions:
            meetings = {act.meeting for act in claims}
            self.move_questions = [
                (asker, act)
                for asker, act in self.move_questions
                if asker != agent or act.meeting not in meetings
            ]

    def _note(self, agent: AgentId, acts: Sequence[Act]) -> None:
        """Take in what a message says of its sender."""
        for act in acts:
            if isinstance(act, Claim):
                if act.meeting is not None:
                    self.told.setdefault((agent, act.meeting), {})[act.slot] = act.level
                else:
                    self._claim(agent, act.slot, act.level)
            elif isinstance(act, Ask):
                proposed = self.proposed.setdefault(agent, {})
                proposed.update(dict.fromkeys(self._within(act.slots)))
            elif isinstance(act, Settle | Confirm):
                if act.slot is not None and act.slot < self.num_slots:
                    self._vote(agent, act.slot)
            elif isinstance(act, SettleMove | ConfirmMove):
                self._note_move(agent, act)

    def _note_move(self, agent: AgentId, act: SettleMove | ConfirmMove) -> None:
        move = act.move
        self.move_votes.setdefault(move, set()).add(agent)
        if isinstance(act, SettleMove):
            self.moves.setdefault(move, agent)
            # What was impossible because of that meeting no longer is.
            for levels in self.levels.values():
                if levels.get(move.start) is IMPOSSIBLE:
                    del levels[move.start]

    def _vote(self, agent: AgentId, slot: Slot) -> None:
        self.votes[agent] = slot
        levels = self.levels.get(agent, {})
        if levels.get(slot) is IMPOSSIBLE:
            del levels[slot]  # it has made room since

    def _claim(self, agent: AgentId, slot: Slot, level: Level) -> None:
        if slot < self.num_slots:
            self.levels.setdefault(agent, {})[slot] = level
            if level is IMPOSSIBLE and self.votes.get(agent) == slot:
                del self.votes[agent]

    def _within(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        return tuple([slot for slot in slots if slot < self.num_slots])

    def level(self, agent: AgentId, slot: Slot) -> Level | None:
        """Return how hard another agent said a slot is, if it said so."""
        return self.levels_of(agent)[slot]

    def levels_of(self, agent: AgentId) -> list[Level | None]:
        """Return :meth:`level` of every slot, by slot."""
        levels: list[Level | None] = [None] * self.num_slots
        for slot in self.proposed.get(agent, ()):
            levels[slot] = EASY
        if agent in self.votes:
            levels[self.votes[agent]] = EASY
        for slot, level in self.levels.get(agent, {}).items():
            levels[slot] = level
        return levels

    def agreed(self, participants: Iterable[AgentId]) -> Slot | None:
        """Return the agreed slot: most votes, then the lowest agent's.

        A slot that some participant said is impossible is not agreed.
        """
        people = sorted(participants)
        votes = [self.votes[agent] for agent in people if agent in self.votes]
        able = [slot for slot in votes if not self.is_refused(people, slot)]
        return max(able, key=able.count, default=None)

    def is_refused(self, participants: Iterable[AgentId], slot: Slot) -> bool:
        """Whether any other participant said that a slot is impossible."""
        return any(
            self.levels.get(agent, {}).get(slot) is IMPOSSIBLE
            for agent in participants
            if agent != self.me
        )


# e.g. "Agent 3, could you"; not "agents 3, 4"
_ADDRESSEE = re.compile(r"\s*agent (\d{1,6}),", re.IGNORECASE)
# e.g. "what Agent 12 has"; not "what agents 1 and 2 have"
_AGENT = re.compile(r"\bagent (\d{1,6})\b", re.IGNORECASE)
# e.g. 'I have "school play" there'; not 'a 12" pipe'
_QUOTED = re.compile(r'"[^"]*"')
# e.g. 'I have "school play" at slot 3'; not 'I had "school play" at slot 3'
_OWN_REASON = re.compile(
    r'\bI have "([^"]*)" at slot (\d{1,4})\b|\bAt slot (\d{1,4}) I have "([^"]*)"'
)
# e.g. 'Agent 2 has "school play" at slot 3'; not 'Agent 2 asked. "School play" at slot 3'
_OTHERS_REASON = re.compile(
    r'\bagent (\d{1,6})\b[^".?!]*"([^"]*)" at slot (\d{1,4})', re.IGNORECASE
)


class Asked(NamedTuple):
    """What stands in a slot?

    ``agent``: who is asked, anybody if absent; ``about``: in whose calendar, that of who is asked
    if absent; ``slot``: in any if absent.
    """

    agent: AgentId | None
    about: AgentId | None
    slot: Slot | None


class Given(NamedTuple):
    """This stands in a slot. ``owner``: in whose calendar, the sender's if absent."""

    owner: AgentId | None
    slot: Slot
    label: str


@lru_cache(maxsize=4096)
def reasons_in(text: str) -> tuple[Asked | Given, ...]:
    """Return what a message says about reasons, questions first."""
    shown = text[:LONGEST].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    found: list[Asked | Given] = []
    if "?" in shown:
        for sentence in SENTENCE.split(_QUOTED.sub("it", shown)):
            if is_for_reason(sentence):
                found.extend(_asked(sentence))
    if '"' in shown:
        for one, slot, other_slot, other in _OWN_REASON.findall(shown):
            found.append(Given(None, Slot(int(slot or other_slot)), one or other))
        for agent, label, slot in _OTHERS_REASON.findall(shown):
            found.append(Given(AgentId(int(agent)), Slot(int(slot)), label))
    return tuple(found)


def _asked(sentence: str) -> list[Asked]:
    addressee = _ADDRESSEE.match(sentence)
    named = _AGENT.search(sentence, addressee.end() if addressee else 0)
    agent = AgentId(int(addressee[1])) if addressee else None
    about = AgentId(int(named[1])) if named else None
    return [Asked(agent, about, slot) for slot in slots_in(sentence) or (None,)]


class Question(NamedTuple):
    """A question that waits for this agent's answer: by whom, about whose calendar, which slot."""

    asker: AgentId
    about: AgentId
    slot: Slot | None


@dataclass(slots=True)
class Reasons:
    """What was said about reasons in a round, as one agent knows it.

    Attributes:
        me: whose knowledge it is.
        waiting: questions to this agent that it has not answered.
        asked: how often this agent put a question, by whom it asked, whose calendar it asked
            about, and slot.
        replied: agents that wrote since this agent asked them last.
        given: what stands in a slot as this agent was told, by owner and slot.
        unthanked: agents that gave a reason since this agent wrote to them last.
    """

    me: AgentId
    waiting: dict[Question, None] = field(default_factory=dict)
    asked: dict[tuple[AgentId, AgentId, Slot | None], int] = field(default_factory=dict)
    replied: set[AgentId] = field(default_factory=set)
    given: dict[tuple[AgentId, Slot], str] = field(default_factory=dict)
    unthanked: set[AgentId] = field(default_factory=set)

    def hear(self, sender: AgentId, text: str) -> None:
        """Take in a message of another agent."""
        self.replied.add(sender)
        for act in reasons_in(text):
            if isinstance(act, Given):
                self.given[sender if act.owner is None else act.owner, act.slot] = act.label
                self.unthanked.add(sender)
            elif act.agent in (None, self.me):
                about = self.me if act.about is None else act.about
                if about != sender:
                    self.waiting[Question(sender, about, act.slot)] = None

    def say(self, recipients: Iterable[AgentId], text: str) -> None:
        """Take in a message of this agent: it answers whatever its recipients had asked."""
        reached = set(recipients)
        self.waiting = {each: None for each in self.waiting if each.asker not in reached}
        self.unthanked -= reached
        for act in reasons_in(text):
            if isinstance(act, Asked) and act.agent is not None:
                key = act.agent, act.agent if act.about is None else act.about, act.slot
                self.asked[key] = self.asked.get(key, 0) + 1
                self.replied.discard(act.agent)
