"""Who takes part in meetings of others, by what an observer knows of its own."""

from collections import defaultdict
from collections.abc import Sequence

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


def test_sets_of_meetings_are_how_often_others_take_part_in_them() -> None:
    """A half and a half is one where it is either, and not where it may be both or none."""
    took_part: dict[float, list[bool]] = defaultdict(list)
    for lists in DRAWN:
        known = known_of(lists)
        rounds = tuple([(place, None) for place in range(len(known.hidden))])
        for agent in (each for each in AGENTS if each != ME):
            chances = known.takes(agent, rounds)
            truth = sum(1 << at for at, each in enumerate(known.hidden) if agent in lists[each])
            assert chances.sum() == pytest.approx(1)
            for place, chance in enumerate(chances.tolist()):
                took_part[round(chance, 6)].append(place == truth)
    assert not any(took_part.pop(0.0))
    assert all(took_part.pop(1.0))
    for chance, own in took_part.items():
        error = np.sqrt(chance * (1 - chance) / len(own))
        assert np.mean(own) == pytest.approx(chance, abs=4 * error), chance


@pytest.mark.parametrize("is_drawn", [True, False])
def test_who_was_heard_takes_part(is_drawn: bool) -> None:
    lists = DRAWN[0]
    known = others_of(ME, 5, 3, seen_by(ME, lists), is_drawn=is_drawn)
    first, second = known.hidden
    agent = next(each for each in lists[first] if each in lists[second])
    for is_there, others in ((True, [0, 2]), (False, [1, 3])):
        found = known.takes(agent, ((0, is_there), (1, None)))
        assert found[others].sum() == 0
        assert found.sum() == pytest.approx(1)
    assert known.takes(agent, ((1, True),)).tolist() == [0, 0, 1, 0]


def test_many_agents_are_taken_to_be_as_likely() -> None:
    lists = balanced_participants(20, 20, 3, stream(0, "others"))
    known = others_of(ME, 20, 3, seen_by(ME, lists), is_drawn=True)
    common = sum(AgentId(5) in each for each in lists if ME in each)
    assert known.joint is None
    assert known.chance(AgentId(5), 0) == pytest.approx((3 - common) / 17)
    few = others_of(ME, 5, 3, seen_by(ME, DRAWN[0]), is_drawn=False)
    mean = few.mean[0]
    found = few.takes(AgentId(0), ((0, None), (1, None)))
    assert found == pytest.approx([(1 - mean) ** 2, *[mean * (1 - mean)] * 2, mean**2])


def test_lists_that_nobody_drew_by_turns_are_taken_so_as_well() -> None:
    seen = seen_by(ME, DRAWN[0])
    assert others_of(ME, 5, 3, seen, is_drawn=True).joint is not None
    assert others_of(ME, 5, 3, seen, is_drawn=False).joint is None


def test_last_meeting_is_of_whom_is_left() -> None:
    known = others_of(AgentId(3), 4, 3, (None,), is_drawn=True)
    assert [known.chance(agent, 0) for agent in AGENTS[:4]] == [1.0, 1.0, 1.0, 0.0]
    assert known.chance(AgentId(0), 7) == 0.75
