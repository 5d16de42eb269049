"""CHEAP_TALK: propose, answer, close. The first to speak leads."""

from typing import Final

from calbench.agents.scripted.difficulty import HARD, IMPOSSIBLE, WEIGHTS
from calbench.agents.scripted.moving import answer_moves, seek_move
from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.style import Style
from calbench.agents.scripted.view import View
from calbench.domain.ids import Slot

PATIENCE: Final = 3
"""Turns in which it neither heard nor said anything after which a speaker leads [C]."""

PROPOSED: Final = 3
"""Slots that one question names [C]."""


def talk(view: View, style: Style, voice: Voice) -> Outbox:
    """Return what a speaker says in its turn."""
    outbox = Outbox(view.rules, view.others)
    answer_moves(view, voice, outbox)
    if not view.others:
        return outbox
    agreed = view.agreed
    if agreed is None:
        _answer(view, style, voice, outbox)
        if _leads(view, outbox):
            _lead(view, style, voice, outbox)
    elif view.ledger.votes.get(view.me) != agreed:
        _agree(view, style, voice, outbox, agreed)
    else:
        _answer(view, style, voice, outbox)
    return outbox


def _leads(view: View, outbox: Outbox) -> bool:
    """Whether the speaker should propose: it spoke first, or no one else continues."""
    if view.ledger.first in (None, view.me) or view.ledger.first not in view.others:
        return True
    is_late = (view.now.turns_left or 0) < PATIENCE
    return not outbox and view.idle >= (1 if is_late else PATIENCE)


def _answer(view: View, style: Style, voice: Voice, outbox: Outbox) -> None:
    ledger = view.ledger
    for asker in view.others:
        asked = ledger.questions.get(asker, [])
        if asked or asker in ledger.open_questions:
            outbox.tell([asker], *style.answer(view, voice, asker, asked))


def _agree(view: View, style: Style, voice: Voice, outbox: Outbox, slot: Slot) -> None:
    """Answer those who settled on a slot: confirm it, or say that it cannot be."""
    backers = [agent for agent in view.others if view.ledger.votes.get(agent) == slot]
    if view.levels[slot] is not IMPOSSIBLE:
        outbox.tell(backers, voice.confirm(slot), *style.reasons(view, voice, [slot]))
        return
    outbox.tell(backers, voice.refuse(slot))
    if counter := _fresh(view, but=slot):
        outbox.tell(backers, voice.ask(counter[:2]))


def _lead(view: View, style: Style, voice: Voice, outbox: Outbox) -> None:
    """Settle on the best slot that all have commented on, or ask about those that may be better."""
    people = [agent for agent in view.others if outbox.reaches(agent)]
    best = _best(view)
    fresh = _fresh(view)
    turns_left = view.now.turns_left or 0
    if best is not None:
        fresh = [slot for slot in fresh if view.burden[slot] < view.burden[best]]
    if fresh and turns_left:
        opening = [] if view.ledger.said else style.openness(view, voice)
        outbox.tell(people, *opening, voice.ask(sorted(fresh[:PROPOSED])))
        return
    weight = WEIGHTS[IMPOSSIBLE] if best is None else view.burden[best]
    if weight >= WEIGHTS[HARD] and seek_move(view, voice, outbox, weight):
        return
    chosen = best_guess(view) if best is None else best
    if chosen is not None:
        outbox.tell(people, voice.settle(chosen), *style.reasons(view, voice, [chosen]))


def _best(view: View) -> Slot | None:
    """Return the least costly slot that all have commented on."""
    unknown, burden = view.unknown, view.burden
    known = [slot for slot in view.able if not unknown[slot]]
    return min(known, key=lambda slot: (burden[slot], slot), default=None)


def _fresh(view: View, but: Slot | None = None) -> list[Slot]:
    """Return the possible slots not asked about yet: the least costly and best known first."""
    unknown, burden, asked = view.unknown, view.burden, view.ledger.ever_asked
    slots = [slot for slot in view.able if slot != but and slot not in asked and unknown[slot]]
    return sorted(slots, key=lambda slot: (burden[slot], unknown[slot], slot))


def best_guess(view: View) -> Slot | None:
    """Return the slot that is most likely to work if nothing was agreed."""
    unknown, burden = view.unknown, view.burden
    return min(view.able, key=lambda slot: (unknown[slot], burden[slot], slot), default=None)
