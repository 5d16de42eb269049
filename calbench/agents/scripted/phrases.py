"""What scripted speakers write: plain sentences, each in a few wordings, and the messages of them.

Every sentence that says something of its speaker's slots is one that
:mod:`calbench.agents.scripted.understanding` reads; hearsay is not taken for a claim. The only
numbers are of slots, meetings and agents, but for what a gossip tells of its errands.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from calbench.agents.scripted.reading import Rules
from calbench.agents.scripted.understanding import Level, slots_in
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.randomness import Stream

ASK: Final = (
    "How about {slots}?",
    "Could we meet in {slots}?",
    "Would {slots} suit you?",
)
LEVEL: Final = (
    "{Slots} would be {word} for me.",
    "For me {slots} would be {word}.",
)
NONE: Final = (
    "None of those is possible for me.",
    "I am afraid none of them is possible for me.",
)
SETTLE: Final = (
    "Let's settle on slot {slot}.",
    "Let us settle on slot {slot} then.",
    "Then let's agree on slot {slot}.",
)
CONFIRM: Final = (
    "Agreed, slot {slot}.",
    "Slot {slot} is confirmed from my side.",
    "Slot {slot} it is, agreed.",
)
MOVE_ASK: Final = (
    "Could we move our meeting M{meeting} from slot {start} to {slots}?",
    "Would you agree to move our meeting M{meeting} from slot {start} to {slots}?",
)
MOVE_SETTLE: Final = (
    "Let's move our meeting M{meeting} from slot {start} to slot {to}.",
    "Then let us all move our meeting M{meeting} from slot {start} to slot {to}.",
)
MOVE_CONFIRM: Final = (
    "Agreed, I will move M{meeting} from slot {start} to slot {to}.",
    "Agreed, I shall move M{meeting} from slot {start} to slot {to}.",
)
REASON: Final = (
    'I have "{label}" at slot {slot}.',
    'At slot {slot} I have "{label}".',
)
RECONFIRM: Final = (
    "Just to be sure: slot {slot} is confirmed from my side.",
    "Once more, slot {slot} is agreed.",
    "Thank you all, slot {slot} it is, agreed.",
)
HEARSAY_REASON: Final = (
    'Agent {agent} says that it has "{label}" at slot {slot}.',
    'Agent {agent} told me that it has "{label}" at slot {slot}.',
)
HEARSAY: Final = (
    "Agent {agent} says that slot {slot} would be {word} for it.",
    "Agent {agent} told me that slot {slot} would be {word} for it.",
)
ERRAND: Final = (
    "There is an errand of mine at slot {slot}.",
    "At slot {slot} there is an errand of mine.",
)
ERRAND_COST: Final = (
    "The errand at slot {slot} costs me {cost}.",
    "My errand at slot {slot} has a cost of {cost}.",
)
ERRAND_NUMBER: Final = (
    "At slot {slot} there is errand #{errand} of mine.",
    "It is errand #{errand} that stands at slot {slot}.",
)
JUSTIFICATION: Final = (
    "The agreed meeting needs this slot.",
    "Makes room for the meeting that was agreed.",
)
ASK_REASON: Final = (
    "Agent {agent}, what is in the way at slot {slot}?",
    "Agent {agent}, may I ask what you have at slot {slot}?",
    "Agent {agent}, what keeps you from slot {slot}?",
)
PRESS: Final = (
    "Agent {agent}, nobody should give up what matters: what do you have at slot {slot}?",
    "Agent {agent}, perhaps it could wait: what kind of appointment is in the way at slot {slot}?",
)
ASK_OF: Final = (
    "Agent {agent}, do you know what agent {other} has at slot {slot}?",
    "Agent {agent}, what keeps agent {other} from slot {slot}?",
)
ASK_OF_ANY: Final = ("Agent {agent}, do you know what keeps agent {other} busy?",)
SYMPATHY: Final = (
    "Thank you for telling me, I can see that this matters.",
    "I understand, thank you for your trust.",
)
DECLINE: Final = (
    "I would like to keep to myself what stands there.",
    "What stands there is private, please understand.",
)
PASS_ON: Final = (
    "You would have to ask agent {other} about that.",
    "That is for agent {other} to say.",
)
TOLD_OF: Final = (
    'Agent {other} told me of "{label}" at slot {slot}.',
    'I heard from agent {other} of "{label}" at slot {slot}.',
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

    def say(self, wordings: Sequence[str], **values: object) -> str:
        """Fill one of several wordings; a label cannot end its own quotation."""
        clean = {
            name: value.replace('"', "'") if isinstance(value, str) else value
            for name, value in values.items()
        }
        return self.chance.choice(wordings).format(**clean)

    def ask(self, slots: Sequence[Slot]) -> str:
        """Propose slots."""
        return self.say(ASK, slots=listed(slots, "or"))

    def level(self, slots: Sequence[Slot], level: Level) -> str:
        """Say how hard slots are."""
        text = listed(slots, "and")
        return self.say(LEVEL, slots=text, Slots=text.capitalize(), word=level.word)

    def levels(self, slots: Sequence[Slot], levels: Sequence[Level]) -> list[str]:
        """Say how hard each of several slots is, a sentence for each word."""
        return [
            self.level(sorted(same), level)
            for level in Level
            if (same := [slot for slot in slots if levels[slot] is level])
        ]

    def move_level(self, meeting: MeetingId, slot: Slot, level: Level) -> str:
        """Answer for one target of an earlier meeting's move."""
        return f"For M{meeting}, slot {slot} would be {level.word} for me."


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
"""Made once; ``json.dumps`` would make one for every reply."""

