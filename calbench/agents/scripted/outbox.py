"""What a speaker wants to say to whom, and the messages for it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from calbench.agents.scripted.understanding import slots_in
from calbench.domain.ids import AgentId
from calbench.domain.observations import Briefing

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

    def __init__(self, rules: Briefing, participants: tuple[AgentId, ...]) -> None:
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
    return encoded({"thinking": thinking, "actions": actions}) if actions else _without(thinking)


@lru_cache(maxsize=16)
def _without(thinking: str) -> str:
    """Return a reply without actions: most are, and all of them the same."""
    return encoded({"thinking": thinking, "actions": []})


def encoded(reply: dict[str, Any]) -> str:
    """Return a reply as JSON."""
    return _ENCODER.encode(reply)
