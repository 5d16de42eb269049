"""Facts of messages: who told whom in which way, and how far typed ones moved beliefs."""

from collections.abc import Callable, Iterator, Sequence
from math import fsum
from typing import Any, NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.facts.beliefs import UPDATES, typed_agents
from calbench.facts.columns import (
    EVENT,
    PLAYER,
    PLAYER_KIND,
    ROUND,
    SLOTS,
    Column,
    count,
    fine,
    listed,
    text,
)
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.speech import audited
from calbench.metrics.privacy.loss import CHANNEL_BY_EVENT
from calbench.metrics.speech.messages import AuditedMessage, audited_messages, labels_of_game
from calbench.metrics.speech.own_slot import NAMES as OWN_SLOT
from calbench.scenarios.labels import TIERS
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    DmSent,
    MessageSent,
    ParticipantGroupchatSent,
    SealedSent,
)

IN_WORDS = "of a message in words; empty for a typed one"

SENT = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, SealedSent, AnnouncementSent)
"""Events that hold a message. A tuple: a union would be made anew at every look at an event."""


class Message(NamedTuple):
    """One message; without a sender it is the mediator's."""

    event_index: int
    round: int
    turn: int
    sender: AgentId | None
    player: str | None
    kind: str | None
    recipients: str | None
    channel: str
    source: str
    chars: int | None
    updates: int | None
    vps: float | None
    text: str | None
    audited: AuditedMessage | None


def _messages(game: MeasuredGame) -> Iterator[Message]:
    if game.is_scored:
        steps, found, trace = _steps_by_event(game), audited(game), game.trace
        messages = (
            audited_messages(trace, labels_of_game(trace)) if found is None else found.messages
        )
        by_event = {message.said.event_index: message for message in messages}
        for index, event in enumerate(game.trace.events):
            if isinstance(event, SENT):
                yield _message(index, event, game, steps.get(index, ()), by_event.get(index))


def _message(
    index: int,
    event: MessageSent | AnnouncementSent,
    game: MeasuredGame,
    steps: Sequence[float],
    message: AuditedMessage | None,
) -> Message:
    sender = None if isinstance(event, AnnouncementSent) else event.from_agent
    player = None if sender is None else game.players[sender]
    words = event.content.text if isinstance(event.content, Text) else None
    return Message(
        event_index=index,
        round=event.round,
        turn=event.turn,
        sender=sender,
        player=None if player is None else player.name,
        kind=None if player is None else player.kind,
        recipients=" ".join(map(str, event.to_agents)) or None,
        channel=CHANNEL_BY_EVENT[type(event)],
        source=event.content.kind,
        chars=None if words is None else len(words),
        updates=len(steps) if words is None else None,
        vps=fsum(steps) if words is None else None,
        text=words,
        audited=message,
    )


def _steps_by_event(game: MeasuredGame) -> dict[int, list[float]]:
    """Return how far each message moved each belief about a typed agent from the prior."""
    typed, prior = typed_agents(game), game.measure.belief_prior
    steps: dict[int, list[float]] = {}
    for each in game.rounds:
        for heard in each.heard:
            if heard.target in typed:
                steps.setdefault(heard.event_index, []).extend(
                    [abs(after - prior) - abs(before - prior) for before, after in heard.steps]
                )
    return steps


def _of_words(find: Callable[[AuditedMessage], Any]) -> Callable[[Message], Any]:
    """Return what finds something in the words of a message, if it is in words."""
    return lambda message: None if message.audited is None else find(message.audited)


MESSAGES = Fact(
    "messages",
    _messages,
    (
        EVENT,
        ROUND,
        Column("turn", "integer", "", "number of the sweep in its round, from 0", origin="P"),
        Column("sender", "integer", "", "agent that sent it; empty: the mediator"),
        PLAYER,
        PLAYER_KIND,
        listed("recipients", "agents it was delivered to, separated by spaces"),
        text("channel", "channel it was sent on", "P"),
        text("source", "kind of message; text is in words", "P"),
        count("chars", "characters", f"length {IN_WORDS}"),
        count("updates", UPDATES, "beliefs about typed agents it moved", "P"),
        fine(
            "vps",
            SLOTS,
            "change of sum |b - prior| over all pairs that it caused, before the floor; negative "
            "where it moved beliefs back; empty in words, which reflections measure",
        ),
        text("text", "the words themselves; empty for a typed one", "P"),
        (
            listed("patterns", f"behaviour patterns {IN_WORDS}, or none", "P"),
            _of_words(lambda message: " ".join(message.patterns) or None),
        ),
        (
            listed("own_slot", f"of {', '.join(OWN_SLOT)}: those {IN_WORDS}, or none", "P"),
            _of_words(lambda message: " ".join(message.own_slot) or None),
        ),
        (
            count("labels_told", "labels", f"private labels {IN_WORDS}", "P"),
            _of_words(lambda each: None if each.labels is None else len(each.tier_by_item)),
        ),
        (
            text("leak_tier", "most private tier of these labels", "P"),
            _of_words(lambda m: max(m.tier_by_item.values(), key=TIERS.index, default=None)),
        ),
    ),
    is_large=True,
)
"""Every message of a scored game."""
