"""A participant's view of the round: its calendar, and what has been said."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from calbench.agents.scripted.ledger import Ledger, Reasons
from calbench.agents.scripted.reading import Reading, Rules, own_words, read_message, round_of
from calbench.agents.scripted.understanding import (
    EASY,
    IMPOSSIBLE,
    WEIGHTS,
    Level,
    Move,
    own_levels,
    understood,
)
from calbench.domain.calendars import Booking, Calendar, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.llm.completion import ChatMessage


@dataclass(frozen=True)
class View:
    """What a speaker knows in one turn.

    Attributes:
        rules: those that the system prompt gave.
        now: the message that waits for an answer.
        meeting: the meeting under discussion.
        calendar: its own, as shown last.
        labels: its own, by item id.
        ledger: what has been said in this round.
        reasons: what of it is about reasons.
        idle: turns in a row, up to this one, in which it neither heard nor said anything.
    """

    rules: Rules
    now: Reading
    meeting: Meeting | HiddenMeeting
    calendar: Calendar
    labels: dict[ItemId, str]
    ledger: Ledger
    reasons: Reasons
    idle: int

    @property
    def me(self) -> AgentId:
        """The speaker."""
        return self.rules.agent_id

    @cached_property
    def others(self) -> tuple[AgentId, ...]:
        """The other participants; none for an outsider."""
        people = self.meeting.participants if isinstance(self.meeting, Meeting) else ()
        return tuple([agent for agent in people if agent != self.me])

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """How hard each slot is for the speaker, by slot, with the joint moves it agreed to."""
        levels = list(own_levels(self.calendar))
        for move in self.agreed_moves:
            levels[move.start] = EASY
        for move in self.agreed_moves:
            levels[move.to] = IMPOSSIBLE
        return tuple(levels)

    @cached_property
    def agreed_moves(self) -> tuple[Move, ...]:
        """The joint moves that the speaker promised or has no reason to refuse.

        One for each earlier meeting, no two to one slot.
        """
        promised: dict[MeetingId, Move] = {}
        for move, announcer in self.ledger.moves.items():
            taken = {other.to for other in promised.values()}
            if move.meeting in promised or move.to in taken:
                continue
            if self._accepts(move, announcer):
                promised[move.meeting] = move
        return tuple(promised.values())

    def _accepts(self, move: Move, announcer: AgentId) -> bool:
        meeting = self.booking(move)
        if meeting is None or announcer not in meeting.participants:
            return False
        if self.me in self.ledger.move_votes[move]:
            return True  # it gave its word
        told = self.ledger.told.get((self.me, move.meeting), {}).get(move.to)
        return own_levels(self.calendar)[move.to] is not IMPOSSIBLE and told is not IMPOSSIBLE

    @cached_property
    def agreed(self) -> Slot | None:
        """The agreed slot."""
        return self.ledger.agreed((self.me, *self.others))

    def booking(self, move: Move) -> Meeting | None:
        """Return the earlier meeting that a move is about, if the speaker's copy is there."""
        if not (0 <= move.start < len(self.calendar) and 0 <= move.to < len(self.calendar)):
            return None
        item = self.calendar[move.start]
        if isinstance(item, Booking) and item.meeting.meeting_id == move.meeting:
            return item.meeting
        return None

    @cached_property
    def _told(self) -> tuple[tuple[Level | None, ...], ...]:
        """What the others said of each slot, by slot."""
        if not self.others:
            return ((),) * len(self.levels)
        return tuple(zip(*[self.ledger.levels_of(agent) for agent in self.others], strict=True))

    @cached_property
    def able(self) -> tuple[Slot, ...]:
        """The slots that no one has said are impossible."""
        told = self._told
        return tuple(
            [
                Slot(slot)
                for slot, level in enumerate(self.levels)
                if level is not IMPOSSIBLE and IMPOSSIBLE not in told[slot]
            ]
        )

    def best_but(self, others: Collection[Slot]) -> Slot | None:
        """Return the slot that is easiest for the speaker, of those that are no others."""
        slots = [
            (level, Slot(slot))
            for slot, level in enumerate(self.levels)
            if slot not in others and level is not IMPOSSIBLE
        ]
        return min(slots)[1] if slots else None

    @cached_property
    def burden(self) -> tuple[int, ...]:
        """The least that a slot can cost all of them, by what they said, by slot."""
        return tuple(
            [
                WEIGHTS[level] + sum([WEIGHTS[known] for known in told if known is not None])
                for level, told in zip(self.levels, self._told, strict=True)
            ]
        )

    @cached_property
    def unknown(self) -> tuple[int, ...]:
        """How many others have not commented on a slot, by slot."""
        return tuple([told.count(None) for told in self._told])


