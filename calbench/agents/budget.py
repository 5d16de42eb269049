"""Money: what calls cost, and a cap that holds at every moment.

Amounts are whole nano-dollars, so that sums are exact; dollars appear at the edges only.
"""

import asyncio
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from calbench.agents.completion import Request
from calbench.agents.records import sent_schema
from calbench.domain.canonical import canonical_json
from calbench.domain.replies import Usage
from calbench.errors import ConfigError, UnavailableError
from calbench.files import first_problem, printable, read_bytes

NANO = 1_000_000_000

BYTES_PER_TOKEN = 4
"""Bytes of UTF-8 to a token where a provider counts none: English is near it [C]."""

TOKENS_PER_MESSAGE = 16
TOKENS_PER_REQUEST = 64
"""What roles and templates may add to the bytes of the messages, at most [C]."""

UsdPerMillion = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens.

    ``cached_input`` is for input that the provider had in its cache; absent: as other input.
    ``source`` says where the numbers come from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: UsdPerMillion
    cached_input: UsdPerMillion | None = None
    output: UsdPerMillion
    source: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _is_bounded_by_its_input(self) -> Self:
        """Refuse cached input dearer than fresh: a reservation takes all input for fresh."""
        if self.cached_input is not None and self.cached_input > self.input:
            raise ValueError("cached_input costs more than input, which no cap could hold")
        return self


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
        return Prices.model_validate(yaml.safe_load(read_bytes(path)))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {printable(str(error))}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def price_of(usage: Usage, price: Price) -> int:
    """Return what tokens cost, in nano-dollars, rounded up."""
    cached = min(usage.cached_tokens, usage.input_tokens)
    cached_price = price.input if price.cached_input is None else price.cached_input
    millionths = (
        (usage.input_tokens - cached) * price.input
        + cached * cached_price
        + usage.output_tokens * price.output
    )
    return math.ceil(round(millionths * 1000, 3))


def estimated_usage(request: Request, reply: str | None) -> Usage:
    """Estimate tokens from the lengths of the texts, at ``BYTES_PER_TOKEN``."""
    return Usage(
        input_tokens=math.ceil(_request_bytes(request) / BYTES_PER_TOKEN),
        cached_tokens=0,
        output_tokens=math.ceil(len((reply or "").encode(errors="replace")) / BYTES_PER_TOKEN),
        is_estimated=True,
    )


def usage_bound(request: Request) -> Usage:
    """Return tokens that one attempt cannot exceed.

    A token stands for at least one byte, and output is cut at ``max_tokens``.
    """
    overhead = TOKENS_PER_REQUEST + TOKENS_PER_MESSAGE * len(request.messages)
    return Usage(
        input_tokens=_request_bytes(request) + overhead,
        cached_tokens=0,
        output_tokens=request.spec.sampling.max_tokens,
        is_estimated=True,
    )


def _request_bytes(request: Request) -> int:
    schema = sent_schema(request)
    extra = 0 if schema is None else len(canonical_json(schema).encode(errors="replace"))
    return extra + sum(_bytes(message.content) for message in request.messages)


def _bytes(text: str) -> int:
    # Whether a text is ASCII is known without a look at it, and a thread is counted each turn.
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


class Ledger(Protocol):
    """Where money is written down before it may be spent, so that a killed run counts it."""

    def reserve(self, model: str, nano_usd: int) -> int:
        """Note money that may be spent; return the number of the entry."""
        ...

    def settle(self, entry: int, nano_usd: int) -> None:
        """Note what it came to."""
        ...

    def spent(self) -> int:
        """Return the sum of all entries; what was never settled counts in full."""
        ...


class Reservation(NamedTuple):
    """Money set aside for one attempt, in nano-dollars."""

    nano_usd: int
    entry: int | None


class Budget:
    """A cap on money: ``spent + reserved <= cap`` at every moment.

    Belongs to one event loop. What earlier runs wrote into the ledger is spent already.
    """

    def __init__(self, max_usd: float | None = None, ledger: Ledger | None = None) -> None:
        if max_usd is not None and not (math.isfinite(max_usd) and max_usd >= 0):
            raise ConfigError(f"budget: expected dollars, 0 or more, got {max_usd}")
        self._cap = None if max_usd is None else math.floor(max_usd * NANO)
        self._ledger = ledger
        self._spent = 0 if ledger is None else ledger.spent()
        self._reserved = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap."""
        return self._cap is not None

    @property
    def spent_usd(self) -> float:
        """Dollars spent, those of earlier runs included."""
        return self._spent / NANO

    @property
    def reserved_usd(self) -> float:
        """Dollars set aside for attempts under way."""
        return self._reserved / NANO

    async def reserve(self, nano_usd: int, model: str) -> Reservation:
        """Set money aside; waits while attempts under way may give some back.

        Raises:
            UnavailableError: if it will not fit whatever they give back.
        """
        while not self._fits(nano_usd):
            if self._cap is None or self._reserved == 0 or self._spent + nano_usd > self._cap:
                raise UnavailableError("budget_stop", self._refusal(nano_usd))
            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            try:
                await settled
            finally:
                if settled in self._waiting:
                    self._waiting.remove(settled)
        entry = None if self._ledger is None else self._ledger.reserve(model, nano_usd)
        self._reserved += nano_usd
        return Reservation(nano_usd, entry)

    def _fits(self, nano_usd: int) -> bool:
        return self._cap is None or self._spent + self._reserved + nano_usd <= self._cap

    def _refusal(self, nano_usd: int) -> str:
        cap = (self._cap or 0) / NANO
        return (
            f"the budget of {cap:.2f} USD is spent: {self.spent_usd:.4f} so far, and the next "
            f"call may cost {nano_usd / NANO:.4f}; a greater budget goes on from here"
        )

    def settle(self, reservation: Reservation, nano_usd: int) -> None:
        """Put what an attempt came to in the place of its reservation."""
        if self._ledger is not None and reservation.entry is not None:
            self._ledger.settle(reservation.entry, nano_usd)
        self._reserved -= reservation.nano_usd
        self._spent += nano_usd
        waiting, self._waiting = self._waiting, []
        for settled in waiting:
            if not settled.done():
                settled.set_result(None)


def price_table(
    prices: Prices | None, models: Mapping[str, str], *, is_capped: bool
) -> dict[str, Price]:
    """Return the price of each model by its name.

    Args:
        prices: the table; absent: nothing is known.
        models: names of models by player.
        is_capped: whether every model must have a price.

    Raises:
        ConfigError: naming the first model without a price, if money is capped.
    """
    known = {} if prices is None else prices.models
    for player, model in sorted(models.items()):
        if is_capped and model not in known:
            raise ConfigError(
                f"model {player}: {model} has no price, so no budget can hold it; add it to "
                "conf/prices.yaml, with 0 for a server of your own"
            )
    return {model: known[model] for model in models.values() if model in known}
