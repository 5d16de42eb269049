"""Whatever a model writes is read, or refused for one of the typed reasons."""

import random
from collections import Counter
from typing import get_args

import pytest

from calbench.agents.envelope import parse_envelope
from calbench.agents.reading import Read
from calbench.agents.reflection import parse_partial_reflection
from calbench.domain.ids import AgentId
from calbench.domain.replies import Beliefs, Problem, Unreadable
from calbench.llm.completion import Completion
from tests.agents.mutants import mutant

AGENTS = tuple(AgentId(agent) for agent in range(4))
ME = AgentId(1)
REASONS = (*("stop",) * 36, None, "length", "content_filter", "context_exceeded")
LONGEST_DETAIL = 300


def outcomes(seed: int, number: int) -> tuple[Counter[str], int]:
    """Read so many malformed replies; return how often each problem was found, and how many
    could be read in spite of all, by one parser or the other.
    """
    chance = random.Random(seed)
    problems: Counter[str] = Counter()
    readable = 0
    for _ in range(number):
        text, reason = mutant(chance), chance.choice(REASONS)
        said = Completion(text=text, finish_reason=reason)
        found = (parse_envelope(said), parse_partial_reflection(said, AGENTS, ME, 4))
        for each in found:
            if isinstance(each, Unreadable):
                assert each.problem in get_args(Problem)
                assert each.detail.isprintable()
                assert 0 < len(each.detail) <= LONGEST_DETAIL
                problems[each.problem] += 1
            else:
                check(each.value)
        readable += any(isinstance(each, Read) for each in found)
    return problems, readable


def check(value: object) -> None:
    """Look at what was read: numbers that a trace can hold, text that is text."""
    if isinstance(value, Beliefs):
        assert all(-3 <= step <= 3 for steps in value.delta.values() for step in steps)
        assert set(value.delta) <= {"0", "2", "3"}
    repr(value).encode("utf-8")


def test_malformed_replies_are_typed() -> None:
    problems, readable = outcomes(0, 500)
    assert set(problems) == set(get_args(Problem))
    assert readable


@pytest.mark.heavy
def test_a_hundred_thousand_malformed_replies_are_typed() -> None:
    problems, readable = outcomes(1, 100_000)
    assert set(problems) == set(get_args(Problem))
    assert 0 < readable < 50_000
