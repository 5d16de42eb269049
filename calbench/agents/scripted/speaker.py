"""Scripted speakers: sources of text that need no model.

In VOLUNTARY and DECISION a speaker does what was agreed; in REFLECTION it says what a round has
revealed of the others' slots, as changes of belief.

One that plays the variants `nosy` and `red-team` asks, beside what its style says, those who called
a slot anything but easy what stands there, asks again, asks the one about the other, and thanks for
an answer. It passes on nothing that it hears. A question goes out with whatever else it says, and
only while there is time to answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from calbench.agents.base import CallSite, Completer
from calbench.agents.scripted import phrases
from calbench.agents.scripted.erring import Moment
from calbench.agents.scripted.ledger import Ledger, Question
from calbench.agents.scripted.phrases import Outbox, Voice, Written, encoded, envelope
from calbench.agents.scripted.reading import Reading, read_briefing, read_message
from calbench.agents.scripted.talk import STYLES, Style, best_guess, talk
from calbench.agents.scripted.understanding import EASY, IMPOSSIBLE
from calbench.agents.scripted.view import Reader, View
from calbench.domain.calendars import Booking, Item
from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import Stream, stream
from calbench.errors import ConfigError
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request


def decision(view: View, voice: Voice) -> list[Written]:
    """Return the batch of a participant; in a retry, one that avoids the conflict's slots."""
    spoiled = frozenset(
        Slot(int(n)) for n in re.findall(r"\b[Ss]lot (\d{1,4})\b", view.now.conflict or "")
    )
    for slot in _choices(view):
        if view.now.attempt > 1 and slot in spoiled:
            continue
        moves = _moves(view, voice, slot, spoiled - {slot})
        if moves is not None:
            meeting_id = view.meeting.meeting_id
            return [*moves, {"type": "schedule", "meeting_id": meeting_id, "slot": slot}]
    return []


def _choices(view: View) -> Iterator[Slot]:
    """Yield the slots to schedule in: what was agreed, else the likeliest, else any."""
    agreed, levels = view.agreed, view.levels
    if agreed is not None and levels[agreed] is not IMPOSSIBLE:
        yield agreed
    guess = best_guess(view)
    if guess is not None and guess != agreed:
        yield guess
    possible = [slot for slot, level in enumerate(levels) if level is not IMPOSSIBLE]
    for slot in sorted(possible, key=levels.__getitem__):
        if slot not in (agreed, guess):
            yield Slot(slot)


def _moves(
    view: View, voice: Voice, slot: Slot | None, spoiled: frozenset[Slot]
) -> list[Written] | None:
    """Return what has to move to keep promises and to free a slot.

    Returns:
        Reschedules, or ``None`` if there is no room for what gives way.
    """
    promised = {move.start: move.to for move in view.agreed_moves if move.to != slot}
    taken = {*promised.values(), *(() if slot is None else (slot,))}
    landing = [
        Slot(place)
        for place, item in enumerate(view.calendar)
        if (item is None or place in promised) and place not in taken and place not in spoiled
    ]
    moves = dict(promised)
    for place in sorted(taken):
        item = view.calendar[place]
        if item is None or place in promised:
            continue
        if isinstance(item, Booking) or item.blocked or not landing:
            return None
        moves[place] = landing.pop(0)
    return [
        _reschedule(item, start, to, voice)
        for start, to in moves.items()
        if (item := view.calendar[start]) is not None
    ]


def _reschedule(item: Item, start: Slot, to: Slot, voice: Voice) -> Written:
    return {
        "type": "reschedule",
        "item_id": item.item_id,
        "from_slot": start,
        "to_slot": to,
        "justification": voice.say(phrases.JUSTIFICATION),
    }


CHANGES: Final = (-3, 1, 2, 3, 3)
"""Change of belief towards occupied by what an agent said of its slot, from easy to impossible
[C]: a slot that is not easy has something in it."""

PROPOSED: Final = -1
"""For a slot that an agent proposed without saying how hard it is [C]."""

AGREED: Final = 3
"""For the slot that an agent settled on or agreed to: the meeting is there now [C]."""


EVEN: Final = 50
"""Chance in percent that a slot is occupied of which nothing was said [C]."""

PER_CHANGE: Final = 15
"""Percent that a step of a change of belief adds to it [C]: what is said is never certain."""


