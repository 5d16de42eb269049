"""Facts of messages and calls.

Who sent what to whom and how far it moved beliefs; what language players were asked, the tokens,
and how replies were read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.domain.observations import CHEAP_TALK, REFLECTION
from calbench.facts.beliefs import UPDATES, typed_agents
from calbench.facts.columns import columns, count, listed, text
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.facts.speech import audited
from calbench.metrics.players import Player
from calbench.metrics.privacy.loss import CHANNEL_BY_EVENT
from calbench.metrics.speech.conversation import Conversation
from calbench.metrics.speech.messages import AuditedMessage, audited_messages, scene_of
from calbench.metrics.speech.rules import NAMES as OWN_SLOT
from calbench.metrics.speech.secondhand import PassedOn
from calbench.metrics.usage import ANSWERS, tokens_of
from calbench.scenarios.labels import TIERS
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    BatchRejected,
    DecideEnd,
    DmSent,
    Event,
    MessageSent,
    ParticipantGroupchatSent,
    Reflection,
    ReplyNote,
    SealedSent,
    TurnEnd,
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
        passed_on: the labels of others that it passes on.
        bits: that all who heard it learnt by it; ``None`` if that is not known.
    """

    event_index: int
    event: MessageSent | AnnouncementSent
    player: Player | None
    text: str | None
    steps: Sequence[float]
    audited: AuditedMessage | None
    passed_on: tuple[PassedOn, ...]
    bits: float | None


def _messages(game: MeasuredGame) -> Iterator[Message]:
    if game.is_scored:
        steps = _steps_by_event(game)
        by_event: dict[int, AuditedMessage] | None = None
        passed: Mapping[int, tuple[PassedOn, ...]] = {}
        for index, event in enumerate(game.trace.events):
            if isinstance(event, SENT):
                sender = _sender(event)
                player = None if sender is None else game.players[sender]
                words = event.content.text if isinstance(event.content, Text) else None
                if words is not None and by_event is None:  # a typed game has nothing to audit
                    talk = _audited(game)
                    by_event = {each.said.event_index: each for each in talk.messages}
                    passed = talk.spread.by_event
                found = None if words is None or by_event is None else by_event.get(index)
                moves, others = steps.get(index, ()), passed.get(index, ())
                bits = game.score.learnt.told.get(index)
                yield Message(index, event, player, words, moves, found, others, bits)


def _audited(game: MeasuredGame) -> Conversation:
    """Return the messages in words, also those of a team that says that it uses none."""
    found = audited(game)
    if found is not None:
        return found
    scene = scene_of(game.trace)
    return Conversation(audited_messages(game.trace, scene), (), scene.labels)


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
    columns(
        f"""
    event_index round turn sender player kind recipients channel source
    chars (count, characters): length {IN_WORDS}
    updates (count, {UPDATES}; P): beliefs about typed agents it moved
    vps (fine, slot-equivalents): change of sum |b - prior| over all pairs that it caused, before
        the floor; negative where it moved beliefs back; empty in words, which reflections measure
    bits (number, bits): what all who heard it learnt by it of all others' first calendars, by the
        informed reader; over a game they add up to its bits and what its outcome tells; empty
        where the rules are not known by which it was said
    text (text; P): its words; empty for a typed one
    patterns (list; P): behaviour patterns {IN_WORDS}, or none
    own_slot (list; P): of {", ".join(OWN_SLOT)}: those {IN_WORDS}, or none
    labels_told (count, labels; P): private labels {IN_WORDS}
    leak_tier (text; P): most private tier of these labels
    labels_passed_on (count, labels): private labels of others that it passed on to an agent to
        which they were news; {IN_WORDS}
    """,
        of=[TURN, SENDER, RECIPIENTS, CHANNEL, SOURCE],
    ),
    {
        "round": "event.round",
        "turn": "event.turn",
        "sender": lambda message: _sender(message.event),
        "player": _of_player("name"),
        "kind": _of_player("kind"),
        "recipients": lambda message: " ".join(map(str, message.event.to_agents)) or None,
        "channel": lambda message: CHANNEL_BY_EVENT[type(message.event)],
        "source": "event.content.kind",
        "chars": lambda message: None if message.text is None else len(message.text),
        "updates": _of_typed(len),
        "vps": _of_typed(fsum),
        "patterns": _of_words(lambda message: " ".join(message.patterns) or None),
        "own_slot": _of_words(lambda message: " ".join(message.own_slot) or None),
        "labels_told": _of_words(
            lambda each: None if each.labels is None else len(each.tier_by_item)
        ),
        "leak_tier": _of_words(
            lambda m: max(m.tier_by_item.values(), key=TIERS.index, default=None)
        ),
        "labels_passed_on": lambda message: (
            None
            if message.audited is None or message.audited.labels is None
            else len(message.passed_on)
        ),
    },
    is_large=True,
)
"""Every message of a scored game."""


