"""What all dialects share: a request as it arrives, a reply before it is written down."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from calbench.llm.completion import ChatMessage
from tests.llm.stub_server import Answer, Asked

KEY = "key-canary-0123456789"
"""The key of every provider, and the token of Google's login."""

End = Literal["whole", "cut", "filtered"]
Fault = Literal["request", "key", "credit", "forbidden", "name", "pace", "broken", "busy"]
FAULTS: tuple[Fault, ...] = (
    "request", "key", "credit", "forbidden", "name", "pace", "broken", "busy",
)  # fmt: skip


class RefusedError(Exception):
    """A request that the provider would refuse, with its status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What a request says, in terms that all dialects share.

    ``alternatives`` counts the likeliest tokens that are asked for, zero without log-probabilities;
    ``tool`` is one that the model has to call with its reply; ``is_json`` asks for any JSON.
    """

    thread: tuple[ChatMessage, ...]
    max_tokens: int
    sampling: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    is_json: bool = False
    alternatives: int = 0
    tool: str | None = None


@dataclass(frozen=True, kw_only=True)
class Said:
    """A reply. ``received`` counts all tokens of it, with those of hidden reasoning."""

    text: str = "fine"
    end: End = "whole"
    sent: int = 1000
    cached: int = 400
    received: int = 50
    reasoning: int = 30


class Dialect(ABC):
    """One provider's dialect, by its documentation.

    ``host`` is where it lives; ``no_credit`` is the status by which it says that nothing is left,
    ``busy`` the one by which it says that it is overloaded.
    """

    host: str
    no_credit: int
    busy = 503

    @abstractmethod
    def read(self, asked: Asked) -> Prompt:
        """Check a request against the documentation.

        Raises:
            RefusedError: as the provider would refuse it.
        """

    @abstractmethod
    def write(self, prompt: Prompt, said: Said) -> dict[str, Any]:
        """Return the body of a reply."""

    @abstractmethod
    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an error."""

    def fault(self, fault: Fault) -> Answer:
        """Return an error as the provider documents it; its text repeats the key."""
        status = {
            "request": 400, "key": 401, "credit": self.no_credit, "forbidden": 403, "name": 404,
            "pace": 429, "broken": 500, "busy": self.busy,
        }[fault]  # fmt: skip
        headers = {"retry-after": "7"} if fault == "pace" else {}
        return Answer(self.error(status, f"{fault}: {KEY}"), status, headers)


def check(is_right: object, message: str, status: int = 400) -> None:
    """Refuse a request that is not right."""
    if not is_right:
        raise RefusedError(message, status)


def check_fields(holder: Any, known: Sequence[str], needed: Sequence[str] = ()) -> None:
    """Refuse what is no object, a field that nobody documents, and a lack of one that is needed."""
    check(isinstance(holder, dict), "expected an object")
    unknown, missing = set(holder) - set(known) - set(needed), set(needed) - set(holder)
    check(not unknown, f"Unknown parameters: {sorted(unknown)}")
    check(not missing, f"Missing parameters: {sorted(missing)}")


def check_number(holder: Mapping[str, Any], name: str, least: float, most: float) -> None:
    """Refuse a number out of its range."""
    value = holder.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    check(value is None or (is_number and least <= value <= most), f"{name}: {value}")


def check_bearer(asked: Asked) -> None:
    """Refuse a request without the key in its header, or with the key anywhere else."""
    check(asked.headers.get("authorization") == f"Bearer {KEY}", "no key", 401)
    check(KEY not in asked.query + str(asked.body), "the key belongs in the header")


def schemas_within(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and all that it contains."""
    if isinstance(schema, list):
        for each in schema:
            yield from schemas_within(each)
    if isinstance(schema, dict):
        yield schema
        for name, inner in schema.items():
            if name == "properties":
                yield from schemas_within(list(inner.values()))
            elif name in {"items", "anyOf", "oneOf", "allOf", "prefixItems"}:
                yield from schemas_within(inner)


def check_keywords(schema: Any, known: str) -> None:
    """Refuse a schema with keywords that the provider does not document."""
    check(isinstance(schema, dict) and schema.get("type") == "object", "schema: no object")
    for each in schemas_within(schema):
        unknown = set(each) - set(known.split())
        check(not unknown, f"schema: unsupported keywords {sorted(unknown)}")


@dataclass(frozen=True)
class Token:
    """A token and its alternatives, likeliest first, with their log-probabilities."""

    text: str
    logprob: float
    others: tuple[tuple[str, float], ...]


def tokens(text: str, alternatives: int) -> list[Token]:
    """Cut a reply into tokens; whatever it says, a zero would have been possible, too."""
    likely, other = math.log(0.75), math.log(0.25)
    return [
        Token(each, likely, ((each, likely), ("0", other))[:alternatives])
        for each in re.findall(r"\d+|[^\d]", text)
    ]