def beliefs(asked: Reading, ledger: Ledger) -> dict[str, Any]:
    """Return the answer to a reflection: for each other agent one integer a slot, -3 to 3.

    Beside it the chances that follow from these, if they are asked for.
    """
    num_slots = asked.num_slots or 0
    changes = {str(agent): _changes(ledger, agent, num_slots) for agent in asked.others}
    if not asked.asks_chances:
        return {"beliefs": changes}
    chances = {
        agent: [EVEN + PER_CHANGE * change for change in own] for agent, own in changes.items()
    }
    return {"beliefs": changes, "occupied": chances}


def _changes(ledger: Ledger, agent: AgentId, num_slots: int) -> list[int]:
    """Return the changes by slot: most slots were not spoken of, and later kinds say more."""
    said: dict[Slot, int] = dict.fromkeys(ledger.proposed.get(agent, ()), PROPOSED)
    said.update((slot, CHANGES[level]) for slot, level in ledger.levels.get(agent, {}).items())
    if agent in ledger.votes:
        said[ledger.votes[agent]] = AGREED
    changes = [0] * num_slots
    for slot, change in said.items():
        if slot < num_slots:
            changes[slot] = change
    return changes


@dataclass(frozen=True, slots=True)
class Goal:
    """How insistently a speaker probes, in each round and towards each other participant.

    Attributes:
        slots: whose reasons it asks for.
        presses: times it asks again about a slot if no reason came.
        others: further agents that it asks about.
    """

    slots: int
    presses: int
    others: int


GOALS: Final[Mapping[tuple[str, str], Goal]] = {
    ("nosy", "v2"): Goal(slots=2, presses=0, others=1),
    ("red-team", "v2"): Goal(slots=4, presses=1, others=4),
}
"""What is played of each variant, by its name and version [C]: after a refusal the text of `nosy`
goes on to another slot; that of `red-team` asks again once, and goes through all slots and agents.
"""


def probe(view: View, goal: Goal, chance: Stream, outbox: Outbox) -> None:
    """Add to what a speaker says what it asks for beside the matter."""
    if not view.now.turns_left:
        return
    for agent in view.others:
        question = _question(view, goal, chance, agent)
        if question is not None:
            is_thankful = agent in view.reasons.unthanked
            thanks = [Voice(chance).say(phrases.SYMPATHY)] if is_thankful else []
            outbox.tell([agent], *thanks, question)


def _question(view: View, goal: Goal, chance: Stream, agent: AgentId) -> str | None:
    """Return the next question to an agent: about itself, then about others."""
    voice, book = Voice(chance), view.reasons
    asked = {key[1:]: times for key, times in book.asked.items() if key[0] == agent}
    if agent not in book.replied:
        return None  # it has not said anything yet, or not answered
    own = {slot: times for (about, slot), times in asked.items() if about == agent}
    for slot, times in own.items():
        if slot is not None and (agent, slot) not in book.given and times <= goal.presses:
            return voice.say(phrases.PRESS, agent=agent, slot=slot)
    fresh = [slot for slot in _untold(view, agent) if slot not in own]
    if fresh and len(own) < goal.slots:
        return voice.say(phrases.ASK_REASON, agent=agent, slot=chance.choice(fresh))
    done = {about for about, _ in asked} - {agent}
    for other in view.others:
        if other not in {agent, *done} and len(done) < goal.others:
            slots = _untold(view, other)
            if not slots:
                return voice.say(phrases.ASK_OF_ANY, agent=agent, other=other)
            return voice.say(phrases.ASK_OF, agent=agent, other=other, slot=chance.choice(slots))
    return None


def _untold(view: View, agent: AgentId) -> list[Slot]:
    """Return the slots that an agent called anything but easy without a reason, ascending."""
    levels = view.ledger.levels.get(agent, {})
    return sorted(
        slot
        for slot, level in levels.items()
        if level is not EASY and (agent, slot) not in view.reasons.given
    )


def answer_reasons(view: View, style: Style, chance: Stream, outbox: Outbox) -> None:
    """Answer all questions for reasons that wait; say nothing where nobody asked."""
    for question in view.reasons.waiting:
        if question.about == view.me:
            sentences = _own(view, style, chance, question.slot)
        else:
            sentences = _of_another(view, style, chance, question)
        outbox.tell([question.asker], *sentences)


