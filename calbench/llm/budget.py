"""A cap on money that holds at every moment, in whole nano-dollars."""

import asyncio
import math
from dataclasses import dataclass, field

from calbench.console import warn
from calbench.errors import ConfigError, UnavailableError
from calbench.llm.prices import NANO
from calbench.llm.replies.writer import ReplyWriter

ALIKE = 4
"""By what factor an attempt may be larger than one that was answered, and be like it: the preflight
is a hundred times smaller than a turn, and says little about its price [C]."""

TELLING = 2
"""The user is told of a dear reply again once one is dearer than before by this factor [C]."""


@dataclass(eq=False, slots=True)
class Reservation:
    """Money set aside for one attempt, in nano-dollars.

    Attributes:
        bound: what the attempt should cost at most.
        nano_usd: that, and what replies of its model have cost beyond their bounds.
        entries: in the ledger; the first one is that of the bound.
    """

    bound: int
    nano_usd: int
    entries: list[asyncio.Future[int]]


@dataclass(slots=True)
class _Bill:
    """What is known of the bills of one model.

    Attributes:
        excess: the most that one reply has cost beyond its bound.
        known: the largest bound of an attempt that was answered.
        told: the excess that the user was told of.
        open: what is reserved for its attempts in progress.
    """

    excess: int = 0
    known: int = 0
    told: int = 0
    open: list[Reservation] = field(default_factory=list)


class Budget:
    """A cap on money: ``spent + reserved <= cap`` before every attempt.

    A provider may charge more than the bound of an attempt. What it charges is booked; from then
    on every attempt of that model reserves as much more, those in progress too, and nothing starts
    that does not fit. Under a cap a model has one attempt at a time until a reply to a like one has
    come. So the cap is passed by one reply at most, unless later ones are dearer than any before.

    Belongs to one event loop. Money is in the ledger before it may be spent: a killed run has
    still counted it. What earlier runs wrote into the ledger counts as spent; without a
    ledger ``spent_usd`` does.
    """

    def __init__(
        self,
        max_usd: float | None = None,
        ledger: ReplyWriter | None = None,
        spent_usd: float = 0.0,
    ) -> None:
        if max_usd is not None and not (math.isfinite(max_usd) and max_usd >= 0):
            raise ConfigError(f"budget: expected dollars, 0 or more, got {max_usd}")
        self._cap = None if max_usd is None else math.floor(max_usd * NANO)
        self._ledger = ledger
        self._spent = round(spent_usd * NANO) if ledger is None else ledger.spent()
        self._bills: dict[str, _Bill] = {}
        self._settled = asyncio.Event()

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap."""
        return self._cap is not None

    @property
    def spent_usd(self) -> float:
        """Dollars spent, those of earlier runs included."""
        return self._spent / NANO

    async def reserve(self, nano_usd: int, model: str) -> Reservation:
        """Set money aside, in the ledger too; waits while attempts in progress may return some.

        Args:
            nano_usd: what the attempt should cost at most.
            model: as the ledger names it.

        Raises:
            UnavailableError: if it cannot fit, even if they return all they reserved.
        """
        bill = self._bill(model)
        while True:
            most = nano_usd + bill.excess
            if self._cap is not None and self._spent + most > self._cap:
                raise UnavailableError("budget_stop", self._refusal(most, self._cap))
            if self._fits(most) and not self._waits_for_first(bill, nano_usd):
                break
            await self._settled.wait()
        reservation = Reservation(nano_usd, most, [])
        bill.open.append(reservation)
        self._enter(reservation, model, nano_usd)
        if bill.excess:
            self._enter(reservation, model, bill.excess)
        try:
            for entry in reservation.entries:
                await entry
        except BaseException:
            self.settle(reservation, 0, model)  # nothing was sent
            raise
        return reservation

    def _bill(self, model: str) -> _Bill:
        if model not in self._bills:
            excess, known = (0, 0) if self._ledger is None else self._ledger.learnt(model)
            self._bills[model] = _Bill(excess, known, told=excess)
        return self._bills[model]

    @property
    def reserved(self) -> int:
        """Nano-dollars set aside for attempts in progress."""
        return sum(each.nano_usd for bill in self._bills.values() for each in bill.open)

    def _fits(self, nano_usd: int) -> bool:
        return self._cap is None or self._spent + self.reserved + nano_usd <= self._cap

    def _waits_for_first(self, bill: _Bill, nano_usd: int) -> bool:
        """Whether another attempt must first show what replies to such attempts cost."""
        return self._cap is not None and nano_usd > ALIKE * bill.known and bool(bill.open)

    def _enter(self, reservation: Reservation, model: str, nano_usd: int) -> None:
        if self._ledger is not None:
            reservation.entries.append(self._ledger.reserve(model, nano_usd))

    def _refusal(self, nano_usd: int, cap: int) -> str:
        if self._spent > cap:
            return (
                f"the budget of {cap / NANO:.2f} USD is passed by "
                f"{(self._spent - cap) / NANO:.4f}: a provider charged more than a reply should "
                "cost; run it again with a larger budget to resume"
            )
        return (
            f"the budget of {cap / NANO:.2f} USD is spent: {self.spent_usd:.4f} so far, and the "
            f"next call may cost {nano_usd / NANO:.4f}; run it again with a larger budget to resume"
        )

    def settle(
        self, reservation: Reservation, nano_usd: int, model: str, *, is_answered: bool = False
    ) -> None:
        """Replace a reservation by what the attempt cost; an answer shows what replies cost."""
        bill = self._bill(model)
        bill.open.remove(reservation)
        if is_answered:
            bill.known = max(bill.known, reservation.bound)
        if self._ledger is not None:
            for entry in reservation.entries[:1]:
                self._ledger.settle(entry, nano_usd)
            for entry in reservation.entries[1:]:
                self._ledger.settle(entry, 0)
        self._spent += nano_usd
        try:
            if nano_usd - reservation.bound > bill.excess:
                self._raise(bill, model, reservation, nano_usd)
        finally:
            self._settled.set()  # wakes those that wait now; later ones wait for the next
            self._settled = asyncio.Event()

    def _raise(self, bill: _Bill, model: str, dear: Reservation, nano_usd: int) -> None:
        """Reserve more for attempts of a model after a reply that cost more than it should."""
        excess = nano_usd - dear.bound
        step, bill.excess = excess - bill.excess, excess
        if excess >= TELLING * bill.told:
            bill.told = excess
            warn(
                f"a reply of {model} cost {nano_usd / NANO:.4f} USD, and "
                f"{dear.nano_usd / NANO:.4f} were reserved: its provider counts more tokens than "
                f"were asked for; each further call reserves {excess / NANO:.4f} more"
            )
        for reservation in bill.open:
            reservation.nano_usd += step
        for reservation in bill.open:
            self._enter(reservation, model, step)
        if self._ledger is not None:
            self._ledger.write()  # these attempts are under way
            for reservation in bill.open:
                reservation.entries[-1].result()
