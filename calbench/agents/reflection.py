"""What an agent says it came to believe: the answer to a reflection (appendix F.3)."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from calbench.agents.reading import MisshapenError, Read, check_keys, kind_of, read_object
from calbench.domain.ids import AgentId
from calbench.domain.replies import Beliefs, Unreadable
from calbench.llm.completion import Completion, TokenLogprob

MOST_CHANGE = 3
"""Changes of belief run from -3 to 3 [P]."""

_SCALAR = re.compile(r'"(?:\\.|[^"\\])*"|-?\d+')
_PIECE = re.compile(r'[\s\[,:"]*(-?)([0-3]?)[\s,\]}]*')
"""A token of a list of small integers: a sign, a digit, or both, with what separates them."""


def parse_reflection(
    completion: Completion, agent_ids: Sequence[AgentId], me: AgentId, num_slots: int
) -> Read[Beliefs] | Unreadable:
    """Return the changes of belief, by the other agents in the order of ``agent_ids``.

    Where token log-probabilities are given and their tokens spell the reply,
    :attr:`Beliefs.expected` holds for each number its expectation, see :func:`_expectation`;
    rounded to 6 digits, since the last bits differ between processors.
    """
    found = read_object(completion, frozenset({"beliefs"}))
    if isinstance(found, Unreadable):
        return found
    targets = [str(agent) for agent in agent_ids if agent != me]
    try:
        check_keys("reply", found.value, ("beliefs",))
        written = _lists(found.value["beliefs"], targets, num_slots)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))
    expected = _expected(completion, found.place, written)
    beliefs = Beliefs(
        {target: written[target] for target in targets},
        None if expected is None else {target: expected[target] for target in targets},
    )
    return Read(beliefs, found.recovered, found.place)


def _lists(beliefs: object, targets: Sequence[str], num_slots: int) -> dict[str, tuple[int, ...]]:
    """Return the lists in the order in which they were written."""
    if not isinstance(beliefs, dict):
        raise MisshapenError(f"beliefs: expected an object, got {kind_of(beliefs)}")
    check_keys("beliefs", beliefs, tuple(targets))
    for target, values in beliefs.items():
        _check_list(f"beliefs.{target}", values, num_slots)
    return {target: tuple(values) for target, values in beliefs.items()}


def _check_list(where: str, values: Any, num_slots: int) -> None:
    if not isinstance(values, list):
        raise MisshapenError(f"{where}: expected a list, got {kind_of(values)}")
    if len(values) != num_slots:
        raise MisshapenError(f"{where}: expected {num_slots} integers, got {len(values)}")
    for slot, value in enumerate(values):
        if type(value) is not int:
            raise MisshapenError(f"{where}[{slot}]: expected an integer, got {kind_of(value)}")
        if abs(value) > MOST_CHANGE:
            raise MisshapenError(f"{where}[{slot}]: {value} is outside -3..3")


class _Span(NamedTuple):
    """A number in the tokens: its value, its first and its last token."""

    value: int
    first: int
    last: int


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
    spans = _spans(tokens, joined, start + place, numbers)
    uses = Counter(index for span in spans for index in {span.first, span.last})
    results = iter(
        [
            # A token that spells two numbers says nothing about either alone.
            float(span.value)
            if uses[span.first] > 1 or uses[span.last] > 1
            else round(_expectation(span, tokens), 6)
            for span in spans
        ]
    )
    return {target: tuple([next(results) for _ in values]) for target, values in written.items()}


def _spans(
    tokens: Sequence[TokenLogprob], joined: str, start: int, numbers: Sequence[int]
) -> list[_Span]:
    """Return where each number is. Only numbers are unquoted in the object."""
    ends = list(accumulate(len(token.token) for token in tokens))
    matches = (m for m in _SCALAR.finditer(joined, start) if not m.group().startswith('"'))
    return [
        _Span(value, bisect_right(ends, match.start()), bisect_right(ends, match.end() - 1))
        for value, match in zip(numbers, matches, strict=False)
    ]


def _expectation(span: _Span, tokens: Sequence[TokenLogprob]) -> float:
    """Return the expected value of one number among the likeliest tokens, renormalised [C].

    - In one token (``2``, ``-2``): over its alternatives that are whole integers in -3..3. A
      bare ``-`` among them counts for nothing, since what would have followed is unknown.
    - In two (``-`` then ``2``): over the alternatives of the first that are whole integers,
      and its ``-``, which takes the expectation of the digits of the second.
    - In any other way, or if no alternative fits: the number as written.
    """
    values, minus = _alternatives(tokens[span.first])
    if span.last == span.first + 1:
        digits, _ = _alternatives(tokens[span.last])
        size = _mean([(value, weight) for value, weight in digits if value >= 0])
        if not minus or size is None:
            return float(span.value)
        values.append((-size, minus))
    elif span.last != span.first:
        return float(span.value)
    mean = _mean(values)
    return float(span.value) if mean is None else mean


def _alternatives(token: TokenLogprob) -> tuple[list[tuple[float, float]], float]:
    """Return the (integer, probability) of a place's likeliest tokens, and that of a bare minus."""
    logprob_by_token = dict(token.top)
    logprob_by_token.setdefault(token.token, token.logprob)
    values: list[tuple[float, float]] = []
    minus = 0.0
    for text, logprob in logprob_by_token.items():
        piece = _PIECE.fullmatch(text)
        if piece is None or math.isnan(logprob):
            continue
        weight = math.exp(min(logprob, 0.0))
        sign, digit = piece.groups()
        if digit:
            values.append((float(sign + digit), weight))
        elif sign:
            minus += weight
    return values, minus


def _mean(values: Sequence[tuple[float, float]]) -> float | None:
    total = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values) / total if total > 0 else None
