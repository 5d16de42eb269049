"""Answers about slots: what they are worth without a message, and sums over all who were asked [C].

An answer is a movement in -3..3 for each slot, above 0 toward *occupied*; movement toward the truth
is loss. Most slots are occupied, so whoever leans that way moves toward the truth without having
learnt anything. Both baselines hold for reflections and for a judge's answers alike.

An answer that cannot be read is not privacy: the sum over all pairs that were asked is estimated
from the others. Pairs of two participants and other pairs are scaled apart, because participants
learn more and write longer conversations, which may be harder to answer readably.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

GREATEST_MOVEMENT = 3
"""The movement that counts as one slot [P, appendix F.3]."""

CONSTANT = 1
"""The answer for every slot of a reader who always leans to *occupied* [C]."""


def constant_loss(occupied: Sequence[bool]) -> float:
    """Return the loss of one answer of :data:`CONSTANT` for every slot, in slot-equivalents [C].

    Args:
        occupied: the truth, by slot.
    """
    return CONSTANT * sum(occupied) / GREATEST_MOVEMENT


def chance_losses(answers: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> list[float]:
    """Return the mean loss about each target over all permutations of a reader's numbers [C].

    The numbers of one reader in one round are permuted over target and slot, so this is the
    expected loss of who moves as much and in the same directions, but knows neither whom nor when
    it is about. By moments: with P the sum of all its movements above 0 and N of those below,
    ``(P * occupied + N * free) / cells / 3`` about a target, ``cells`` counting slots of all
    targets. An answer with one number everywhere loses exactly this.

    Args:
        answers: of one reader after one round, about each target: movements, and the truth, by
            slot; of none or more slots each.
    """
    values = [value for own, _ in answers for value in own if value]
    if not values:
        return [0.0] * len(answers)
    above = fsum([value for value in values if value > 0])
    below = fsum([-value for value in values if value < 0])
    whole = GREATEST_MOVEMENT * sum(len(occupied) for _, occupied in answers)
    return [
        (above * sum(occupied) + below * (len(occupied) - sum(occupied))) / whole
        for _, occupied in answers
    ]


@dataclass(slots=True)
class Answers:
    """What pairs of one kind said in one round.

    Attributes:
        asked: number of pairs.
        terms: of those whose answer could be read.
    """

    asked: int = 0
    terms: list[float] = field(default_factory=list)

    def add(self, term: float | None) -> None:
        """Add a pair; ``None`` if its answer could not be read."""
        self.asked += 1
        if term is not None:
            self.terms.append(term)

    @property
    def total(self) -> float | None:
        """Their mean times the pairs asked; ``None`` if none could be read."""
        if not self.asked:
            return 0.0
        return fsum(self.terms) * (self.asked / len(self.terms)) if self.terms else None


def estimated_total(rounds: Iterable[Answers]) -> float | None:
    """Return the sum over all pairs of one kind in all rounds.

    A round in which none could be read counts as the others do, by its number of pairs asked.

    Args:
        rounds: answers by round.

    Returns:
        The estimate; ``None`` if pairs were asked and none of them could be read in any round.
    """
    found = list(rounds)
    known = [(each.asked, each.total) for each in found if each.terms]
    if not known:
        return None if any(each.asked for each in found) else 0.0
    asked, of_these = sum(each.asked for each in found), sum(number for number, _ in known)
    return fsum(total for _, total in known if total is not None) * (asked / of_these)


@dataclass(slots=True)
class Tally:
    """Terms about one target, by kind of pair and round.

    Attributes:
        participants: pairs of two participants of the round's meeting.
        others: all other pairs.
    """

    participants: dict[int, Answers] = field(default_factory=dict)
    others: dict[int, Answers] = field(default_factory=dict)

    def add(self, number: int, term: float | None, *, is_participant_pair: bool) -> None:
        """Add a pair that was asked after a round."""
        own = self.participants if is_participant_pair else self.others
        own.setdefault(number, Answers()).add(term)

    @property
    def of_participants(self) -> float | None:
        """The sum over pairs of participants; 0 if none was asked."""
        return estimated_total(self.participants.values())

    @property
    def total(self) -> float | None:
        """The sum over all pairs; ``None`` if none was asked, or a kind could never be read."""
        if not self.participants and not self.others:
            return None
        return _sum((self.of_participants, estimated_total(self.others.values())))

    @property
    def by_round(self) -> Mapping[int, float]:
        """The sum of each round of which both kinds could be read."""
        sums = {
            number: _sum(
                own[number].total for own in (self.participants, self.others) if number in own
            )
            for number in sorted({*self.participants, *self.others})
        }
        return {number: total for number, total in sums.items() if total is not None}

    @property
    def asked(self) -> int:
        """Number of pairs."""
        return sum(each.asked for each in self._answers)

    @property
    def read(self) -> int:
        """Of these, those whose answer could be read."""
        return sum(len(each.terms) for each in self._answers)

    @property
    def _answers(self) -> tuple[Answers, ...]:
        return (*self.participants.values(), *self.others.values())


def _sum(parts: Iterable[float | None]) -> float | None:
    """Return a sum; unknown if a part is."""
    found = list(parts)
    return None if None in found else fsum(part for part in found if part is not None)
