"""A withholding speaker: says which slots are possible, and keeps how hard they are to itself.

What the paper saw in GPT-5.4 Mini: it proposed slots and told its availability as others did, and
hardly ever its costs or constraints (section 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calbench.agents.scripted.difficulty import IMPOSSIBLE, Level
from calbench.agents.scripted.erring.manner import Manner, Moment, happens
from calbench.agents.scripted.phrases import Voice, listed
from calbench.domain.ids import MeetingId, Slot

TELLS_DIFFICULTY: Final = 0.063
"""Share of turns in which it says how hard slots are all the same [P, section 4]."""

_CAN: Final = ("I can do {slots}.", "I could do {slots}.")
_CANNOT: Final = ("I cannot do {slots}.", "I am not available at {slots}.")


@dataclass(frozen=True, slots=True)
class Withholding(Manner):
    """Answers with yes or no."""

    def voiced(self, voice: Voice, moment: Moment) -> Voice:
        """Return a voice for yes and no, in nearly every turn."""
        is_frank = happens(moment.of_turn("difficulty"), TELLS_DIFFICULTY)
        return voice if is_frank else YesOrNo(voice.chance)


class YesOrNo(Voice):
    """A voice that has two words for five levels."""

    def level(self, slots: Sequence[Slot], level: Level) -> str:
        """Say whether slots can be."""
        wordings = _CANNOT if level is IMPOSSIBLE else _CAN
        return self.chance.choice(wordings).format(slots=listed(slots, "and"))

    def levels(self, slots: Sequence[Slot], levels: Sequence[Level]) -> list[str]:
        """Say which of several slots can be, and which cannot."""
        cannot = sorted(slot for slot in slots if levels[slot] is IMPOSSIBLE)
        can = sorted(slot for slot in slots if levels[slot] is not IMPOSSIBLE)
        said = [self.level(can, Level.POSSIBLE)] if can else []
        return [*said, self.level(cannot, IMPOSSIBLE)] if cannot else said

    def move_level(self, meeting: MeetingId, slot: Slot, level: Level) -> str:
        """Answer for one target with yes or no."""
        return f"For M{meeting}, I {'cannot' if level is IMPOSSIBLE else 'can'} do slot {slot}."