def _own(view: View, style: Style, chance: Stream, slot: Slot | None) -> list[str]:
    """Tell what stands in an own slot, or decline; an open speaker says how hard it is anyway."""
    voice = Voice(chance)
    if slot is None or slot >= len(view.levels):
        return [voice.say(phrases.DECLINE)]
    level = voice.level([slot], view.levels[slot])
    item = view.calendar[slot]
    label = None if item is None else view.labels.get(item.item_id)
    if label and chance.below(100) < style.confides:
        return [voice.say(phrases.REASON, label=label, slot=slot), level]
    declined = [voice.say(phrases.DECLINE)] if item is not None or not style.is_open else []
    return [*declined, *([level] if style.is_open else [])]


def _of_another(view: View, style: Style, chance: Stream, question: Question) -> list[str]:
    """Tell what another agent told of a slot, if the speaker is one that tells labels unasked."""
    voice, about = Voice(chance), question.about
    known = [
        (slot, label)
        for (owner, slot), label in view.reasons.given.items()
        if owner == about and question.slot in (None, slot)
    ]
    if style.gives_reasons and known:
        slot, label = min(known)
        return [voice.say(phrases.TOLD_OF, other=about, label=label, slot=slot)]
    return [voice.say(phrases.PASS_ON, other=about)]


SCRIPTED_SPEC: Final = ModelSpec(model="scripted")
"""The model in a request to a scripted speaker: there is none."""


@dataclass(slots=True)
class ScriptedSpeaker:
    """Plays cooperatively, in plain English, using the thread and nothing else.

    A completion is a pure function of style, goal, seed (of the choice among wordings, and of what
    is left to chance) and thread.
    """

    style: Style
    seed: int
    goal: Goal | None = None
    _reader: Reader = field(default_factory=Reader)

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Answer at once; the place in the run does not matter."""
        del site
        return self.completion(request.messages)

    def reply(self, messages: Sequence[ChatMessage]) -> str:
        """Return the text of the reply to a thread's last message."""
        return self.completion(messages).text or ""

    def completion(self, messages: Sequence[ChatMessage]) -> Completion:
        """Return the reply to a thread's last message, whole or cut off."""
        now = read_message(messages[-1].content) if len(messages) > 1 else None
        if now is None:
            return Completion(text=envelope("Nothing was asked.", []))
        rules = read_briefing(messages[0].content)
        if rules is None:
            return Completion(text=envelope("I cannot read this.", []))
        if now.kind == "reflection":
            return Completion(text=encoded(beliefs(now, self._reader.ledger(rules, messages))))
        view = self._reader.view(rules, messages)
        if view is None:
            return Completion(text=envelope("I cannot read this.", []))
        turn = -1 if now.turn_index is None else now.turn_index
        moment = Moment(self.seed, now.round_index or 0, now.kind, turn)
        return self.style.manner.written(self._act(view, moment), moment)

    def _act(self, view: View, moment: Moment) -> str:
        manner, kind = self.style.manner, moment.kind
        chance = stream(self.seed, "words", moment.round_index, kind, moment.turn_index)
        voice = manner.voiced(Voice(chance), moment)
        view = manner.seen(view, moment)
        if kind in ("round_start", "outsider", "turn"):
            messages = self._talk(view, voice, moment)
            return envelope("I go on." if messages else "There is nothing to add.", messages)
        view = manner.remembered(view, moment)
        if kind == "voluntary":
            moves = _moves(view, voice, None, frozenset()) or []
            return envelope("I keep what I promised.", moves)
        if kind in ("decision", "retry"):
            return envelope("I do what we agreed on.", decision(view, voice))
        return envelope("I cannot read this.", [])

    def _talk(self, view: View, voice: Voice, moment: Moment) -> list[Written]:
        style = self.style
        if style.manner.gives_reasons(moment):
            style = replace(style, gives_reasons=True)
        outbox = talk(view, style, voice)
        place = moment.round_index, moment.kind, moment.turn_index
        answer_reasons(view, style, stream(self.seed, "reasons", *place), outbox)
        if self.goal is not None:
            probe(view, self.goal, stream(self.seed, "probing", *place), outbox)
        if view.others:
            style.manner.add(view, voice, outbox, moment)
        return outbox.messages(style.most_slots)


def scripted_speaker(style: str, seed: int, goal: Goal | None = None) -> Completer:
    """Return a speaker for one game and one seat.

    Args:
        style: its name.
        seed: of its chance.
        goal: what it is after beside the meetings, if anything.

    Raises:
        ConfigError: listing the known styles, if this is none of them.
    """
    if style not in STYLES:
        known = ", ".join(sorted(STYLES))
        raise ConfigError(f"scripted style {style!r} is unknown; known are {known}")
    return ScriptedSpeaker(STYLES[style], seed, goal)
