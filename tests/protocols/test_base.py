"""What protocols share: placing, local costs, and the registry."""

import pytest

from calbench import play_game
from calbench.domain.actions import PASS, Action, Turn
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


@pytest.mark.parametrize(
    ("row", "slot", "expected"),
    [
        ("E1.B", 1, (book(1, 1),)),
        # An errand moves to the lowest free slot.
        ("BE1..", 1, (move(102, 1, 2, JUSTIFICATION), book(1, 1))),
        (".E1..", 1, (move(101, 1, 0, JUSTIFICATION), book(1, 1))),
        # The slot cannot be cleared, or does not exist.
        *((row, 0, ()) for row in ("B.", "E1B", "E1")),
        *(("..", slot, ()) for slot in (-1, 2, 10**30)),
    ],
)
def test_meeting_is_placed(row: str, slot: int, expected: tuple[Action, ...]) -> None:
    seen = observation(0, row, phase=Phase.DECISION)
    assert place(seen, TRIO, Slot(slot)) == Turn(expected)


def test_turn_is_empty_when_a_meeting_stands_in_the_slot() -> None:
    seen = observation(0, "..", phase=Phase.DECISION)._replace(calendar=(Booking(TRIO), None))
    assert place(seen, TRIO, Slot(0)) == PASS


def test_local_cost_is_nothing_when_free_and_shown_when_movable_and_absent_when_not() -> None:
    held: Calendar = (*calendar(".E10B5E100."), Booking(TRIO))
    assert local_costs(held) == (0, 10, None, 100, 0, None)
    # Without another free slot no errand can go.
    assert local_costs(calendar("E1E10B")) == (None, None, None)
    assert local_costs(calendar("E1.E10")) == (1, 0, 10)
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
