"""A cap on money that holds at every moment, in whole nano-dollars."""

import asyncio
import math
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from calbench.console import warn
from calbench.errors import ConfigError, UnavailableError
from calbench.llm.prices import NANO
from calbench.llm.replies.ledger import Presence
from calbench.llm.replies.writer import ReplyWriter

CAUTION = 10
"""After n replies within what was reserved, the chance that the next one is dearer counts as this
over n [C]. That none of n was says with 95% that it is below 3 / n."""

ALIKE = 4
"""By what factor an attempt may be larger than one that was answered, and be like it: the preflight
is a hundred times smaller than a turn, and says little about its price [C]."""

BEYOND = " beyond its bound"
"""Behind the name of a model in the ledger: what is reserved because its replies were dearer."""

TELLING = 2
"""The user is told of a dear reply again once one is dearer than before by this factor [C]."""

POLL_S = 0.05
"""How often it is looked what other processes did, while their money is waited for [C]."""

GONE_S = 600.0
"""A process from which nothing was seen for so long is not waited for: it was killed [C]."""


@dataclass(eq=False, slots=True)
class Reservation:
    """Money set aside for one attempt, in nano-dollars.

    Attributes:
        bound: what the attempt should cost at most.
        nano_usd: that, and what replies of its model have cost beyond their bounds.
        entries: in the ledger; the first one is that of the bound, and none if it did not fit.
    """

    bound: int
    nano_usd: int
    entries: list[asyncio.Future[int | None]]


@dataclass(slots=True)
class _Bill:
    """What is known of the bills of one model.

    Attributes:
        excess: the most that one reply has cost beyond its bound.
        known: the largest bound of an attempt that was answered.
        within: replies since then, and since the dearest, that cost what was reserved or less.
        told: the excess that the user was told of.
        dearest: what one reply may cost beyond its bound, and be believed.
        open: what is reserved for its attempts in progress.
    """

    excess: int = 0
    known: int = 0
    within: int = 0
    told: int = 0
    dearest: int = 0
    open: list[Reservation] = field(default_factory=list)

    @property
    def risk(self) -> int:
        """What one attempt in progress may cost beyond its reservation, by what is known."""
        return self.dearest * CAUTION // max(CAUTION, self.within)

    def learn(self, bound: int, nano_usd: int) -> int:
        """Take what an answered attempt cost; return by how much the excess grew."""
        if bound > ALIKE * self.known:
            self.within = 0
        self.known = max(self.known, bound)
        step = max(0, nano_usd - bound - self.excess)
        if step:
            self.excess, self.within = self.excess + step, 0
        elif bound * ALIKE >= self.known:
            self.within += 1
        return step


