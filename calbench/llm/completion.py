"""What every source of text has in common: messages in, one completion out."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import not_
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from calbench.domain.canonical import canonical_json, digest_of_text
from calbench.domain.usage import Usage

Role = Literal["system", "user", "assistant"]


class _Said(NamedTuple):
    role: Role
    content: str


class ChatMessage(_Said):
    """One message of a conversation thread.

    It remembers its canonical form: a thread is named by its messages at every turn, which only
    add a few to it. Unlike a cache beside them, this is forgotten with the message.
    """

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON."""
        return canonical_json(self)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical JSON, in hexadecimal."""
        return digest_of_text(self.canonical)


ResponseFormat = Literal["none", "json_object", "json_schema"]
"""How a model is held to JSON: not at all, by its own JSON mode, by a schema."""


class Sampling(BaseModel):
    """How tokens are drawn. What is absent is left to the provider.

    ``max_tokens`` bounds a reply, and with it what one call can cost.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    max_tokens: Annotated[int, Field(ge=1)] = 4096
    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    reasoning_effort: str | None = None


MOST_OPTIONS = 10_000
"""Bytes of JSON that options may take [C]: they are part of every trace of their model."""

GREATEST_INTEGER = 2**53 - 1
"""The greatest integer that every reader of JSON keeps exactly [C]."""

# e.g. "aws_secret_access_key", "extra_headers", "azure_ad_token"; not "prompt_cache_key",
# "budget_tokens", "stop_token_ids"
SECRET_NAME = re.compile(
    r"(api|access|secret|private|signing|subscription)[-_ ]?key|secret|passw|credential|bearer"
    r"|authori[sz]ation|cookie|headers?$|(^|[-_])token$",
    re.IGNORECASE,
)
"""Names of what is a key or holds one."""

# e.g. "sk-0123456789abcdef", "AIzaSy0123"; not "sk-learn", "hf_transfer"
SECRET_VALUE = re.compile(
    r"\b(sk|pk|rk|gsk|xai|hf|ghp|github_pat)[-_][A-Za-z0-9_-]{12,}|\bAIza|\bAKIA|\bya29\."
    r"|\bBearer\s|-----BEGIN ",
)
"""How keys of providers begin, and words do not."""


def _checked_options(value: object) -> dict[str, Any] | None:
    """Return options as JSON holds them; no error repeats any of them, which may be a key."""
    if value is None or value == {}:
        return None
    try:
        written = canonical_json(_as_json(value)).encode() if isinstance(value, Mapping) else None
    except PydanticCustomError:
        raise
    except (TypeError, ValueError, RecursionError):
        written = None
    if written is None:
        raise PydanticCustomError("secret", "expected keys and values as JSON has them")
    if len(written) > MOST_OPTIONS:
        raise PydanticCustomError("secret", f"expected at most {MOST_OPTIONS} bytes of JSON")
    options: dict[str, Any] = json.loads(written)
    return options


def _as_json(value: object) -> object:
    """Return a value of JSON; a sequence may be a tuple, as in frozen configurations."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError
            if SECRET_NAME.search(key) or SECRET_VALUE.search(key):
                raise _secret()
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, str) and SECRET_VALUE.search(value):
        raise _secret()
    if isinstance(value, int) and abs(value) > GREATEST_INTEGER:
        raise TypeError
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError


def _secret() -> PydanticCustomError:
    return PydanticCustomError("secret", "may hold no key; api_key_env names its variable")


Options = Annotated[
    dict[str, Any] | None, BeforeValidator(_checked_options), Field(exclude_if=not_)
]
"""A provider's own parameters, as JSON; written only if there are any."""


