"""A careless speaker forgets what was agreed, confirms two slots, moves meetings alone, breaks off.

Each lapse happens at most once in a round, and nobody is told of it.
"""

import json
from dataclasses import dataclass, replace
from typing import Final

from calbench.agents.scripted.difficulty import IMPOSSIBLE
from calbench.agents.scripted.erring.manner import (
    GAMES,
    MODELS,
    ROUNDS,
    SEATS,
    Manner,
    Moment,
    happens,
    share_of_rounds,
)
from calbench.agents.scripted.ledger import Ledger
from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Booking, Errand
from calbench.domain.ids import ErrandId, Slot
from calbench.llm.completion import Completion

AMBIGUOUS: Final = share_of_rounds(21)
"""Rounds that ended in different slots: GPT's 21 of 360, the most of Table 15 [P, shares C]."""

FORGETS: Final = AMBIGUOUS / SEATS
"""Chance, in a round, that a participant forgets all that was said in it [C]."""

CONFIRMS_TWO: Final = AMBIGUOUS / SEATS
"""Chance, in a round, that it names a second slot to somebody when it first confirms one [C]."""

MOVES_ALONE: Final = 1 / 4
"""Chance, in a round, that it takes an earlier meeting for an errand of its own [C].

The paper counts what came of it (Qwen: 33 of 360 rounds), not how often there was an occasion."""

BREAKS_OFF: Final = 10 * MODELS / (GAMES * ROUNDS * SEATS)
"""Chance, in a round, that its batches are cut off: Llama's 10 of 1,080 agent-rounds [P, shares C].
"""

LONGEST_REPLY: Final = 65 * 4
"""Characters at which such a reply is cut: 65 tokens [P, appendix H] of four characters [C]."""

_THINKING: Final = "Let me think once more about every slot before I write anything down. "
_DECIDING: Final = ("decision", "retry")


@dataclass(frozen=True, slots=True)
class Careless(Manner):
    """Makes mistakes of which the others see nothing before the meeting fails."""

    def seen(self, view: View, moment: Moment) -> View:
        """Take one of the earlier meetings for an errand, which may be moved alone."""
        chance = moment.of_round("moves alone")
        held = [(slot, b) for slot, b in enumerate(view.calendar) if isinstance(b, Booking)]
        if not view.others or not happens(chance, MOVES_ALONE) or not held:
            return view
        slot, booking = chance.choice(held)
        # By its number it can be moved as a meeting can: the game looks at what is in the slot.
        errand = Errand(ErrandId(booking.item_id), booking.meeting.cost, blocked=False)
        calendar = (*view.calendar[:slot], errand, *view.calendar[slot + 1 :])
        return replace(view, calendar=calendar)

    def remembered(self, view: View, moment: Moment) -> View:
        """Forget all that was said, and with it the slot that was agreed and moves promised."""
        if not happens(moment.of_round("forgets"), FORGETS):
            return view
        return replace(view, ledger=Ledger(view.me, view.rules.num_slots))

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Confirm a second slot to the last of the others, when it first agrees to one."""
        agreed = view.agreed
        if (
            agreed is None
            or view.me in view.ledger.votes
            or view.levels[agreed] is IMPOSSIBLE
            or not happens(moment.of_round("confirms two"), CONFIRMS_TWO)
        ):
            return
        second = _second(view, agreed)
        if second is not None:
            outbox.tell(view.others[-1:], voice.confirm(second))

    def written(self, text: str, moment: Moment) -> Completion:
        """Think aloud at such length that the reply is cut off before its actions."""
        if moment.kind not in _DECIDING or not happens(moment.of_round("breaks off"), BREAKS_OFF):
            return Completion(text=text, finish_reason="stop")
        rambling = json.dumps({"thinking": _THINKING * LONGEST_REPLY})
        return Completion(text=rambling[:LONGEST_REPLY], finish_reason="length")


def _second(view: View, agreed: Slot) -> Slot | None:
    """Return the slot that is best for the speaker, apart from the agreed one."""
    slots = [
        (level, Slot(slot))
        for slot, level in enumerate(view.levels)
        if slot != agreed and level is not IMPOSSIBLE
    ]
    return min(slots)[1] if slots else None
