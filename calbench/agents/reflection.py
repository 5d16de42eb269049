"""What an agent says it came to believe: the answer to a reflection (appendix F.3).

What a written integer was expected to be follows from the log-probabilities of its tokens. A server
gives the likeliest tokens at each place of the one reply that it wrote. They are enough to know
every number that shares the sign of the written one. Of the other sign they give the probability,
and its numbers only where a tokeniser writes sign and digit as one token.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from calbench.agents.envelope import MisshapenError, Read, check_keys, kind_of, read_object
from calbench.domain.ids import AgentId
from calbench.domain.replies import CERTAIN, Beliefs, Unreadable
from calbench.llm.completion import Completion, TokenLogprob

MOST_CHANGE = 3
"""Changes of belief run from -3 to 3 [P]."""

CHANGES = range(-MOST_CHANGE, MOST_CHANGE + 1)
CHANCES = range(CERTAIN + 1)

KEYS = frozenset({"beliefs"})
"""What an answer cannot do without."""

Answer = Read[Beliefs] | Unreadable

PARTIAL = "partial"
"""Note on an answer of which some lists could not be read."""

SURPLUS = "surplus"
"""Note on an answer that held more than was asked for."""


def parse_reflection(
    completion: Completion,
    agent_ids: Sequence[AgentId],
    me: AgentId,
    num_slots: int,
    edition: int = 1,
) -> Answer:
    """Return the changes of belief, by the other agents in the order of ``agent_ids``.

    Where token log-probabilities are given and their tokens spell the reply,
    :attr:`Beliefs.expected` holds for each number its expectation (:func:`expectations`).

    Since edition 2 of the prompts one list at least must be readable [C]. A list is read as a
    whole, since one that is too short or too long does not say which slot it leaves out: a list of
    another length, or with anything but integers in -3..3, counts as missing. What was not asked
    for is passed over. Both are noted in :attr:`Read.recovered`, and such an answer has no expected
    values: its tokens hold other numbers as well.

    Since edition 3 :attr:`Beliefs.occupied` holds, beside them, those lists of chances that slots
    are occupied, in percent, that can be read in the same way [C].
    """
    found = read_object(completion, KEYS)
    if isinstance(found, Unreadable):
        return found
    targets = [str(agent) for agent in agent_ids if agent != me]
    read = (_whole, _at_least_one, _with_chances)[edition - 1]
    return read(completion, found, targets, num_slots)


def misfit(beliefs: Beliefs, targets: Sequence[str], num_slots: int) -> str | None:
    """Return what of beliefs is no answer about these agents and slots, if anything is not."""
    for name, lists in beliefs._asdict().items():
        within = CHANCES if name == "occupied" else CHANGES
        first, last = within[0], within[-1]
        for target, numbers in (lists or {}).items():
            fits = target in targets and len(numbers) == num_slots
            if not fits or not all(first <= number <= last for number in numbers):
                return (
                    f"beliefs.{name}: give {num_slots} numbers from {first} to {last} by other "
                    f"agents' ids, {', '.join(targets)}"
                )
    return None


def _whole(
    completion: Completion, found: Read[dict[str, Any]], targets: Sequence[str], num_slots: int
) -> Answer:
    """Read an answer that holds a list about every target and nothing else."""
    try:
        check_keys("reply", found.value, tuple(KEYS))
        written = _lists(found.value["beliefs"], targets, num_slots)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))
    expected = _expected(completion, found.place, written)
    beliefs = Beliefs(
        {target: written[target] for target in targets},
        None if expected is None else {target: expected[target] for target in targets},
    )
    return Read(beliefs, found.recovered, found.place)


def _at_least_one(
    completion: Completion, found: Read[dict[str, Any]], targets: Sequence[str], num_slots: int
) -> Answer:
    """Read an answer of which one list can be read."""
    whole = _whole(completion, found, targets, num_slots)
    beliefs = found.value.get("beliefs")
    if isinstance(whole, Read) or not isinstance(beliefs, dict):
        return whole
    kept = [target for target in targets if _is_list(beliefs, target, num_slots, CHANGES)]
    if not kept:
        return whole
    is_surplus = len(found.value) > 1 or not beliefs.keys() <= set(targets)
    words = (
        found.recovered,
        PARTIAL if len(kept) < len(targets) else None,
        SURPLUS if is_surplus else None,
    )
    lists = {target: tuple(beliefs[target]) for target in kept}
    return Read(Beliefs(lists), "+".join(filter(None, words)), found.place)


def _with_chances(
    completion: Completion, found: Read[dict[str, Any]], targets: Sequence[str], num_slots: int
) -> Answer:
    """Read an answer of which one list of changes can be read, and the chances that can be."""
    is_in_order = next(iter(found.value), None) == "beliefs"
    chances = found.value.pop("occupied", None)
    read = _at_least_one(completion, found, targets, num_slots)
    if isinstance(read, Unreadable):
        return read
    if not is_in_order:  # the first numbers of its tokens are no changes
        read = read._replace(value=read.value._replace(expected=None))
    occupied: dict[str, tuple[int, ...]] = {}
    is_surplus = False
    if isinstance(chances, dict):
        kept = [each for each in targets if _is_list(chances, each, num_slots, CHANCES)]
        occupied = {target: tuple(chances[target]) for target in kept}
        is_surplus = not chances.keys() <= set(targets)
    applies = {PARTIAL: len(occupied) < len(targets), SURPLUS: is_surplus}
    noted = (read.recovered or "").split("+")
    words = [word for word in noted if word and word not in applies]
    words += [note for note, is_new in applies.items() if is_new or note in noted]
    beliefs = read.value._replace(occupied=occupied or None)
    return read._replace(value=beliefs, recovered="+".join(words) or None)


def _is_list(lists: dict[str, Any], target: str, num_slots: int, within: range) -> bool:
    try:
        _check_list(target, lists.get(target), num_slots, within)
    except MisshapenError:
        return False
    return True


def _lists(beliefs: object, targets: Sequence[str], num_slots: int) -> dict[str, tuple[int, ...]]:
    """Return the lists in the order in which they were written."""
    if not isinstance(beliefs, dict):
        raise MisshapenError(f"beliefs: expected an object, got {kind_of(beliefs)}")
    check_keys("beliefs", beliefs, tuple(targets))
    for target, values in beliefs.items():
        _check_list(f"beliefs.{target}", values, num_slots, CHANGES)
    return {target: tuple(values) for target, values in beliefs.items()}


def _check_list(where: str, values: Any, num_slots: int, within: range) -> None:
    if not isinstance(values, list):
        raise MisshapenError(f"{where}: expected a list, got {kind_of(values)}")
    if len(values) != num_slots:
        raise MisshapenError(f"{where}: expected {num_slots} integers, got {len(values)}")
    first, last = within[0], within[-1]
    if set(map(type, values)) == {int} and first <= min(values) <= max(values) <= last:
        return  # of hundreds of numbers, each would take long to look at
    for slot, value in enumerate(values):
        if type(value) is not int:
            raise MisshapenError(f"{where}[{slot}]: expected an integer, got {kind_of(value)}")
        if value not in within:
            raise MisshapenError(f"{where}[{slot}]: {value} is outside {first}..{last}")


def _expected(
    completion: Completion, place: int, written: dict[str, tuple[int, ...]]
) -> dict[str, tuple[float, ...]] | None:
    """Return the expectation of every number, or nothing if the tokens do not spell the reply.

    Args:
        completion: with its tokens.
        place: where in the stripped text the object begins.
        written: the numbers, in the order in which they were written.
    """
    tokens = completion.logprobs or ()
    joined = "".join(token.token for token in tokens)
    start = joined.find((completion.text or "").strip())
    if not tokens or start < 0:
        return None
    numbers = [value for values in written.values() for value in values]
    results = iter(expectations(tokens, start + place, numbers))
    return {target: tuple([next(results) for _ in values]) for target, values in written.items()}


DIGITS = 6
"""Decimals of an expectation: the last bits differ between processors [C]."""

MIDDLE = {"-": 2.0, "": 1.5}
"""Size taken for the numbers of a sign about which a reply says nothing: the middle of 1..3 with a
minus and of 0..3 without, from which the truth is at most 1 and 1.5 away [C]."""

# e.g. "[-2, 0]", '"a \\" 3"'; not '"cut off'
_SCALAR = re.compile(r'"(?:\\.|[^"\\])*"|-?\d+')
# e.g. whole ", -3]", "+", "2"; not "12", "-4"
_PIECE = re.compile(r'([\s\[\],:]*)([-+]?)(?:([0-3])[\s\[\]{},:"]*[-+]?)?')
"""What separates a number from the one before, its sign and its digit, and what separates it from
the next: each may be absent."""


class _Written(NamedTuple):
    """Where a number is in the tokens' text.

    Attributes:
        value: as written.
        gap: end of the string or number before it.
        start: of its sign or digit.
        first: token that holds ``gap``.
        sign: token that holds ``start``.
        last: token that holds its digit.
    """

    value: int
    gap: int
    start: int
    first: int
    sign: int
    last: int


class _Choices(NamedTuple):
    """Weights of the signs and digits possible at a place; they need not add up to 1.

    Attributes:
        sizes: of whole numbers, each with its sign and weight.
        open_signs: weight of each sign without a digit.
        onward: weight of the token that was written, where the number goes on after it.
    """

    sizes: list[tuple[str, int, float]]
    open_signs: dict[str, float]
    onward: float

    @property
    def total(self) -> float:
        weights = [weight for _, _, weight in self.sizes]
        return sum(weights) + sum(self.open_signs.values()) + self.onward


def expectations(
    tokens: Sequence[TokenLogprob], place: int, numbers: Sequence[int]
) -> tuple[float, ...]:
    """Return the expected value of every number [P, method C].

    Args:
        tokens: of a reply, each with its likeliest alternatives.
        place: where in their text the object with the numbers begins; of what is not quoted in it,
            they are the first.
        numbers: as written, in -3..3.

    Returns:
        One value in -3..3 for each number, to :data:`DIGITS` decimals. A number in a token with
        another, and one whose tokens have no usable log-probability, stays as written.
    """
    text = "".join(token.token for token in tokens)
    ends = list(accumulate(len(token.token) for token in tokens))
    written = list(_written(text, ends, place, numbers))
    uses = Counter(index for each in written for index in {each.sign, each.last})
    found = [
        None if max(uses[each.sign], uses[each.last]) > 1 else _choices(each, text, ends, tokens)
        for each in written
    ]
    sizes = {sign: _typical_size(sign, found) for sign in MIDDLE}
    return tuple(
        float(each.value) if choices is None else round(_mean(choices, sizes), DIGITS)
        for each, choices in zip(written, found, strict=True)
    )


def _written(
    text: str, ends: Sequence[int], place: int, numbers: Sequence[int]
) -> Iterator[_Written]:
    gap, left = place, iter(numbers)
    for match in _SCALAR.finditer(text, place):
        if not match.group().startswith('"'):
            value = next(left, None)
            if value is None:
                return
            places = (bisect_right(ends, at) for at in (gap, match.start(), match.end() - 1))
            yield _Written(value, gap, match.start(), *places)
        gap = match.end()


def _choices(
    number: _Written, text: str, ends: Sequence[int], tokens: Sequence[TokenLogprob]
) -> _Choices | None:
    """Return what the number might have been, with weights that add up to 1; or nothing."""
    sizes: list[tuple[str, int, float]] = []
    open_signs = dict.fromkeys(MIDDLE, 0.0)
    reach = 1.0
    sign = "-" if text[number.start] == "-" else ""
    for index in range(number.first, number.last + 1):
        begin = ends[index] - len(tokens[index].token)
        is_last, is_signed = index == number.last, begin > number.start
        before, gap = text[begin : number.gap], text[begin : number.start]
        found = _at(tokens[index], before, gap, sign, is_signed, is_last)
        if not found.total > 0:
            return None
        scale = reach / found.total
        sizes += [(each, size, weight * scale) for each, size, weight in found.sizes]
        for each, weight in found.open_signs.items():
            open_signs[each] += weight * scale
        reach = found.onward * scale
    return _Choices(sizes, open_signs, 0.0) if sizes else None


def _at(
    token: TokenLogprob, before: str, gap: str, sign: str, is_signed: bool, is_last: bool
) -> _Choices:
    """Return the numbers that the likeliest tokens at one place would have made.

    Tokens that do not fit a number in -3..3 are left out, as are those of another beginning.

    Args:
        token: that was written there.
        before: text from its beginning to the gap.
        gap: text from its beginning to the number as written.
        sign: of the number as written.
        is_signed: whether a minus is before this place.
        is_last: whether the token ends the number.
    """
    found = _Choices([], dict.fromkeys(MIDDLE, 0.0), 0.0)
    for text, logprob in {token.token: token.logprob, **dict(token.top)}.items():
        weight = 0.0 if math.isnan(logprob) else math.exp(min(logprob, 0.0))
        if text == token.token and not is_last:
            found = found._replace(onward=weight)
            continue
        piece = _PIECE.fullmatch(text.removeprefix(before)) if text.startswith(before) else None
        if piece is None:
            continue
        space, own, digit = piece.groups()
        if is_signed:
            if digit and not space and not own:
                found.sizes.append(("-", int(digit), weight))
        elif digit:
            found.sizes.append((own.replace("+", ""), int(digit), weight))
        elif own:
            found.open_signs[own.replace("+", "")] += weight
        elif text and text != token.token and gap.startswith(text):
            # A text has one usual division into tokens: the same gap, divided in another way,
            # leads to the other sign.
            found.open_signs["" if sign else "-"] += weight
    return found


def _typical_size(sign: str, found: Sequence[_Choices | None]) -> float:
    """Return the mean size of the numbers of a sign, over the numbers that know some."""
    means = []
    for choices in found:
        own = [] if choices is None else [each for each in choices.sizes if each[0] == sign]
        total = sum(weight for _, _, weight in own)
        if total > 0:
            means.append(sum(size * weight for _, size, weight in own) / total)
    return sum(means) / len(means) if means else MIDDLE[sign]


def _mean(choices: _Choices, sizes: dict[str, float]) -> float:
    known = sum(-size * w if sign else size * w for sign, size, w in choices.sizes)
    left = choices.open_signs
    return known + left[""] * sizes[""] - left["-"] * sizes["-"]
