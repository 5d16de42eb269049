"""What offers of DSM and a speaker's first question say, against all calendars that make them."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from calbench.agents.scripted.understanding import IMPOSSIBLE
from calbench.domain.calendars import Booking, Calendar, Errand
from calbench.domain.ids import AgentId, ErrandId, MeetingId
from calbench.domain.messages import Message, Proposals, Text
from calbench.metrics.privacy.inference.literal import LiteralReader, _level
from calbench.protocols.clues import Cells, Clue, OneOf, Told, View
from calbench.protocols.dsm.clues import told
from calbench.protocols.dsm.plans import joint_feasibility, offer_size, offers, own_plans
from calbench.protocols.dsm.settings import DsmSettings
from tests.protocols.observations import meeting

ME, SENDER = AgentId(1), AgentId(0)
CELLS: Cells = (0, 1, 3, None)
States = tuple[int, ...]
STATES: tuple[States, ...] = tuple(product(range(5), repeat=5))
"""Of five slots each: one of the cells, or 4: a meeting holds it."""


def view_of(cells: Cells) -> View:
    return View(ME, (SENDER, ME), 5, cells, (), lambda _: [])


def allowed(clues: Sequence[Clue]) -> set[States]:
    """Return the calendars that could have said this, by the ways and what is told beside them."""
    (ways,) = [clue for clue in clues if isinstance(clue, OneOf)]
    can_be = np.zeros((len(ways.ways), 5, len(CELLS) + 1), dtype=bool)
    can_be[:, [*ways.slots]] = np.array(ways.ways) > 0
    for clue in [clue for clue in clues if isinstance(clue, Told)]:
        for slot, weights in clue.slots.items():
            can_be[:, slot] = [*weights, clue.held.get(slot, weights[-1])]
    states = np.array(STATES)
    (fits,) = np.nonzero(can_be[:, np.arange(5), states].all(axis=2).any(axis=0))
    return {STATES[place] for place in fits}


def calendar_of(states: States) -> Calendar:
    return tuple(
        [
            Booking(meeting(7 + slot, 0, 1))
            if state == 4
            else Errand(ErrandId(slot), CELLS[state] or 0, blocked=CELLS[state] is None)
            if state
            else None
            for slot, state in enumerate(states)
        ]
    )


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_an_offer_says_which_calendars_make_it(size: int) -> None:
    """Of one plan for each meeting, and of as many plans as there are, or as are left."""
    settings = DsmSettings(lmin=size, lmax=size, depth=1, targets=1)
    made: dict[Proposals, set[States]] = defaultdict(set)
    for states in STATES:
        held = calendar_of(states)
        plans = own_plans(held, settings.depth, settings.targets)
        count = offer_size(plans, joint_feasibility(held, 1), settings)
        if any(not plan.moves for plan in plans[:count]):
            made[offers(plans[:count], 0, [ME])[0]].add(states)
    assert len(made) >= 5
    for offer, makers in made.items():
        message = Message(SENDER, (ME,), "dm", MeetingId(1), offer)
        found = allowed([*told(message, view_of(CELLS), settings)])
        # Where a meeting is moved to, and that it needs a free slot, is not read.
        assert makers <= found, offer
        if all(not plan.moves for plan in offer.plans):
            assert makers == {each for each in found if 0 in each}, offer


def test_slots_left_out_come_after_the_last_plan_even_if_it_moves_a_meeting() -> None:
    settings = DsmSettings(lmin=3, lmax=3, depth=1, targets=1)
    held = calendar_of((2, 0, 0, 4, 1))  # 3, free, free, a meeting, 1
    plans = own_plans(held, 1, 1)[:3]
    assert [(plan.slot, len(plan.moves)) for plan in plans] == [(1, 0), (2, 0), (3, 1)]
    message = Message(SENDER, (ME,), "dm", MeetingId(1), offers(plans, 0, [ME])[0])
    by_slot = [*zip(*allowed([*told(message, view_of(CELLS), settings)]), strict=True)]
    assert {*by_slot[0]} == {2, 3}  # before the last plan: it costs more than 1
    assert {*by_slot[4]} == {1, 2, 3, 4}  # behind it: it is not free
    assert {*by_slot[3]} == {4}


SPOKEN: Cells = (0, 2, 20, None)
"""Free, and costs of two words."""


def test_a_first_question_says_which_calendars_ask_it() -> None:
    asked: dict[tuple[int, ...], set[States]] = defaultdict(set)
    levels = [*map(_level, SPOKEN), IMPOSSIBLE]
    for states in STATES:
        able = [(levels[state], slot) for slot, state in enumerate(states)]
        best = sorted([each for each in able if each[0] is not IMPOSSIBLE])[:3]
        asked[tuple(sorted([slot for _, slot in best]))].add(states)
    del asked[()]
    for slots, askers in asked.items():
        named = ", ".join(map(str, slots[:-1])) + " or " * (len(slots) > 1) + str(slots[-1])
        text = Text(text=f"How about slot{'s' * (len(slots) > 1)} {named}?")
        message = Message(SENDER, (ME,), "dm", MeetingId(1), text)
        assert allowed([*LiteralReader().tells(message, view_of(SPOKEN))]) == askers, slots


def test_a_later_question_says_nothing() -> None:
    text = Text(text="How about slots 1, 2 or 3?")
    message = Message(SENDER, (ME,), "dm", MeetingId(1), text)
    view = view_of(SPOKEN)._replace(messages=[message])
    assert [*LiteralReader().tells(message, view)] == [Told(SENDER, {})]
    hostile = Message(SENDER, (ME,), "dm", MeetingId(1), Text(text="How about slots 1 or 77?"))
    assert [*LiteralReader().tells(hostile, view_of(SPOKEN))] == [Told(SENDER, {})]
