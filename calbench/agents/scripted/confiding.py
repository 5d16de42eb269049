"""What a speaker says when it is asked what stands in a slot."""

from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.reasons import Question, ReasonVoice
from calbench.agents.scripted.style import Style
from calbench.agents.scripted.view import View
from calbench.domain.ids import Slot
from calbench.domain.randomness import Stream


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
    voice, words = Voice(chance), ReasonVoice(chance)
    if slot is None or slot >= len(view.levels):
        return [words.refuse()]
    level = voice.level([slot], view.levels[slot])
    item = view.calendar[slot]
    label = None if item is None else view.labels.get(item.item_id)
    if label and chance.below(100) < style.confides:
        return [voice.reason(label, slot), level]
    declined = [words.refuse()] if item is not None or not style.is_open else []
    return [*declined, *([level] if style.is_open else [])]


def _of_another(view: View, style: Style, chance: Stream, question: Question) -> list[str]:
    """Tell what another agent told of a slot, if the speaker is one that tells labels unasked."""
    words, about = ReasonVoice(chance), question.about
    known = [
        (slot, label)
        for (owner, slot), label in view.reasons.given.items()
        if owner == about and question.slot in (None, slot)
    ]
    if style.gives_reasons and known:
        slot, label = min(known)
        return [words.hearsay(about, label, slot)]
    return [words.pass_on(about)]
