"""Why a request has no recorded reply: where it differs from the nearest one that has."""

from collections.abc import Sequence
from itertools import islice, takewhile, zip_longest

from calbench.files import printable, shorten
from calbench.llm.completion import ChatMessage, Sampling
from calbench.llm.replies.record import Record
from calbench.llm.replies.request import NamedRequest
from calbench.llm.replies.store import ReplyStore


def nearest_difference(store: ReplyStore, asked: NamedRequest) -> str | None:
    """Say how a request differs from the nearest recorded one; None in an empty store.

    The nearest one shares the longest beginning of the thread, then of the next message.
    """
    for shared in range(len(asked.links), -1, -1):
        near = [
            (record, store.thread(record.thread))
            for record in store.below(asked.links[shared - 1].digest if shared else None)
        ]
        if near:
            following = next(islice(asked.request.messages, shared, None), None)
            record, messages = max(
                near, key=lambda pair: _shared(next(islice(pair[1], shared, None), None), following)
            )
            return first_difference(record, messages, asked)
    return None


def first_difference(
    recorded: Record, recorded_messages: Sequence[ChatMessage], asked: NamedRequest
) -> str:
    """Say where a request first differs from a recorded one: the messages, then the rest."""
    request = asked.request
    for index, (before, now) in enumerate(zip_longest(recorded_messages, request.messages)):
        if before != now:
            start = _shared(before, now)
            return f"message {index}: recorded {_shown(before, start)}, asked {_shown(now, start)}"
    spec = request.spec
    pairs: dict[str, tuple[object, object]] = {
        "model": (recorded.model, spec.model),
        **{
            f"sampling.{name}": (getattr(recorded.sampling, name), getattr(spec.sampling, name))
            for name in Sampling.model_fields
        },
        "response_format": (recorded.response_format, spec.response_format),
        "reply_schema": (recorded.reply_schema, asked.schema_digest),
        "logprobs": (recorded.asked_logprobs, request.logprobs),
        "replicate": (recorded.replicate, spec.replicate),
    }
    for name, (before, now) in pairs.items():
        if before != now:
            return f"{name}: recorded {before!r:.80}, asked {now!r:.80}"
    return "none: the record does not belong to its key"


def _shared(one: ChatMessage | None, other: ChatMessage | None) -> int:
    """Return how many characters two messages of one role share at their beginning."""
    if one is None or other is None or one.role != other.role:
        return 0
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one.content, other.content, strict=False))
    return sum(1 for _ in same)


def _shown(message: ChatMessage | None, start: int) -> str:
    if message is None:
        return "no message there"
    before = "..." if start else ""
    text = printable(shorten(message.content[start:]))
    return f"{message.role} '{before}{text}'"
