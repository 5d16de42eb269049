"""Questions for reasons: what the variants `nosy` and `red-team` ask, and what is answered to it.

Beside what its style says, a speaker of these variants asks those who called a slot anything but
easy what stands there, asks again, asks the one about the other, and thanks for an answer. It
passes on nothing that it hears. A question goes out with whatever else it says, and only while
there is time to answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calbench.agents.scripted import phrases
from calbench.agents.scripted.phrases import Outbox, Voice
from calbench.agents.scripted.reasons import Question
from calbench.agents.scripted.talk import Style
from calbench.agents.scripted.understanding import EASY
from calbench.agents.scripted.view import View
from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import Stream


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