class Budget:
    """A cap on money: ``spent + reserved <= cap`` before every attempt.

    A provider may charge more than the bound of an attempt. What it charges is booked; from then
    on every attempt of that model reserves as much more, those in progress too, and nothing starts
    that does not fit. As many attempts of a model are in progress at once as replies to like ones
    have come that cost no more than was reserved, and one if none has; and all but one of them may
    cost, by what is known, more than was reserved, and fit nevertheless. So one reply passes the
    cap at most, unless several are suddenly dearer that were sent before the first was known.

    Belongs to one event loop. Money is in the ledger before it may be spent: a killed run has
    still counted it. What other processes write into the ledger counts, too, before every attempt.
    Without a ledger ``spent_usd`` was spent before.
    """

    def __init__(
        self,
        max_usd: float | None = None,
        ledger: ReplyWriter | None = None,
        spent_usd: float = 0.0,
        presence: Presence | None = None,
    ) -> None:
        """Begin with what was spent.

        Args:
            max_usd: the cap; absent: none.
            ledger: keeps what is spent.
            spent_usd: what was spent before, without a ledger.
            presence: tells whether no other process writes into the ledger; absent: none does.
        """
        if max_usd is not None and not (math.isfinite(max_usd) and max_usd >= 0):
            raise ConfigError(f"budget: expected dollars, 0 or more, got {max_usd}")
        self._cap = None if max_usd is None else math.floor(max_usd * NANO)
        self._ledger = ledger
        self._bills: dict[str, _Bill] = {}
        self._settled = asyncio.Event()
        self._others: dict[int, tuple[str, int]] = {}
        self._presence = presence
        self._alone_looks, self._looked, self._heard = 0, -POLL_S, time.monotonic()
        self._spent = round(spent_usd * NANO)
        if ledger is not None:
            self._spent, self._others = ledger.begun()
            self._spent -= self._reserved_by_others

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap."""
        return self._cap is not None

    @property
    def spent_usd(self) -> float:
        """Dollars spent by all runs with the ledger; what another one reserves counts in full."""
        return (self._spent + self._reserved_by_others) / NANO

    async def reserve(self, nano_usd: int, model: str, dearest: int = 0) -> Reservation:
        """Set money aside, in the ledger too; waits while attempts in progress may return some.

        Args:
            nano_usd: what the attempt should cost at most.
            model: as the ledger names it.
            dearest: what it may cost beyond that, and be believed.

        Raises:
            UnavailableError: if it cannot fit, even if they return all they reserved.
        """
        bill = self._bill(model)
        bill.dearest = max(bill.dearest, dearest)
        while True:
            self._look_around()
            most = nano_usd + bill.excess
            lost = self._reserved_by_others if self._are_others_gone else 0
            if self._cap is not None and self._spent + lost + most > self._cap:
                raise UnavailableError("budget_stop", self._refusal(most, self._cap))
            reservation = Reservation(nano_usd, most, [])
            bill.open.append(reservation)
            if not self._admits(reservation, bill, model):
                bill.open.pop()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._settled.wait(), POLL_S if self._others else None)
            elif await self._is_entered(reservation, bill, model):
                return reservation
            # Others may have spent what it needs: then nobody may be left to wait for.

    async def _is_entered(self, reservation: Reservation, bill: _Bill, model: str) -> bool:
        """Enter a reservation into the ledger; not if it does not fit beside what others did."""
        if self._ledger is None:
            return True

        def fits() -> bool:
            is_alone = not self._read_others() and not self._others
            return is_alone or self._admits(reservation, bill, model)

        beyond = reservation.nano_usd - reservation.bound
        reservation.entries.append(self._ledger.reserve(model, reservation.bound, fits))
        if beyond:
            self._enter(reservation, model, beyond)
        try:
            for entry in reservation.entries:
                await entry
        except BaseException:
            self.settle(reservation, 0, model)  # nothing was sent
            raise
        if reservation.entries[0].result() is None:
            self._give_back(reservation, bill, 0)
            return False
        return True

    def _bill(self, model: str) -> _Bill:
        if model not in self._bills:
            bill = self._bills[model] = _Bill()
            for bound, nano_usd in () if self._ledger is None else self._ledger.answered(model):
                bill.learn(bound, nano_usd)
            bill.told = bill.excess
        return self._bills[model]

    @property
    def reserved(self) -> int:
        """Nano-dollars set aside for attempts in progress."""
        return sum([each.nano_usd for bill in self._bills.values() for each in bill.open])

    @property
    def _reserved_by_others(self) -> int:
        return sum(nano for _, nano in self._others.values())

    def _admits(self, reservation: Reservation, bill: _Bill, model: str) -> bool:
        """Whether an open attempt fits, and replies to like ones have shown what as many cost."""
        if self._cap is None or not reservation.nano_usd:
            return True
        others: Counter[str] = Counter()
        if self._others and not self._are_others_gone:
            others.update(name for name, _ in self._others.values())
        evidence = bill.within if reservation.bound <= ALIKE * bill.known else 0
        if len(bill.open) + others[model] > max(1, evidence):
            return False
        at_risk = greatest = 0
        for name, each in self._bills.items():
            if count := len(each.open) + others[name]:
                at_risk += count * each.risk
                greatest = max(greatest, each.risk)
        taken = self._spent + self.reserved + self._reserved_by_others
        return taken + at_risk - greatest <= self._cap

    # --- other processes with the same ledger ----------------------------------------

    @property
    def _are_others_gone(self) -> bool:
        """Whether nobody is left who could settle what others have reserved."""
        return self._alone_looks > 1 or time.monotonic() - self._heard > GONE_S

    def _look_around(self) -> None:
        """See now and then what others did, and whether they are there, if it matters."""
        if self._others and time.monotonic() - self._looked >= POLL_S:
            self._looked = time.monotonic()
            is_alone = self._presence is None or self._presence.is_alone()
            self._alone_looks = self._alone_looks + 1 if is_alone else 0
            self._read_others()

    def _read_others(self) -> bool:
        """Take what other processes have reserved and settled since the last look, if anything."""
        if self._ledger is None:
            return False
        reserved, settled = self._ledger.news(self._others)
        for number, model, nano_usd in reserved:
            self._others[number] = (model, nano_usd)
            self._alone_looks = 0
        for number, nano_usd in settled:
            model, bound = self._others.pop(number)
            self._spent += nano_usd
            bill = self._bills.get(model)
            # What cost nothing, or just what was reserved, may have had no answer.
            if bill is not None and nano_usd not in {0, bound}:
                self._raise(bill, model, bill.learn(bound, nano_usd))
        is_news = bool(reserved or settled)
        if is_news:
            self._heard = time.monotonic()
        return is_news

    # --- the ledger ------------------------------------------------------------------

    def _enter(self, reservation: Reservation, model: str, nano_usd: int) -> None:
        if self._ledger is not None:
            reservation.entries.append(self._ledger.reserve(model + BEYOND, nano_usd))

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
        self._spent += nano_usd
        step = bill.learn(reservation.bound, nano_usd) if is_answered else 0
        self._give_back(reservation, bill, nano_usd)
        if step:
            self._tell(bill, model, reservation, nano_usd)
            self._raise(bill, model, step)
            if self._ledger is not None:
                self._ledger.write()  # these attempts are under way
                for each in bill.open:
                    each.entries[-1].result()

    def _give_back(self, reservation: Reservation, bill: _Bill, nano_usd: int) -> None:
        """Let others have what was reserved, and note what the attempt cost."""
        bill.open.remove(reservation)
        if self._ledger is not None:
            for place, entry in enumerate(reservation.entries):
                self._ledger.settle(entry, 0 if place else nano_usd)
        self._settled.set()  # wakes those that wait now; later ones wait for the next
        self._settled = asyncio.Event()

    def _tell(self, bill: _Bill, model: str, dear: Reservation, nano_usd: int) -> None:
        if bill.excess >= TELLING * bill.told:
            bill.told = bill.excess
            warn(
                f"a reply of {model} cost {nano_usd / NANO:.4f} USD, and "
                f"{dear.nano_usd / NANO:.4f} were reserved: its provider counts more tokens than "
                f"were asked for; each further call reserves {bill.excess / NANO:.4f} more"
            )

    def _raise(self, bill: _Bill, model: str, step: int) -> None:
        """Reserve more for attempts of a model after a reply that cost more than it should."""
        for reservation in bill.open if step else ():
            reservation.nano_usd += step
            self._enter(reservation, model, step)
