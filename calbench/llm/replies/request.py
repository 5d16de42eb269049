"""Requests named by their content: a reply is found whenever the same is asked again."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from calbench.domain.canonical import canonical_json, digest, digest_of_text
from calbench.llm.completion import Request

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

    def parts(self) -> Iterator[tuple[str, str, str]]:
        """Yield digest, role and content of all parts of the request."""
        for link, message in zip(self.links, self.request.messages, strict=True):
            yield link.message, message.role, message.content
        schema = self.schema_part()
        if schema is not None:
            yield schema

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
    # Messages know theirs, which takes most of the time; nothing before their place is a text.
    before, place, after = canonical_json(_without_messages(request)).partition('"messages":[')
    messages = ",".join([message.canonical for message in request.messages])
    return digest_of_text(f"{before}{place}{messages}{after}")


def _without_messages(request: Request) -> dict[str, Any]:
    spec = request.spec
    return {
        "model": spec.model,
        "messages": [],
        "sampling": spec.sampling.model_dump(exclude_none=True),
        "response_format": spec.response_format,
        "schema": request.sent_schema,
        "logprobs": request.logprobs,
        "replicate": spec.replicate,
    }


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
