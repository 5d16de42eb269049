"""A cap on money that holds at every moment, in whole nano-dollars."""

import asyncio
import math
from typing import NamedTuple, Protocol

from calbench.errors import ConfigError, UnavailableError
from calbench.llm.prices import NANO


class Ledger(Protocol):
    """Where money is recorded before it may be spent: a killed run has still counted it."""

    def reserve(self, model: str, nano_usd: int) -> int:
        """Record money that may be spent; return the number of the entry."""
        ...

    def settle(self, entry: int, nano_usd: int) -> None:
        """Record what the attempt cost."""
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

    Belongs to one event loop. What earlier runs wrote into the ledger counts as spent; without a
    ledger ``spent_usd`` does.
    """

    def __init__(
        self,
        max_usd: float | None = None,
        ledger: Ledger | None = None,
        spent_usd: float = 0.0,
    ) -> None:
        if max_usd is not None and not (math.isfinite(max_usd) and max_usd >= 0):
            raise ConfigError(f"budget: expected dollars, 0 or more, got {max_usd}")
        self._cap = None if max_usd is None else math.floor(max_usd * NANO)
        self._ledger = ledger
        self._spent = round(spent_usd * NANO) if ledger is None else ledger.spent()
        self._reserved = 0
        self._settled = asyncio.Event()

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
        """Dollars set aside for attempts in progress."""
        return self._reserved / NANO

    async def reserve(self, nano_usd: int, model: str) -> Reservation:
        """Set money aside; waits while attempts in progress may return some.

        Raises:
            UnavailableError: if it cannot fit, even if they return all they reserved.
        """
        while not self._fits(nano_usd):
            if self._cap is None or self._reserved == 0 or self._spent + nano_usd > self._cap:
                raise UnavailableError("budget_stop", self._refusal(nano_usd))
            await self._settled.wait()
        entry = None if self._ledger is None else self._ledger.reserve(model, nano_usd)
        self._reserved += nano_usd
        return Reservation(nano_usd, entry)

    def _fits(self, nano_usd: int) -> bool:
        return self._cap is None or self._spent + self._reserved + nano_usd <= self._cap

    def _refusal(self, nano_usd: int) -> str:
        cap = (self._cap or 0) / NANO
        return (
            f"the budget of {cap:.2f} USD is spent: {self.spent_usd:.4f} so far, and the next "
            f"call may cost {nano_usd / NANO:.4f}; run it again with a larger budget to resume"
        )

    def settle(self, reservation: Reservation, nano_usd: int) -> None:
        """Replace a reservation by what the attempt cost."""
        if self._ledger is not None and reservation.entry is not None:
            self._ledger.settle(reservation.entry, nano_usd)
        self._reserved -= reservation.nano_usd
        self._spent += nano_usd
        self._settled.set()  # wakes those that wait now; later ones wait for the next
        self._settled = asyncio.Event()
