"""Facts of messages: sender, recipients and channel, and how far typed ones moved beliefs."""

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
    count,
    fine,
    listed,
    text,
)
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.facts.speech import audited
from calbench.metrics.players import Player
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

TURN = count("turn", "", "number of the sweep in its round, from 0", "P")
SENDER = count("sender", "", "agent that sent it; empty: the mediator", "")
RECIPIENTS = listed("recipients", "agents it was delivered to, separated by spaces")
CHANNEL = text("channel", "channel it was sent on", "P")
SOURCE = text("source", "kind of message; text is in words", "P")
IN_WORDS = "of a message in words; empty for a typed one"

SENT = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, SealedSent, AnnouncementSent)
"""Events with a message. A tuple: a union would be built anew for every event."""


class Message(NamedTuple):
    """One message.

    Attributes:
        event_index: its event in the trace.
        event: the same.
        player: who sent it; ``None`` for the mediator.
        text: its words; ``None`` if it is typed.
        steps: how far it moved each belief about a typed agent from the prior.
        audited: what the detectors find in its words.
    """

    event_index: int
    event: MessageSent | AnnouncementSent
    player: Player | None
    text: str | None
    steps: Sequence[float]
    audited: AuditedMessage | None


def _messages(game: MeasuredGame) -> Iterator[Message]:
    if game.is_scored:
        steps = _steps_by_event(game)
        by_event: dict[int, AuditedMessage] | None = None
        for index, event in enumerate(game.trace.events):
            if isinstance(event, SENT):
                sender = _sender(event)
                player = None if sender is None else game.players[sender]
                words = event.content.text if isinstance(event.content, Text) else None
                if words is not None and by_event is None:  # a typed game has nothing to audit
                    by_event = {each.said.event_index: each for each in _audited(game)}
                found = None if words is None or by_event is None else by_event.get(index)
                yield Message(index, event, player, words, steps.get(index, ()), found)


def _audited(game: MeasuredGame) -> Sequence[AuditedMessage]:
    """Return the messages in words, also those of a team that says that it uses none."""
    found, trace = audited(game), game.trace
    return audited_messages(trace, labels_of_game(trace)) if found is None else found.messages


def _sender(event: MessageSent | AnnouncementSent) -> AgentId | None:
    return None if isinstance(event, AnnouncementSent) else event.from_agent


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


def _of_player(name: str) -> Find:
    """Return what finds an attribute of the sender; absent for the mediator."""
    return lambda message: None if message.player is None else getattr(message.player, name)


def _of_typed(find: Callable[[Sequence[float]], float]) -> Find:
    """Return what finds something in the steps of a typed message."""
    return lambda message: find(message.steps) if message.text is None else None


def _of_words(find: Callable[[AuditedMessage], Any]) -> Find:
    """Return what finds something in the words of a message in words."""
    return lambda message: None if message.audited is None else find(message.audited)


MESSAGES = Fact(
    "messages",
    _messages,
    (
        EVENT,
        (ROUND, "event.round"),
        (TURN, "event.turn"),
        (SENDER, lambda message: _sender(message.event)),
        (PLAYER, _of_player("name")),
        (PLAYER_KIND, _of_player("kind")),
        (RECIPIENTS, lambda message: " ".join(map(str, message.event.to_agents)) or None),
        (CHANNEL, lambda message: CHANNEL_BY_EVENT[type(message.event)]),
        (SOURCE, "event.content.kind"),
        (
            count("chars", "characters", f"length {IN_WORDS}"),
            lambda message: None if message.text is None else len(message.text),
        ),
        (count("updates", UPDATES, "beliefs about typed agents it moved", "P"), _of_typed(len)),
        (
            fine(
                "vps",
                SLOTS,
                "change of sum |b - prior| over all pairs that it caused, before the floor; "
                "negative where it moved beliefs back; empty in words, which reflections measure",
            ),
            _of_typed(fsum),
        ),
        text("text", "its words; empty for a typed one", "P"),
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