class _Round:
    """What the messages of a round have said so far."""

    def __init__(self, rules: Rules, index: int | None) -> None:
        self.index = index
        self.ledger = Ledger(rules.agent_id, rules.num_slots)
        self.reasons = Reasons(rules.agent_id)
        self.meeting: Meeting | HiddenMeeting | None = None
        self.calendar: Calendar = ()
        self.labels: dict[ItemId, str] = {}
        self.idle = 0
        self._rules = rules

    @property
    def _about(self) -> MeetingId | None:
        return None if self.meeting is None else self.meeting.meeting_id

    def ask(self, reading: Reading) -> None:
        """Take in a question of the environment."""
        self.meeting = reading.meeting or self.meeting
        self.calendar = reading.calendar or self.calendar
        self.labels.update(reading.labels)
        self.idle = 0 if reading.inbox else self.idle + 1
        for heard in reading.inbox:
            # What is read late was about another meeting; what protocols say is not English.
            if heard.sender is not None and heard.about is None and heard.text is not None:
                self.ledger.hear(heard.sender, understood(heard.text, self._about))
                self.reasons.hear(heard.sender, heard.text)

    def reply(self, text: str) -> None:
        """Take in one of the speaker's own replies."""
        for channel, to, words in own_words(text):
            recipients = self._heard_by(channel, to)
            self.ledger.say(recipients, understood(words, self._about))
            self.reasons.say(recipients, words)

    def _heard_by(self, channel: str, to: AgentId | None) -> list[AgentId]:
        agents = self._rules.agent_ids
        if to is not None:
            agents = (to,)
        elif channel == "participant_groupchat" and isinstance(self.meeting, Meeting):
            agents = self.meeting.participants
        return [agent for agent in agents if agent != self._rules.agent_id]


class Reader:
    """Reads threads, without reading the same messages again.

    It resumes where it stopped only if the thread extends the last one within its round, and
    reads the round anew otherwise, so results depend on the thread alone.
    """

    def __init__(self) -> None:
        self._thread: tuple[ChatMessage, ...] = ()
        self._round: _Round | None = None

    def view(self, rules: Rules, messages: Sequence[ChatMessage]) -> View | None:
        """Return the view of a thread's last message, ``None`` if it mentions no meeting."""
        known = self._known(rules, messages)
        if known.meeting is None or len(known.calendar) != rules.num_slots:
            return None
        now = read_message(messages[-1].content)
        return View(
            rules,
            now,
            known.meeting,
            known.calendar,
            known.labels,
            known.ledger,
            known.reasons,
            known.idle,
        )

    def ledger(self, rules: Rules, messages: Sequence[ChatMessage]) -> Ledger:
        """Return what has been said in the round of a thread's last message."""
        return self._known(rules, messages).ledger

    def _known(self, rules: Rules, messages: Sequence[ChatMessage]) -> _Round:
        index = read_message(messages[-1].content).round_index
        thread = tuple(messages)
        news = thread[len(self._thread) :]
        known = self._round
        if (
            known is None
            or known.index != index
            or thread[: len(self._thread)] != self._thread
            or any(m.role == "user" and round_of(m.content) != index for m in news)
        ):
            known = _Round(rules, index)
            news = _of_round(thread, index)
        for message in news:
            if message.role == "user":
                known.ask(read_message(message.content))
            else:
                known.reply(message.content)
        self._thread, self._round = thread, known
        return known


def _of_round(thread: tuple[ChatMessage, ...], index: int | None) -> tuple[ChatMessage, ...]:
    """Return the messages of one round, from its first question on."""
    start = len(thread) - 1
    for place in range(len(thread) - 1, 0, -1):
        if thread[place].role == "user":
            if round_of(thread[place].content) != index:
                break
            start = place
    return thread[start:]
