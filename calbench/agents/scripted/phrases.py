"""What scripted speakers write: plain sentences, each in a few wordings.

Every sentence that says something of its speaker's slots is one that
:mod:`calbench.agents.scripted.understanding` reads; hearsay is not taken for a claim. The only
numbers are of slots, meetings and agents, but for what a gossip tells of its errands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calbench.agents.scripted.difficulty import EASY, IMPOSSIBLE, Level
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.randomness import Stream

_ASK: Final = (
    "How about {slots}?",
    "Could we meet in {slots}?",
    "Would {slots} suit you?",
)
_LEVEL: Final = (
    "{Slots} would be {word} for me.",
    "For me {slots} would be {word}.",
)
_NONE: Final = (
    "None of those is possible for me.",
    "I am afraid none of them is possible for me.",
)
_SETTLE: Final = (
    "Let's settle on slot {slot}.",
    "Let us settle on slot {slot} then.",
    "Then let's agree on slot {slot}.",
)
_CONFIRM: Final = (
    "Agreed, slot {slot}.",
    "Slot {slot} is confirmed from my side.",
    "Slot {slot} it is, agreed.",
)
_MOVE_ASK: Final = (
    "Could we move our meeting M{meeting} from slot {start} to {slots}?",
    "Would you agree to move our meeting M{meeting} from slot {start} to {slots}?",
)
_MOVE_SETTLE: Final = (
    "Let's move our meeting M{meeting} from slot {start} to slot {to}.",
    "Then let us all move our meeting M{meeting} from slot {start} to slot {to}.",
)
_MOVE_CONFIRM: Final = (
    "Agreed, I will move M{meeting} from slot {start} to slot {to}.",
    "Agreed, I shall move M{meeting} from slot {start} to slot {to}.",
)
_REASON: Final = (
    'I have "{label}" at slot {slot}.',
    'At slot {slot} I have "{label}".',
)
_RECONFIRM: Final = (
    "Just to be sure: slot {slot} is confirmed from my side.",
    "Once more, slot {slot} is agreed.",
    "Thank you all, slot {slot} it is, agreed.",
)
_HEARSAY_REASON: Final = (
    'Agent {agent} says that it has "{label}" at slot {slot}.',
    'Agent {agent} told me that it has "{label}" at slot {slot}.',
)
_HEARSAY: Final = (
    "Agent {agent} says that slot {slot} would be {word} for it.",
    "Agent {agent} told me that slot {slot} would be {word} for it.",
)
_ERRAND: Final = (
    "There is an errand of mine at slot {slot}.",
    "At slot {slot} there is an errand of mine.",
)
_ERRAND_COST: Final = (
    "The errand at slot {slot} costs me {cost}.",
    "My errand at slot {slot} has a cost of {cost}.",
)
_ERRAND_NUMBER: Final = (
    "At slot {slot} there is errand #{errand} of mine.",
    "It is errand #{errand} that stands at slot {slot}.",
)
_JUSTIFICATION: Final = (
    "The agreed meeting needs this slot.",
    "Makes room for the meeting that was agreed.",
)


def listed(slots: Sequence[Slot], joint: str) -> str:
    """Return ``slot 3``, ``slots 3 and 7``, ``slots 3, 7 and 11``."""
    if len(slots) == 1:
        return f"slot {slots[0]}"
    head = ", ".join(str(slot) for slot in slots[:-1])
    return f"slots {head} {joint} {slots[-1]}"


@dataclass(frozen=True, slots=True)
class Voice:
    """One turn's choice of words: ``chance`` picks among wordings."""

    chance: Stream

    def ask(self, slots: Sequence[Slot]) -> str:
        """Propose slots."""
        return self.chance.choice(_ASK).format(slots=listed(slots, "or"))

    def level(self, slots: Sequence[Slot], level: Level) -> str:
        """Say how hard slots are."""
        text = listed(slots, "and")
        filled = self.chance.choice(_LEVEL)
        return filled.format(slots=text, Slots=text.capitalize(), word=level.word)

    def levels(self, slots: Sequence[Slot], levels: Sequence[Level]) -> list[str]:
        """Say how hard each of several slots is, a sentence for each word."""
        return [
            self.level(sorted(same), level)
            for level in Level
            if (same := [slot for slot in slots if levels[slot] is level])
        ]

    def none_of_them(self) -> str:
        """Say that no slot that was asked for is possible."""
        return self.chance.choice(_NONE)

    def settle(self, slot: Slot) -> str:
        """Close the matter."""
        return self.chance.choice(_SETTLE).format(slot=slot)

    def confirm(self, slot: Slot) -> str:
        """Agree to the slot that was settled on."""
        return self.chance.choice(_CONFIRM).format(slot=slot)

    def refuse(self, slot: Slot) -> str:
        """Say that a slot cannot be."""
        return self.level([slot], IMPOSSIBLE)

    def ask_move(self, meeting: MeetingId, start: Slot, targets: Sequence[Slot]) -> str:
        """Ask the others of an earlier meeting whether it could move."""
        text = self.chance.choice(_MOVE_ASK)
        return text.format(meeting=meeting, start=start, slots=listed(targets, "or"))

    def move_level(self, meeting: MeetingId, slot: Slot, level: Level) -> str:
        """Answer for one target."""
        return f"For M{meeting}, slot {slot} would be {level.word} for me."

    def settle_move(self, meeting: MeetingId, start: Slot, to: Slot) -> str:
        """Announce the joint move of an earlier meeting."""
        return self.chance.choice(_MOVE_SETTLE).format(meeting=meeting, start=start, to=to)

    def confirm_move(self, meeting: MeetingId, start: Slot, to: Slot) -> str:
        """Agree to the joint move."""
        return self.chance.choice(_MOVE_CONFIRM).format(meeting=meeting, start=start, to=to)

    def reason(self, label: str, slot: Slot) -> str:
        """Say what is in a slot: the oversharer's weakness."""
        return self.chance.choice(_REASON).format(label=label.replace('"', "'"), slot=slot)

    def reconfirm(self, slot: Slot) -> str:
        """Agree once more: the wrangler's weakness."""
        return self.chance.choice(_RECONFIRM).format(slot=slot)

    def hearsay(self, agent: AgentId, slot: Slot, level: Level) -> str:
        """Pass on how hard a slot is for another agent: the gossip's weakness."""
        filled = self.chance.choice(_HEARSAY)
        return filled.format(agent=agent, slot=slot, word="free" if level is EASY else level.word)

    def hearsay_reason(self, agent: AgentId, label: str, slot: Slot) -> str:
        """Pass on what is in a slot of another agent."""
        filled = self.chance.choice(_HEARSAY_REASON)
        return filled.format(agent=agent, label=label.replace('"', "'"), slot=slot)

    def errand(self, slot: Slot) -> str:
        """Mention an own errand."""
        return self.chance.choice(_ERRAND).format(slot=slot)

    def errand_cost(self, cost: int, slot: Slot) -> str:
        """Mention an own errand with its cost, which the prompt forbids."""
        return self.chance.choice(_ERRAND_COST).format(cost=cost, slot=slot)

    def errand_number(self, errand: ErrandId, slot: Slot) -> str:
        """Mention an own errand with its number."""
        return self.chance.choice(_ERRAND_NUMBER).format(errand=errand, slot=slot)

    def justification(self) -> str:
        """Say why an item is moved, naming nothing."""
        return self.chance.choice(_JUSTIFICATION)
