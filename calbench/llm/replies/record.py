"""Requests named by their content, and the replies recorded to them.

A reply is found whenever the same is asked again.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import takewhile, zip_longest
from typing import Annotated, Any, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from calbench.domain.canonical import canonical_json, digest, digest_of_text
from calbench.domain.usage import Usage
from calbench.files import printable, shorten
from calbench.llm.completion import (
    ChatMessage,
    Completion,
    ModelSpec,
    Options,
    Provenance,
    Request,
    ResponseFormat,
    Sampling,
    TokenLogprob,
)

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Link(NamedTuple):
    """One message at its place in a thread: the thread before it, and the message.

    Threads only grow, and so share their beginnings: each message adds one link, where a
    list of messages for each request would make the store grow with the square of a game.
    """

    digest: str
    parent: str | None
    message: str


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """A request with the names of its parts."""

    request: Request
    key: str
    links: tuple[Link, ...]
    schema_digest: str | None

    @property
    def thread(self) -> str:
        """The digest of the whole thread."""
        return self.links[-1].digest

    def schema_part(self) -> tuple[str, str, str] | None:
        """Return digest, role and content of the JSON Schema; absent if none is sent."""
        if self.schema_digest is None:
            return None
        return self.schema_digest, SCHEMA_ROLE, canonical_json(self.request.sent_schema)


SCHEMA_ROLE = "schema"
"""The role under which a JSON Schema is kept among the messages."""


def named(request: Request) -> NamedRequest:
    """Name a request by its content: the key holds neither address nor key nor host.

    Raises:
        ValueError: if there is no message.
    """
    if not request.messages:
        raise ValueError("a request has at least one message")
    schema = request.sent_schema
    return NamedRequest(
        request=request,
        key=_key(request),
        links=tuple(chain(message.digest for message in request.messages)),
        schema_digest=None
        if schema is None
        else message_digest(SCHEMA_ROLE, canonical_json(schema)),
    )


def _key(request: Request) -> str:
    """Return the digest of the canonical JSON of all that determines a reply."""
    spec = request.spec
    without_messages: dict[str, Any] = {
        "model": spec.model,
        "messages": [],
        "sampling": spec.sampling.model_dump(exclude_none=True),
        "response_format": spec.response_format,
        "schema": request.sent_schema,
        "logprobs": request.logprobs,
        "replicate": spec.replicate,
        **({"options": spec.options} if spec.options else {}),
    }
    # Messages know theirs, which takes most of the time; nothing before their place is a text.
    before, place, after = canonical_json(without_messages).partition('"messages":[')
    messages = ",".join([message.canonical for message in request.messages])
    return digest_of_text(f"{before}{place}{messages}{after}")


def message_digest(role: str, content: str) -> str:
    """Return the digest of one message."""
    return digest([role, content])


def chain(messages: Iterable[str]) -> Iterator[Link]:
    """Yield the links of a thread from the digests of its messages."""
    parent: str | None = None
    for message in messages:
        link = _link(parent, message)
        yield link
        parent = link.digest


@lru_cache(maxsize=65536)
def _link(parent: str | None, message: str) -> Link:
    return Link(link_digest(parent, message), parent, message)


def link_digest(parent: str | None, message: str) -> str:
    """Return the digest of a thread from the thread before its last message, and that."""
    return hashlib.sha256(f"{parent or ''}:{message}".encode()).hexdigest()


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

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

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
        received: the body of a reply of an odd form, as it came; absent if it has the usual one.
        provenance: what the reply says of itself; absent in earlier records.
        attempts: in order; the last one was answered with the reply.
        recorded_at: when the reply arrived; UTC.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    key: Digest
    model: str
    sampling: Sampling
    response_format: ResponseFormat = "none"
    reply_schema: Digest | None = None
    asked_logprobs: bool = False
    replicate: int = 0
    options: Options = None
    thread: Digest
    text: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    received: str | None = None
    provenance: Provenance | None = None
    attempts: Annotated[tuple[Attempt, ...], Field(min_length=1)]
    recorded_at: AwareDatetime

    @property
    def cost_usd(self) -> float | None:
        """What all attempts cost; absent if none has a price."""
        costs = [attempt.cost_usd for attempt in self.attempts if attempt.cost_usd is not None]
        return sum(costs) if costs else None

    def completion(self) -> Completion:
        """Return the reply as it was first given."""
        return Completion(**{name: getattr(self, name) for name in _REPLIED}, key=self.key)

    def answers(self, asked: NamedRequest) -> bool:
        """Tell whether this is a reply to a request: all that both hold is equal."""
        return all(getattr(self, name) == value for name, value in asked_of(asked).items())

    def request(
        self, messages: tuple[ChatMessage, ...], schema: Mapping[str, Any] | None
    ) -> NamedRequest:
        """Return the request, given its messages and schema, named anew.

        Raises:
            ValueError: if there is no message.
        """
        spec = ModelSpec(**{name: getattr(self, name) for name in _SPEC})
        return named(
            Request(spec=spec, messages=messages, reply_schema=schema, logprobs=self.asked_logprobs)
        )


_SPEC = ("model", "sampling", "response_format", "replicate", "options")
"""What a record has of a model; whether it is asked for log-probabilities is the request's."""

_REPLIED = ("text", "finish_reason", "refusal", "usage", "logprobs", "received", "provenance")
"""What a record has of a completion."""


def asked_of(asked: NamedRequest) -> dict[str, Any]:
    """Return what a record holds of its request, by the names that it has there."""
    spec = asked.request.spec
    return {
        "key": asked.key,
        "thread": asked.thread,
        **{name: getattr(spec, name) for name in _SPEC},
        "reply_schema": asked.schema_digest,
        "asked_logprobs": asked.request.logprobs,
    }


def recorded(
    asked: NamedRequest, reply: Completion, attempts: tuple[Attempt, ...], then: datetime
) -> Record:
    """Return the record of a reply and of when it arrived."""
    return Record(
        **asked_of(asked),
        **{name: getattr(reply, name) for name in _REPLIED},
        attempts=attempts,
        recorded_at=then,
    )


def difference_from(
    recorded: Record, recorded_messages: Sequence[ChatMessage], asked: NamedRequest
) -> str:
    """Say where a request first differs from a recorded one: the messages, then the rest."""
    request = asked.request
    for index, (before, now) in enumerate(zip_longest(recorded_messages, request.messages)):
        if before != now:
            start = common_beginning(before, now)
            return f"message {index}: recorded {_shown(before, start)}, asked {_shown(now, start)}"
    held = {name: (getattr(recorded, name), now) for name, now in asked_of(asked).items()}
    sampling, other = held.pop("sampling")
    held |= {f"sampling.{key}": (value, getattr(other, key)) for key, value in sampling}
    for name, (then, now) in held.items():
        if then != now and name not in {"key", "thread"}:
            return f"{name.removeprefix('asked_')}: recorded {then!r:.80}, asked {now!r:.80}"
    return "none: the record does not belong to its key"


def common_beginning(one: ChatMessage | None, other: ChatMessage | None) -> int:
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