class ModelSpec(BaseModel):
    """What defines a model's replies: it enters the request's key, the game and its trace.

    Where the model is reached, and with whose key, is not part of it.

    Attributes:
        model: identifier as LiteLLM spells it, provider first.
        sampling: how tokens are drawn.
        response_format: how the model is held to JSON.
        logprobs: ask for token log-probabilities in reflections.
        replicate: distinguishes repeated games of the same content.
        options: the provider's own parameters, which are sent as they are; absent: none.
        is_tied: whether its schema offers only moves that can be carried out, since prompts v2.
        reflection_max_tokens: what bounds a reflection instead, which speaks of all others and all
            slots; absent: the bound of every reply.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Annotated[str, Field(min_length=1)]
    sampling: Sampling = Sampling()
    response_format: ResponseFormat = "none"
    logprobs: bool = False
    replicate: Annotated[int, Field(ge=0)] = 0
    options: Options = None
    is_tied: Annotated[bool, Field(exclude_if=bool)] = True
    reflection_max_tokens: Annotated[int | None, Field(ge=1, exclude_if=not_)] = None

    @property
    def of_reflections(self) -> Self:
        """What defines the model's reflections: the same with their own bound, if they have one."""
        if self.reflection_max_tokens is None:
            return self
        sampling = self.sampling.model_copy(update={"max_tokens": self.reflection_max_tokens})
        return self.model_copy(update={"sampling": sampling})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that determines a completion.

    ``reply_schema`` is the JSON Schema the reply should fit, for models that take one;
    ``logprobs`` asks for token log-probabilities.
    """

    spec: ModelSpec
    messages: tuple[ChatMessage, ...]
    reply_schema: Mapping[str, Any] | None = None
    logprobs: bool = False

    @property
    def sent_schema(self) -> Mapping[str, Any] | None:
        """The schema, if the model is held to one; its provider may still take only JSON."""
        return None if self.spec.response_format == "none" else self.reply_schema


class TokenLogprob(NamedTuple):
    """A sampled token, and the log-probabilities of it and of the likeliest others [C].

    >>> TokenLogprob("Yes", -0.1, top=(("Yes", -0.1), ("No", -2.4)))
    TokenLogprob(token='Yes', logprob=-0.1, top=(('Yes', -0.1), ('No', -2.4)))

    Attributes:
        token: its text.
        logprob: its natural logarithm of probability.
        top: token and logarithm of the likeliest ones.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


AddressKind = Literal["provider", "loopback", "private", "public"]
"""Where a model was asked: at its provider's own address, on this machine, in a network of one's
own, or at another host."""


class Provenance(BaseModel):
    """What a reply says of itself. None of it is checked, and no name of a host is among it.

    Attributes:
        id: of the reply, as its provider names it.
        model: that is said to have answered.
        fingerprint: of the system that answered.
        request_id: of the request, in the provider's logs.
        date: of the answer, by the provider's clock, as HTTP writes it.
        address: where it was asked.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    request_id: str | None = None
    date: str | None = None
    address: AddressKind

    def is_other(self, asked: str) -> bool:
        """Whether another model is said to have answered than was asked for.

        Its name without the provider is the same, also with a date or a build behind it:
        ``gpt-5.4-mini-2026-03-01`` is ``openai/gpt-5.4-mini``; ``gpt-5.4-mini`` is not ``gpt-5.4``.
        """
        if not self.model:
            return False
        short, long = sorted(map(_bare, (self.model, asked)), key=len)
        return not long.startswith(short) or not _is_build(long[len(short) :])


def _bare(model: str) -> str:
    return model.rpartition("/")[2].casefold().removesuffix(".gguf")


def _is_build(end: str) -> bool:
    """Whether what is behind a model's name is nothing, a date or a number, or the latest one."""
    digits = end[1:].replace("-", "").replace(".", "").removeprefix("v")
    return not end or (end[0] in "-@:." and (digits.isdecimal() or end[1:] == "latest"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer of a model to a request [C].

    >>> told = Usage(input_tokens=812, cached_tokens=640, output_tokens=35)
    >>> Completion(text='{"thinking": "", "actions": []}', usage=told).usage.output_tokens
    35

    Attributes:
        text: the reply; absent if the model gave none.
        finish_reason: as the provider names it (``stop``, ``length``, ``content_filter``, ...),
            or ``context_exceeded`` if the thread no longer fits the model's context.
        refusal: a refusal the provider marks as such.
        usage: tokens, estimated and marked so where the provider is silent.
        logprobs: by token, where asked for and given.
        received: the body of a reply of an odd form; absent if it has the usual one.
        provenance: what it says of itself; absent where nothing came over the wire.
        key: of the request, by which a reply is recorded; absent for scripted speakers.
    """

    text: str | None
    finish_reason: str | None = "stop"
    refusal: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    received: str | None = None
    provenance: Provenance | None = None
    key: str | None = None


class Site(Protocol):
    """Where a call is made: for errors and progress, never for the reply. Its text is one line."""

    @property
    def player(self) -> str:
        """The name of the model among those of the run."""
        ...


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no file and no request can hold, by U+FFFD [C]."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
