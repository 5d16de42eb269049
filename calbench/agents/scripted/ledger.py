"""What has been said in a round, as one participant knows it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from calbench.agents.scripted.understanding import (
    EASY,
    IMPOSSIBLE,
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
        claimed = self.levels.get(agent, {}).get(slot)
        if claimed is None and (
            slot in self.proposed.get(agent, ()) or self.votes.get(agent) == slot
        ):
            return EASY
        return claimed

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
