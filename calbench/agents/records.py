"""A reply as it is recorded: the request it answers, what came back, how it was got.

Requests are named by content, so a recorded reply is found wherever the same is asked again.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from calbench.agents.completion import (
    ChatMessage,
    Completion,
    Request,
    ResponseFormat,
    Sampling,
    TokenLogprob,
)
from calbench.domain.canonical import canonical_json, digest
from calbench.domain.replies import Usage
from calbench.files import printable, shorten

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Attempt(BaseModel):
    """One call to a provider, successful or not.

    Attributes:
        status: HTTP status; absent if no reply arrived.
        error: class of the error; absent if there was none.
        latency_s: seconds from sending to the reply or the error.
        waited_s: seconds of back-off before it.
        cost_usd: what it counts against a cap; absent without a price.
        is_cost_estimated: whether that is a bound or an estimate rather than the price of
            the tokens that the provider counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: int | None = None
    error: str | None = None
    latency_s: Annotated[float, Field(ge=0)]
    waited_s: Annotated[float, Field(ge=0)] = 0.0
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    is_cost_estimated: bool = False


class Record(BaseModel):
    """A recorded reply.

    Attributes:
        key: digest of the request.
        thread: digest of the thread of messages, see :class:`Link`.
        reply_schema: digest of the JSON Schema that was sent; absent if none was.
        asked_logprobs: whether token log-probabilities were asked for.
        attempts: in order; the last one brought the reply.
        recorded_at: when the reply came; UTC.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: Digest
    model: str
    sampling: Sampling
    response_format: ResponseFormat = "none"
    reply_schema: Digest | None = None
    asked_logprobs: bool = False
    replicate: int = 0
    thread: Digest
    text: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    attempts: Annotated[tuple[Attempt, ...], Field(min_length=1)]
    recorded_at: AwareDatetime

    @property
    def cost_usd(self) -> float | None:
        """What all attempts cost; absent if none has a price."""
        costs = [attempt.cost_usd for attempt in self.attempts if attempt.cost_usd is not None]
        return sum(costs) if costs else None

    def completion(self) -> Completion:
        """Return the reply as it was first given."""
        return Completion(
            text=self.text,
            finish_reason=self.finish_reason,
            refusal=self.refusal,
            usage=self.usage,
            logprobs=self.logprobs,
            key=self.key,
        )


class Link(NamedTuple):
    """One message at its place in a thread: the thread before it, and the message.

    Threads only grow, and so share their beginnings: each message adds one link, where a
    list of messages for each request would make the store grow with the square of a game.
    """

    digest: str
    parent: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request with the names of its parts."""

    request: Request
    key: str
    links: tuple[Link, ...]
    schema_digest: str | None

    @property
    def thread(self) -> str:
        """The digest of the whole thread."""
        return self.links[-1].digest

    def parts(self) -> Iterator[tuple[str, str, str]]:
        """Yield digest, role and content of whatever the request is made of."""
        for link, message in zip(self.links, self.request.messages, strict=True):
            yield link.message, message.role, message.content
        schema = self.schema_part()
        if schema is not None:
            yield schema

    def schema_part(self) -> tuple[str, str, str] | None:
        """Return digest, role and content of the JSON Schema; absent if none is sent."""
        if self.schema_digest is None:
            return None
        return self.schema_digest, SCHEMA_ROLE, canonical_json(sent_schema(self.request))


SCHEMA_ROLE = "schema"
"""Under which a reply's JSON Schema stands among the messages."""


def sent_schema(request: Request) -> Mapping[str, Any] | None:
    """Return the schema if the model is told it."""
    return None if request.spec.response_format == "none" else request.reply_schema


def named(request: Request) -> Recorded:
    """Name a request by its content: the key holds neither address nor key nor host.

    Raises:
        ValueError: if there is no message.
    """
    if not request.messages:
        raise ValueError("a request has at least one message")
    schema = sent_schema(request)
    return Recorded(
        request=request,
        key=digest(_identity(request)),
        links=tuple(chain(message_digest(*message) for message in request.messages)),
        schema_digest=None if schema is None else message_digest(SCHEMA_ROLE, _text(schema)),
    )


def _identity(request: Request) -> dict[str, Any]:
    spec = request.spec
    return {
        "model": spec.model,
        "messages": request.messages,
        "sampling": spec.sampling.model_dump(exclude_none=True),
        "response_format": spec.response_format,
        "schema": sent_schema(request),
        "logprobs": request.logprobs,
        "replicate": spec.replicate,
    }


def _text(schema: Mapping[str, Any]) -> str:
    return canonical_json(schema)


@lru_cache(maxsize=4096)
def message_digest(role: str, content: str) -> str:
    """Return the digest of one message."""
    return digest([role, content])


def chain(messages: Iterator[str] | Sequence[str]) -> Iterator[Link]:
    """Yield the links of a thread from the digests of its messages."""
    parent: str | None = None
    for message in messages:
        link = Link(link_digest(parent, message), parent, message)
        yield link
        parent = link.digest


@lru_cache(maxsize=16384)
def link_digest(parent: str | None, message: str) -> str:
    """Return the digest of a thread from the thread before its last message, and that."""
    return hashlib.sha256(f"{parent or ''}:{message}".encode()).hexdigest()


def first_difference(
    recorded: Record, recorded_messages: Sequence[ChatMessage], asked: Recorded
) -> str:
    """Say where a request first differs from a recorded one: the messages, then the rest."""
    request = asked.request
    for index in range(max(len(recorded_messages), len(request.messages))):
        before, now = _at(recorded_messages, index), _at(request.messages, index)
        if before != now:
            return f"message {index}: {_texts(before, now)}"
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
    for name, (theirs, ours) in pairs.items():
        if theirs != ours:
            return f"{name}: recorded {theirs!r:.80}, asked {ours!r:.80}"
    return "none: the record does not belong to its key"


def _at(messages: Sequence[ChatMessage], index: int) -> ChatMessage | None:
    return messages[index] if index < len(messages) else None


def _texts(recorded: ChatMessage | None, asked: ChatMessage | None) -> str:
    """Show both messages from where they part."""
    if recorded is None or asked is None:
        return f"recorded {_shown(recorded, 0)}, asked {_shown(asked, 0)}"
    start = common_length(recorded.content, asked.content) if recorded.role == asked.role else 0
    return f"recorded {_shown(recorded, start)}, asked {_shown(asked, start)}"


def common_length(one: str, other: str) -> int:
    """Return how many characters two texts share at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _shown(message: ChatMessage | None, start: int) -> str:
    if message is None:
        return "no message there"
    before = "..." if start else ""
    text = printable(shorten(message.content[start:]))
    return f"{message.role} '{before}{text}'"
