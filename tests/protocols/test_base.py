"""What protocols share: placing, local costs, and the registry."""

import pytest

from calbench import play_game
from calbench.domain.actions import PASS, Turn
from calbench.domain.calendars import Booking, Calendar
from calbench.domain.ids import Slot
from calbench.domain.messages import CHANNELS, Channel
from calbench.domain.observations import Phase
from calbench.protocols.base import JUSTIFICATION, place
from calbench.protocols.costs import CostVector, cheapest_slot, feasible_slots, local_costs
from calbench.protocols.registry import POLICIES, Needs, build_policy, has_trait, needs_of
from calbench.protocols.secure_sum import SecureSum
from calbench.traces.events import MessageSent
from tests.engine.scripts import book, move
from tests.factories import calendar
from tests.metrics.games import canonical_scenario
from tests.protocols.observations import TRIO, observation


def placed(row: str, slot: int) -> Turn:
    return place(observation(0, row, phase=Phase.DECISION), TRIO, Slot(slot))


def test_meeting_is_scheduled_at_once_when_the_slot_is_free() -> None:
    assert placed("E1.B", 1) == Turn((book(1, 1),))


def test_errand_moves_to_the_lowest_free_slot_when_it_stands_in_the_way() -> None:
    assert placed("BE1..", 1) == Turn((move(102, 1, 2, JUSTIFICATION), book(1, 1)))
    assert placed(".E1..", 1) == Turn((move(101, 1, 0, JUSTIFICATION), book(1, 1)))


@pytest.mark.parametrize(("row", "slot"), [("B.", 0), ("E1B", 0), ("E1", 0)])
def test_turn_is_empty_when_the_slot_cannot_be_cleared(row: str, slot: int) -> None:
    assert placed(row, slot) == PASS


def test_turn_is_empty_when_a_meeting_stands_in_the_slot() -> None:
    seen = observation(0, "..", phase=Phase.DECISION)._replace(calendar=(Booking(TRIO), None))
    assert place(seen, TRIO, Slot(0)) == PASS


@pytest.mark.parametrize("slot", [-1, 2, 10**30])
def test_turn_is_empty_when_the_slot_does_not_exist(slot: int) -> None:
    assert placed("..", slot) == PASS


def test_local_cost_is_nothing_when_free_and_shown_when_movable_and_absent_when_not() -> None:
    held: Calendar = (*calendar(".E10B5E100."), Booking(TRIO))
    assert local_costs(held) == (0, 10, None, 100, 0, None)


def test_errand_has_no_local_cost_when_no_slot_is_free_to_take_it() -> None:
    assert local_costs(calendar("E1E10B")) == (None, None, None)


def test_errand_has_its_cost_when_one_other_slot_is_free() -> None:
    assert local_costs(calendar("E1.E10")) == (1, 0, 10)


def test_feasible_slots_are_those_with_a_cost_ascending() -> None:
    assert feasible_slots((None, 0, 10, None, 1)) == (1, 2, 4)


@pytest.mark.parametrize(
    ("vectors", "slot"),
    [
        ([(3, 2, 1)], 2),
        ([(1, 0, 1), (0, 10, 0)], 0),
        ([(0, 1, 0), (1, 0, 1), (0, 0, 0)], 0),
        ([(None, 1, 0), (0, None, 100)], 2),
        ([(None, 1), (1, None)], None),
        ([(None, None)], None),
        ([(100, 10, 10), (0, 10, 10)], 1),
    ],
)
def test_cheapest_slot_has_the_smallest_sum_then_index_among_those_feasible_for_all(
    vectors: list[CostVector], slot: int | None
) -> None:
    assert cheapest_slot(vectors) == slot


def test_policy_is_built_by_its_name() -> None:
    for name, make in POLICIES.items():
        assert isinstance(build_policy(name, {}), make)


def test_policy_is_absent_when_its_name_is_unknown() -> None:
    assert build_policy("calbench.protocols.imap.Imap", {}) is None


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_player_talks_on_the_channels_that_are_declared_and_on_no_other(
    name: str, channel: Channel
) -> None:
    team = {"dsm": "dsm-private"}.get(name, name)
    trace = play_game(canonical_scenario(0), team, channels=(channel,))
    has_talked = any(isinstance(event, MessageSent) for event in trace.events)
    # What a mediator is told, and tells, is on no channel that could be closed.
    assert has_talked == (name == "mediator" or channel in getattr(POLICIES[name], "talks_on", ()))


def test_needs_are_those_that_each_class_says_and_its_subclasses_have_them() -> None:
    needs = {name: needs_of(name) or Needs() for name in POLICIES}
    assert [name for name in needs if needs[name].mediator] == ["mediator"]
    assert [name for name in needs if needs[name].private_chance] == ["secure-sum"]
    assert [name for name in needs if needs[name].is_degenerate] == DEGENERATE
    assert has_trait(type("Own", (SecureSum,), {}), "needs_private_chance")


DEGENERATE = ["silent", "first-free", "tell-all"]
