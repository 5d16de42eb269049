"""Talk about what stands in a slot: how it is read, and what of it is known.

A question for a reason names whom it is for, since a group hears it too. It says nothing about
where the meeting might be, so :mod:`calbench.agents.scripted.understanding` leaves it out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from calbench.agents.scripted.understanding import LONGEST, SENTENCE, is_for_reason, slots_in
from calbench.domain.ids import AgentId, Slot

_ADDRESSEE = re.compile(r"\s*agent (\d{1,6}),", re.IGNORECASE)
_AGENT = re.compile(r"\bagent (\d{1,6})\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_OWN_REASON = re.compile(
    r'\bI have "([^"]*)" at slot (\d{1,4})\b|\bAt slot (\d{1,4}) I have "([^"]*)"'
)
_OTHERS_REASON = re.compile(
    r'\bagent (\d{1,6})\b[^".?!]*"([^"]*)" at slot (\d{1,4})', re.IGNORECASE
)


class Asked(NamedTuple):
    """What stands in a slot?

    ``agent``: who is asked, anybody if absent; ``about``: in whose calendar, that of who is asked
    if absent; ``slot``: in any if absent.
    """

    agent: AgentId | None
    about: AgentId | None
    slot: Slot | None


class Given(NamedTuple):
    """This stands in a slot. ``owner``: in whose calendar, the sender's if absent."""

    owner: AgentId | None
    slot: Slot
    label: str


@lru_cache(maxsize=4096)
def reasons_in(text: str) -> tuple[Asked | Given, ...]:
    """Return what a message says about reasons, questions first."""
    shown = text[:LONGEST].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    found: list[Asked | Given] = []
    if "?" in shown:
        for sentence in SENTENCE.split(_QUOTED.sub("it", shown)):
            if is_for_reason(sentence):
                found.extend(_asked(sentence))
    if '"' in shown:
        for one, slot, other_slot, other in _OWN_REASON.findall(shown):
            found.append(Given(None, Slot(int(slot or other_slot)), one or other))
        for agent, label, slot in _OTHERS_REASON.findall(shown):
            found.append(Given(AgentId(int(agent)), Slot(int(slot)), label))
    return tuple(found)


def _asked(sentence: str) -> list[Asked]:
    addressee = _ADDRESSEE.match(sentence)
    named = _AGENT.search(sentence, addressee.end() if addressee else 0)
    agent = AgentId(int(addressee[1])) if addressee else None
    about = AgentId(int(named[1])) if named else None
    return [Asked(agent, about, slot) for slot in slots_in(sentence) or (None,)]


class Question(NamedTuple):
    """A question that waits for this agent's answer: by whom, about whose calendar, which slot."""

    asker: AgentId
    about: AgentId
    slot: Slot | None


@dataclass(slots=True)
class Reasons:
    """What was said about reasons in a round, as one agent knows it.

    Attributes:
        me: whose knowledge it is.
        waiting: questions to this agent that it has not answered.
        asked: how often this agent put a question, by whom it asked, whose calendar it asked
            about, and slot.
        replied: agents that wrote since this agent asked them last.
        given: what stands in a slot as this agent was told, by owner and slot.
        unthanked: agents that gave a reason since this agent wrote to them last.
    """

    me: AgentId
    waiting: dict[Question, None] = field(default_factory=dict)
    asked: dict[tuple[AgentId, AgentId, Slot | None], int] = field(default_factory=dict)
    replied: set[AgentId] = field(default_factory=set)
    given: dict[tuple[AgentId, Slot], str] = field(default_factory=dict)
    unthanked: set[AgentId] = field(default_factory=set)

    def hear(self, sender: AgentId, text: str) -> None:
        """Take in a message of another agent."""
        self.replied.add(sender)
        for act in reasons_in(text):
            if isinstance(act, Given):
                self.given[sender if act.owner is None else act.owner, act.slot] = act.label
                self.unthanked.add(sender)
            elif act.agent in (None, self.me):
                about = self.me if act.about is None else act.about
                if about != sender:
                    self.waiting[Question(sender, about, act.slot)] = None

    def say(self, recipients: Iterable[AgentId], text: str) -> None:
        """Take in a message of this agent: it answers whatever its recipients had asked."""
        reached = set(recipients)
        self.waiting = {each: None for each in self.waiting if each.asker not in reached}
        self.unthanked -= reached
        for act in reasons_in(text):
            if isinstance(act, Asked) and act.agent is not None:
                key = act.agent, act.agent if act.about is None else act.about, act.slot
                self.asked[key] = self.asked.get(key, 0) + 1
                self.replied.discard(act.agent)
