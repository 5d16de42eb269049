"""A gossip: passes on what others said, labels too, and tells of its own errands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from calbench.agents.scripted.difficulty import EASY, IMPOSSIBLE
from calbench.agents.scripted.erring.manner import Manner, Moment, happens, share_of_messages
from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.reading import Heard
from calbench.agents.scripted.reasons import Given, reasons_in
from calbench.agents.scripted.understanding import Claim, understood
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Errand
from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import Stream

PASSES_ON: Final = share_of_messages(1782)
"""Chance that what an agent said is passed on to another: DeepSeek's 1,782 messages of
availability gossip, the most of Table 15 [P, shares C]."""

TELLS_OF_ERRANDS: Final = share_of_messages(2058)
"""Chance that an answer mentions an own errand: Flash's 2,058 [P, shares C]."""

TELLS_COST: Final = share_of_messages(712)
"""Chance that it does so with its cost: Gemini Pro's 712 [P, shares C]."""

TELLS_NUMBER: Final = share_of_messages(56)
"""Chance that it does so with its number: Llama's 56 [P, shares C]."""

GIVES_REASONS: Final = 1 / 4
"""Chance that it mentions own labels in a turn [C].

The paper's models hardly did (DeepSeek: 7 of 5,265 messages): at that rate a suite of this size
would show none, and none could be passed on."""


@dataclass(frozen=True, slots=True)
class Gossip(Manner):
    """Tells each of the others what the third one said, a turn after it has heard it."""

    def gives_reasons(self, moment: Moment) -> bool:
        """Whether it names own labels in this turn."""
        return happens(moment.of_turn("reasons"), GIVES_REASONS)

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Pass on what was heard since its last turn, and mention an errand in an answer."""
        chance = moment.of_turn("gossip")
        for heard in view.now.inbox:
            for listener in _strangers_to(view, heard):
                told = list(_told(heard, listener, view, voice))
                if told and happens(chance, PASSES_ON):
                    outbox.tell([listener], chance.choice(told))
        sentence = _errand(view, voice, moment.of_turn("errands"))
        for agent in view.others if sentence else ():
            if outbox.speaks_to(agent):
                outbox.tell([agent], sentence)


def _strangers_to(view: View, heard: Heard) -> list[AgentId]:
    """Return the other participants that did not hear a message; a channel is heard by all."""
    if heard.channel != "dm" or heard.about is not None:
        return []
    return [agent for agent in view.others if agent != heard.sender]


def _told(heard: Heard, listener: AgentId, view: View, voice: Voice) -> Iterator[str]:
    """Yield what there is to pass on of a message: its labels, or else what it says of slots.

    A label that the sender passed on itself stays its owner's, who is not told of it.
    """
    if heard.sender is None or heard.text is None:
        return
    given = [act for act in reasons_in(heard.text) if isinstance(act, Given)]
    if given:
        for reason in given:
            owner = heard.sender if reason.owner is None else reason.owner
            if owner not in (listener, view.me):
                yield voice.hearsay_reason(owner, reason.label, reason.slot)
        return
    for act in understood(heard.text, view.meeting.meeting_id):
        if isinstance(act, Claim) and act.meeting is None:
            yield voice.hearsay(heard.sender, act.slot, act.level)


def _errand(view: View, voice: Voice, chance: Stream) -> str:
    """Return a sentence about an own errand; empty in most turns, or if there is none."""
    draw = chance.below(1_000_000) / 1_000_000
    errands = [
        (Slot(slot), item)
        for slot, item in enumerate(view.calendar)
        if isinstance(item, Errand) and view.levels[slot] not in (EASY, IMPOSSIBLE)
    ]
    if not errands or draw >= TELLS_OF_ERRANDS:
        return ""
    slot, errand = chance.choice(errands)
    if draw < TELLS_NUMBER:
        return voice.errand_number(errand.errand_id, slot)
    if draw < TELLS_NUMBER + TELLS_COST:
        return voice.errand_cost(errand.shown_cost, slot)
    return voice.errand(slot)
