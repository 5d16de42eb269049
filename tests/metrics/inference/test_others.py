"""Who takes part in meetings of others, by what an observer knows of its own."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from calbench.domain.ids import AgentId
from calbench.domain.randomness import stream
from calbench.metrics.privacy.inference.observer import Others, others_of
from calbench.scenarios.balance import Participants, balanced_participants

AGENTS = [AgentId(agent) for agent in range(5)]
DRAWN = [balanced_participants(5, 5, 3, stream(seed, "others")) for seed in range(400)]
ME = AgentId(2)


def seen_by(me: AgentId, lists: Sequence[Participants]) -> tuple[Participants | None, ...]:
    return tuple([each if me in each else None for each in lists])


def known_of(lists: Sequence[Participants]) -> Others:
    return others_of(ME, 5, 3, seen_by(ME, lists), is_drawn=True)


def test_chances_are_how_often_others_take_part() -> None:
    took_part: dict[float, list[bool]] = defaultdict(list)
    for rounds in (4, 5):
        for lists in DRAWN:
            known = known_of(lists[:rounds])
            for number, agent in np.ndindex(rounds, 5):
                chance = round(known.chance(AGENTS[agent], number), 6)
                took_part[chance].append(agent in lists[number])
    assert not any(took_part.pop(0.0))
    assert all(took_part.pop(1.0))
    assert len(took_part) > 2
    for chance, own in took_part.items():
        error = np.sqrt(chance * (1 - chance) / len(own))
        assert np.mean(own) == pytest.approx(chance, abs=4 * error), chance


def test_links_are_how_often_two_take_part_in_one_meeting() -> None:
    expected = together = 0.0
    links = set()
    for lists in DRAWN:
        known, earlier = known_of(lists), [each for each in lists[:4] if ME not in each]
        for first, second in permutations([each for each in AGENTS if each != ME], 2):
            link = known.link([first, second], 4)
            expected += link * sum(first in each for each in earlier)
            together += sum(first in each and second in each for each in earlier)
            links.add(round(link, 6))
    assert together == pytest.approx(expected, rel=0.03)
    assert {0.0, 1.0} <= links


def test_numbers_of_meetings_are_known_where_all_sequences_agree() -> None:
    """A half and a half is one where it is either, and not where it may be both or none."""
    known_of_both = 0
    for lists in DRAWN:
        known = known_of(lists)
        for last, agent in np.ndindex(5, 5):
            number = sum(known.chance(AGENTS[agent], each) for each in known.hidden if each <= last)
            truth = sum(agent in lists[each] for each in known.hidden if each <= last)
            if known.is_counted(last)[agent]:
                assert number == pytest.approx(truth)
                known_of_both += 0 < known.chance(AGENTS[agent], known.hidden[0]) < 1
    assert known_of_both
    many = balanced_participants(10, 20, 3, stream(0, "others"))
    odd = others_of(ME, 10, 3, seen_by(ME, many), is_drawn=True)
    assert odd.joint is None
    assert not odd.is_counted(19)[0]


def test_many_agents_are_taken_to_be_as_likely() -> None:
    lists = balanced_participants(20, 20, 3, stream(0, "others"))
    known = others_of(ME, 20, 3, seen_by(ME, lists), is_drawn=True)
    common = sum(AgentId(5) in each for each in lists if ME in each)
    assert known.joint is None
    assert known.chance(AgentId(5), 0) == pytest.approx((3 - common) / 17)
    assert known.link([AgentId(5), AgentId(6)], 19) == pytest.approx(2 / 18)


def test_lists_that_nobody_drew_by_turns_are_taken_so_as_well() -> None:
    seen = seen_by(ME, DRAWN[0])
    assert others_of(ME, 5, 3, seen, is_drawn=True).joint is not None
    assert others_of(ME, 5, 3, seen, is_drawn=False).joint is None


def test_nobody_met_before_the_first_meeting_of_others() -> None:
    pair = [AgentId(0), AgentId(1)]
    for num_agents in (5, 50):  # with sequences, and without
        known = others_of(ME, num_agents, 3, ((AgentId(0), AgentId(1), ME), None), is_drawn=True)
        assert [known.link(pair, number) for number in (0, 1)] == [0, 0]
    known = others_of(AgentId(3), 4, 3, (None,), is_drawn=True)
    assert [known.chance(agent, 0) for agent in AGENTS[:4]] == [1.0, 1.0, 1.0, 0.0]
    assert known.chance(AgentId(0), 7) == 0.75
