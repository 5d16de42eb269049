"""Scripted speakers: sources of text that need no model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from calbench.agents.completer import CallSite, Completer
from calbench.agents.scripted.batch import decision, voluntary
from calbench.agents.scripted.confiding import answer_reasons
from calbench.agents.scripted.outbox import envelope
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.probing import Goal, probe
from calbench.agents.scripted.reading import read_briefing, read_message
from calbench.agents.scripted.reflecting import beliefs
from calbench.agents.scripted.style import STYLES, Style
from calbench.agents.scripted.talk import talk
from calbench.agents.scripted.view import Reader, View
from calbench.domain.randomness import stream
from calbench.errors import ConfigError
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request

SCRIPTED_SPEC: Final = ModelSpec(model="scripted")
"""The model in a request to a scripted speaker: there is none."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
"""Made once; ``json.dumps`` would make one for every reply."""


@dataclass(slots=True)
class ScriptedSpeaker:
    """Plays cooperatively, in plain English, using the thread and nothing else.

    A completion is a pure function of style, goal, seed (of the choice among wordings, and of what
    is left to chance) and thread.
    """

    style: Style
    seed: int
    goal: Goal | None = None
    _reader: Reader = field(default_factory=Reader)

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Answer at once; the place in the run does not matter."""
        del site
        return Completion(text=self.reply(request.messages), finish_reason="stop")

    def reply(self, messages: Sequence[ChatMessage]) -> str:
        """Return the reply to a thread's last message."""
        return _ENCODER.encode(self._reply(messages))

    def _reply(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        if len(messages) < 2:
            return envelope("Nothing was asked.", [])
        now = read_message(messages[-1].content)
        rules = read_briefing(messages[0].content)
        if rules is None:
            return envelope("I cannot read this.", [])
        if now.kind == "reflection":
            return beliefs(now, self._reader.ledger(rules, messages))
        view = self._reader.view(rules, messages)
        if view is None:
            return envelope("I cannot read this.", [])
        return self._act(view)

    def _act(self, view: View) -> dict[str, Any]:
        now = view.now
        turn = -1 if now.turn_index is None else now.turn_index
        moment = (now.round_index or 0, now.kind, turn)
        voice = Voice(stream(self.seed, "words", *moment))
        if now.kind in ("round_start", "outsider", "turn"):
            outbox = talk(view, self.style, voice)
            answer_reasons(view, self.style, stream(self.seed, "reasons", *moment), outbox)
            if self.goal is not None:
                probe(view, self.goal, stream(self.seed, "probing", *moment), outbox)
            messages = outbox.messages(self.style.most_slots)
            return envelope("I go on." if messages else "There is nothing to add.", messages)
        if now.kind == "voluntary":
            return envelope("I keep what I promised.", voluntary(view, voice))
        if now.kind in ("decision", "retry"):
            return envelope("I do what we agreed on.", decision(view, voice))
        return envelope("I cannot read this.", [])


def scripted_speaker(style: str, seed: int, goal: Goal | None = None) -> Completer:
    """Return a speaker for one game and one seat.

    Args:
        style: its name.
        seed: of its chance.
        goal: what it is after beside the meetings, if anything.

    Raises:
        ConfigError: listing the known styles, if this is none of them.
    """
    if style not in STYLES:
        known = ", ".join(sorted(STYLES))
        raise ConfigError(f"scripted style {style!r} is unknown; known are {known}")
    return ScriptedSpeaker(STYLES[style], seed, goal)
