"""What tokens cost, and how many a call uses or may use.

Sums for a cap are whole nano-dollars and therefore exact; dollars appear at the edges only.
"""

import math
from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from calbench.documents import read_yaml
from calbench.domain.canonical import canonical_json
from calbench.domain.usage import Usage
from calbench.errors import ConfigError
from calbench.files import first_problem
from calbench.llm.completion import Request

NANO = 1_000_000_000
"""Nano-dollars in a dollar."""

TOKENS_PER_UNIT = 1_000_000
"""Providers name prices for a million tokens."""

BYTES_PER_TOKEN = 4
"""Bytes of UTF-8 to a token where a provider counts none: English is near it [C]."""

TOKENS_PER_MESSAGE = 16
TOKENS_PER_REQUEST = 64
"""What roles and templates may add to the bytes of the messages, at most [C]."""

MOST_HIDDEN_TOKENS = 1_000_000
"""Tokens of either kind that a provider may count beyond the bound of a request and be believed: no
model reads or writes as many that nobody asked for [C]."""

UsdPerMillion = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens.

    ``cached_input`` is for input that the provider had in its cache; absent: as other input.
    ``source`` says where the numbers come from. ``thinking`` is how many times ``max_tokens`` a
    reply of a model may hold whose provider does not cut its reasoning there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: UsdPerMillion
    cached_input: UsdPerMillion | None = None
    output: UsdPerMillion
    thinking: Annotated[float, Field(ge=1, le=1000)] = 1.0
    source: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _is_bounded_by_its_input(self) -> Self:
        """Refuse cached input more expensive than other input: reservations assume no cache."""
        if self.cached_input is not None and self.cached_input > self.input:
            raise ValueError("cached_input costs more than input, which no cap could hold")
        return self

    def usd(self, sent: float, cached: float, received: float) -> float:
        """Return what tokens cost, in US dollars; cached tokens are part of those sent."""
        return self._micro_usd(sent, cached, received) / TOKENS_PER_UNIT

    def nano_usd(self, usage: Usage) -> int:
        """Return what the tokens of a call cost, in nano-dollars, rounded up."""
        tokens = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
        return math.ceil(round(self._micro_usd(*tokens) * 1000, 3))

    def _micro_usd(self, sent: float, cached: float, received: float) -> float:
        cached = min(cached, sent)
        cached_price = self.input if self.cached_input is None else self.cached_input
        return (sent - cached) * self.input + cached * cached_price + received * self.output


class Prices(BaseModel):
    """A table of prices by model, as LiteLLM spells it, and the day it was made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: date
    models: dict[str, Price]


def read_prices(path: Path) -> Prices:
    """Read a table of prices.

    Raises:
        FileError: if it cannot be read.
        ConfigError: naming the file and what does not fit.
    """
    try:
        return Prices.model_validate(read_yaml(path))
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def estimated_usage(request: Request, reply: str | None) -> Usage:
    """Estimate tokens from the lengths of the texts, at ``BYTES_PER_TOKEN``."""
    return Usage(
        input_tokens=math.ceil(_request_bytes(request) / BYTES_PER_TOKEN),
        cached_tokens=0,
        output_tokens=math.ceil(len((reply or "").encode(errors="replace")) / BYTES_PER_TOKEN),
        is_estimated=True,
    )


def usage_bound(request: Request, price: Price | None = None) -> Usage:
    """Return tokens that one attempt should not exceed.

    A token is at least one byte, and output is cut at ``max_tokens``, times the factor of a model
    that thinks. Some providers count more: instructions of their own, or reasoning.
    """
    thinking = 1.0 if price is None else price.thinking
    overhead = TOKENS_PER_REQUEST + TOKENS_PER_MESSAGE * len(request.messages)
    return Usage(
        input_tokens=_request_bytes(request) + overhead,
        cached_tokens=0,
        output_tokens=math.ceil(request.spec.sampling.max_tokens * thinking),
        is_estimated=True,
    )


def is_possible(usage: Usage, bound: Usage) -> bool:
    """Whether a provider can have counted this for a request of that bound."""
    return (
        usage.cached_tokens >= 0
        and 0 <= usage.input_tokens <= bound.input_tokens + MOST_HIDDEN_TOKENS
        and 0 <= usage.output_tokens <= bound.output_tokens + MOST_HIDDEN_TOKENS
    )


def _request_bytes(request: Request) -> int:
    beside = (request.sent_schema, request.spec.options)
    extra = sum(len(canonical_json(one).encode(errors="replace")) for one in beside if one)
    # A thread is counted each turn: at once, it takes a tenth of the time.
    thread = "".join([message.content for message in request.messages])
    return extra + len(thread if thread.isascii() else thread.encode(errors="replace"))
