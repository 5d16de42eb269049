"""A wrangler: confirms and reconfirms what is agreed, until the talk is cut off."""

from dataclasses import dataclass
from typing import Final

from calbench.agents.scripted.difficulty import IMPOSSIBLE
from calbench.agents.scripted.erring.manner import Manner, Moment, happens
from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.view import View

RECONFIRMS: Final = 3 / 4
"""Chance, in a turn with nothing else to say, that it confirms the agreed slot again [C].

The paper counts short confirmations (Flash: 1,428 of 5,265 messages), which speakers that are to
the point also need; how often one repeated another it does not say."""


@dataclass(frozen=True, slots=True)
class Wrangler(Manner):
    """Does not leave a matter alone that is settled."""

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Confirm the agreed slot again to everybody, though nobody asked."""
        agreed = view.agreed
        if outbox or agreed is None or view.ledger.votes.get(view.me) != agreed:
            return
        if view.levels[agreed] is not IMPOSSIBLE and happens(
            moment.of_turn("reconfirms"), RECONFIRMS
        ):
            outbox.tell(view.others, voice.reconfirm(agreed))