Answer = TurnEnd | DecideEnd | Reflection

READ = "read"
"""Reading of an answer without a note, or with one that only says what was ignored."""


class Call(NamedTuple):
    """One answer of a player, the event after it, and whether it was a batch that was rejected."""

    event_index: int
    event: Answer
    after: Event | None
    player: Player
    is_rejected: bool


def _calls(game: MeasuredGame) -> Iterator[Call]:
    if not game.trace.config.team.uses_language:
        return
    events = game.trace.events
    rejected = {_batch(event) for event in events if isinstance(event, BatchRejected)}
    for index, (event, after) in enumerate(zip(events, (*events[1:], None), strict=True)):
        if isinstance(event, ANSWERS) and game.players[event.agent_id].uses_language:
            is_rejected = isinstance(event, DecideEnd) and _batch(event) in rejected
            yield Call(index, event, after, game.players[event.agent_id], is_rejected)


def _batch(event: DecideEnd | BatchRejected) -> tuple[int, str, AgentId, int]:
    """Return what distinguishes a batch from all others of a game."""
    return event.round, str(event.phase), event.agent_id, event.attempt


def _phase(call: Call) -> str:
    if isinstance(call.event, DecideEnd):
        return str(call.event.phase)
    return str(CHEAP_TALK if isinstance(call.event, TurnEnd) else REFLECTION)


def _attempt(call: Call) -> int | None:
    if isinstance(call.event, Reflection):
        return None
    return call.event.turn if isinstance(call.event, TurnEnd) else call.event.attempt


def _replies(call: Call) -> int:
    usage, keys = call.event.usage, call.event.reply_keys
    return len(keys) if usage is None else tokens_of(usage, keys).calls


def _reading(call: Call) -> str:
    """Return how an answer was read: a note about it follows it at once."""
    note = call.after
    if isinstance(note, ReplyNote) and note.agent_id == call.event.agent_id:
        return READ if note.kind == "prose_ignored" else note.kind
    return READ


def _used(name: str) -> Find:
    """Return what finds an attribute of an answer's usage; absent where no model was asked."""
    return lambda call: None if call.event.usage is None else getattr(call.event.usage, name)


CALLS = Fact(
    "calls",
    _calls,
    columns("""
    event_index round
    phase (text; P): CHEAP_TALK, VOLUNTARY, DECISION or REFLECTION
    agent_id player kind
    model (text): its model, as LiteLLM spells it
    attempt (count; P): sweep of cheap talk, or retry of a batch, from 0; empty in reflection
    calls (count, calls): recorded replies to get the answer, at least one; 0 where no model was
        asked
    input_tokens (count, tokens; P): sent, including cached ones
    cached_tokens (count, tokens; P): of these, from the provider's cache
    output_tokens (count, tokens; P): received
    is_estimated (truth; C): tokens are estimated from the lengths of the texts
    reading (text; C): read, recovered after a cut, or why it was not readable
    is_rejected (truth; P): a batch that broke a rule and was not applied
    """),
    {
        "round": "event.round",
        "phase": _phase,
        "agent_id": "event.agent_id",
        "player": "player.name",
        "kind": "player.kind",
        "model": "player.model",
        "attempt": _attempt,
        "calls": _replies,
        "input_tokens": _used("input_tokens"),
        "cached_tokens": _used("cached_tokens"),
        "output_tokens": _used("output_tokens"),
        "is_estimated": _used("is_estimated"),
        "reading": _reading,
        "is_rejected": "is_rejected",
    },
    is_large=True,
)
"""Every answer of a language player, in excluded games too: they were paid for."""