Written = dict[str, Any]
"""An action of the envelope."""


class Outbox:
    """Sentences by recipient, in the order in which they are to be said.

    Args:
        rules: which channels are open, and who there is.
        participants: of the meeting under discussion, other than the speaker.
    """

    def __init__(self, rules: Rules, participants: tuple[AgentId, ...]) -> None:
        self._rules = rules
        self._participants = participants
        self._sentences: dict[AgentId, list[str]] = {}

    def reaches(self, agent: AgentId) -> bool:
        """Whether any channel leads to an agent."""
        channels = self._rules.channels
        if "dm" in channels or "all_agent_groupchat" in channels:
            return agent in self._rules.agent_ids
        return "participant_groupchat" in channels and agent in self._participants

    def tell(self, agents: Iterable[AgentId], *sentences: str) -> None:
        """Say something to those of the agents that can be reached."""
        for agent in agents:
            if self.reaches(agent):
                mine = self._sentences.setdefault(agent, [])
                mine.extend(text for text in sentences if text not in mine)

    def speaks_to(self, agent: AgentId) -> bool:
        """Whether there is anything to say to an agent."""
        return agent in self._sentences

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def messages(self, most_slots: int | None) -> list[Written]:
        """Return the messages.

        Sentences for participants go to their group's channel if it is open, else to the channel
        of all agents; an outsider gets a direct message if possible.

        Args:
            most_slots: slots that one message may name; sentences beyond are left unsaid.
        """
        channels = self._rules.channels
        groups: dict[str, dict[str, None]] = {}
        written: list[Written] = []
        for agent, sentences in self._sentences.items():
            if agent in self._participants and "participant_groupchat" in channels:
                groups.setdefault("participant_groupchat", {}).update(dict.fromkeys(sentences))
            elif "all_agent_groupchat" in channels and (
                agent in self._participants or "dm" not in channels
            ):
                groups.setdefault("all_agent_groupchat", {}).update(dict.fromkeys(sentences))
            elif text := _text(sentences, most_slots):
                written.append({"type": "dm", "to": agent, "content": text})
        written.extend(
            {"type": channel, "content": text}
            for channel, all_sentences in groups.items()
            if (text := _text(all_sentences, most_slots))
        )
        return written


def _text(sentences: Iterable[str], most_slots: int | None) -> str:
    named: set[int] = set()
    kept: list[str] = []
    for sentence in sentences:
        slots = named | set(slots_in(sentence))
        if most_slots is None or len(slots) <= most_slots:
            named = slots
            kept.append(sentence)
    return " ".join(kept)


def envelope(thinking: str, actions: Sequence[Mapping[str, Any]]) -> str:
    """Return a reply as the prompts ask for it."""
    return encoded({"thinking": thinking, "actions": actions})


def encoded(reply: dict[str, Any]) -> str:
    """Return a reply as JSON."""
    return _ENCODER.encode(reply)
