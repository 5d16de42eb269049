"""Participants and first speakers are spread as evenly as can be."""

import itertools
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calbench.domain.ids import AgentId
from calbench.domain.randomness import stream
from calbench.scenarios.balance import (
    balanced_participants,
    balanced_sequences,
    first_speakers,
    is_balanced,
    num_balanced,
    speaker_order,
)
from calbench.scenarios.recipe import drawn, task
from tests.strategies import seeds


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int, int]:
    num_agents = draw(st.integers(1, 9))
    return num_agents, draw(st.integers(0, 20)), draw(st.integers(1, num_agents))


@given(sizes(), seeds)
def test_participants_differ_by_at_most_one_after_every_meeting(
    size: tuple[int, int, int], seed: int
) -> None:
    num_agents, num_meetings, num_participants = size
    lists = balanced_participants(num_agents, num_meetings, num_participants, stream(seed, "p"))
    counts = dict.fromkeys(range(num_agents), 0)
    assert len(lists) == num_meetings
    for participants in lists:
        assert len(set(participants)) == num_participants
        assert list(participants) == sorted(participants)
        for agent in participants:
            counts[agent] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


def test_participants_of_the_second_meeting_take_all_unused_agents() -> None:
    for seed in range(50):
        first, second, *_ = balanced_participants(5, 5, 3, stream(seed, "p"))
        assert set(first) | set(second) == set(range(5))
        assert len(set(first) & set(second)) == 1


def test_participants_break_ties_evenly() -> None:
    firsts = Counter(balanced_participants(5, 1, 3, stream(seed, "p"))[0] for seed in range(3000))
    assert len(firsts) == 10
    assert max(firsts.values()) - min(firsts.values()) < 110


def test_sequences_are_what_is_drawn_each_as_likely() -> None:
    sequences = balanced_sequences(4, 4, 3)
    found = Counter(balanced_participants(4, 4, 3, stream(seed, "p")) for seed in range(5000))
    assert {*found} == {*sequences}
    assert len(sequences) == num_balanced(4, 4, 3) == 24
    assert all(150 < count < 270 for count in found.values())


def test_sequences_are_what_the_papers_recipe_draws_each_as_likely() -> None:
    sequences = balanced_sequences(5, 5, 3)
    tasks = [task(*each) for each in itertools.product((1, 3), (5, 6), range(300))]
    scenarios = [drawn(each, scenario_id="uniform-000", setting="uniform") for each in tasks]
    found = Counter(tuple(each.participants for each in own.meetings) for own in scenarios)
    assert len(sequences) == num_balanced(5, 5, 3) == 720
    assert {*found} <= {*sequences}
    # Of 1,200 draws of 720, 136 would be missing: e^(-1200 / 720) of them, with a deviation of 9.
    assert 100 < 720 - len(found) < 172


@given(sizes())
def test_sequences_are_as_many_as_counted_and_balanced(size: tuple[int, int, int]) -> None:
    number = num_balanced(*size)
    assume(number <= 2000)
    sequences = balanced_sequences(*size)
    assert len({*sequences}) == number
    assert all(is_balanced(each, size[0]) for each in sequences)


@pytest.mark.parametrize(
    "lists",
    [[(0, 1, 2), (0, 1, 3)], [(0, 1, 2), (3, 4)], [(0, 1, 1)]],
    ids=["not by turns", "of several sizes", "somebody twice"],
)
def test_lists_that_are_not_drawn(lists: list[tuple[int, ...]]) -> None:
    assert not is_balanced([tuple(map(AgentId, each)) for each in lists], 5)


@given(sizes(), seeds)
def test_first_speakers_get_floor_or_ceiling_turns_with_balanced_lists(
    size: tuple[int, int, int], seed: int
) -> None:
    num_agents, num_meetings, num_participants = size
    lists = balanced_participants(num_agents, num_meetings, num_participants, stream(seed, "p"))
    speakers = first_speakers(lists, num_agents, stream(seed, "s"))
    assert all(speaker in group for speaker, group in zip(speakers, lists, strict=True))
    counts = Counter(speakers)
    least, most = num_meetings // num_agents, -(-num_meetings // num_agents)
    assert all(least <= counts[AgentId(agent)] <= most for agent in range(num_agents))


given_lists = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True), min_size=1, max_size=5
)


@given(given_lists, seeds)
def test_first_speakers_are_as_even_as_any_choice_with_given_lists(
    lists: list[list[int]], seed: int
) -> None:
    groups = [[AgentId(agent) for agent in group] for group in lists]

    def unevenness(speakers: tuple[AgentId, ...]) -> int:
        return sum(count**2 for count in Counter(speakers).values())

    best = min(unevenness(choice) for choice in itertools.product(*groups))
    assert unevenness(first_speakers(groups, 4, stream(seed, "s"))) == best


def test_first_speakers_vary_with_the_stream() -> None:
    groups = [tuple(AgentId(agent) for agent in range(4))] * 4
    found = {first_speakers(groups, 4, stream(seed, "s")) for seed in range(60)}
    assert len(found) > 10


def test_speaker_order_is_first_then_ascending() -> None:
    assert speaker_order([AgentId(4), AgentId(0), AgentId(2)], AgentId(2)) == (2, 0, 4)
