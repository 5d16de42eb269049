"""Participants and first speakers are spread as evenly as can be."""

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.ids import AgentId
from calbench.domain.randomness import stream
from calbench.scenarios.balance import balanced_participants, first_speakers, speaker_order
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
