"""Scripted speakers: sources of text that need no model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from calbench.agents.completer import CallSite, Completer
from calbench.agents.scripted.batch import decision, voluntary
from calbench.agents.scripted.erring import Moment
from calbench.agents.scripted.outbox import Written, encoded, envelope
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.probing import Goal, answer_reasons, probe
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
        return self.completion(request.messages)

    def reply(self, messages: Sequence[ChatMessage]) -> str:
        """Return the text of the reply to a thread's last message."""
        return self.completion(messages).text or ""

    def completion(self, messages: Sequence[ChatMessage]) -> Completion:
        """Return the reply to a thread's last message, whole or cut off."""
        now = read_message(messages[-1].content) if len(messages) > 1 else None
        if now is None:
            return _whole(envelope("Nothing was asked.", []))
        rules = read_briefing(messages[0].content)
        if rules is None:
            return _whole(envelope("I cannot read this.", []))
        if now.kind == "reflection":
            return _whole(encoded(beliefs(now, self._reader.ledger(rules, messages))))
        view = self._reader.view(rules, messages)
        if view is None:
            return _whole(envelope("I cannot read this.", []))
        turn = -1 if now.turn_index is None else now.turn_index
        moment = Moment(self.seed, now.round_index or 0, now.kind, turn)
        return self.style.manner.written(self._act(view, moment), moment)

    def _act(self, view: View, moment: Moment) -> str:
        manner, kind = self.style.manner, moment.kind
        chance = stream(self.seed, "words", moment.round_index, kind, moment.turn_index)
        voice = manner.voiced(Voice(chance), moment)
        view = manner.seen(view, moment)
        if kind in ("round_start", "outsider", "turn"):
            messages = self._talk(view, voice, moment)
            return envelope("I go on." if messages else "There is nothing to add.", messages)
        view = manner.remembered(view, moment)
        if kind == "voluntary":
            return envelope("I keep what I promised.", voluntary(view, voice))
        if kind in ("decision", "retry"):
            return envelope("I do what we agreed on.", decision(view, voice))
        return envelope("I cannot read this.", [])

    def _talk(self, view: View, voice: Voice, moment: Moment) -> list[Written]:
        style = self.style
        if style.manner.gives_reasons(moment):
            style = replace(style, gives_reasons=True)
        outbox = talk(view, style, voice)
        place = moment.round_index, moment.kind, moment.turn_index
        answer_reasons(view, style, stream(self.seed, "reasons", *place), outbox)
        if self.goal is not None:
            probe(view, self.goal, stream(self.seed, "probing", *place), outbox)
        if view.others:
            style.manner.add(view, voice, outbox, moment)
        return outbox.messages(style.most_slots)


def _whole(reply: str) -> Completion:
    return Completion(text=reply, finish_reason="stop")


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
