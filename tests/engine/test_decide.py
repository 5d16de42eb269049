"""VOLUNTARY and DECISION: who is asked for a batch, how often, and what it does."""

import pytest

from calbench.domain.actions import Action
from calbench.domain.calendars import item_ids
from calbench.domain.observations import Phase
from calbench.traces.events import BatchApplied, BatchRejected, DecideStart, Resolution
from tests.engine.scripts import (
    Lines,
    book,
    broadcast,
    decide,
    dm,
    game_config,
    move,
    play_scripts,
    talk,
    volunteer,
)
from tests.factories import make_scenario

# Each agent holds one errand, at slot 0 with cost 3: 101, 105, 109, 113 and 117.
ROWS = ["E3..."] * 5
SCENARIO = make_scenario(ROWS, [(2, 0, 1)])
EMPTY = "Expected exactly 1 schedule action, got 0"


def test_rejected_batch_is_answered_with_its_own_conflict_alone() -> None:
    lines: dict[int, Lines] = {
        0: {decide(0): [book(1, 0)], decide(1): [book(1, 9)], decide(3): [book(1, 1)]},
        1: {decide(0): [book(1, 0)], decide(1): [book(1, 1)]},
    }
    game = play_scripts(SCENARIO, lines)
    assert [game.seen(0, decide(attempt)).conflict for attempt in range(4)] == [
        None,
        "Slot 0 is not free after the moves: Errand #101 stands there",
        "schedule: slot 9 is outside 0..3",
        EMPTY,
    ]
    assert "Errand #105" in (game.seen(1, decide(1)).conflict or "")


def test_batch_is_discarded_after_the_last_retry_and_the_others_stand() -> None:
    lines: dict[int, Lines] = {
        0: {decide(0): [book(1, 1)]},
        1: {decide(attempt): [move(105, 0, 2), book(1, 2)] for attempt in range(4)},
        2: {decide(3): [move(109, 0, 3), book(1, 1)]},
    }
    game = play_scripts(SCENARIO, lines)
    assert [list(calendar) for calendar in game.trace.final_state.calendars[:3]] == [
        [101, 1, None, None],
        [105, None, None, None],
        [None, 1, None, 109],
    ]
    assert game.trace.final_state.cost_by_agent == (0, 0, 3, 0, 0)
    (resolution,) = game.events(Resolution)
    assert resolution.outcome == "no_batch"
    assert resolution.slot_by_agent == {"0": 1, "1": None, "2": 1}


def test_rejected_batch_is_recorded_whole_and_changes_nothing() -> None:
    actions: list[Action] = [move(101, 0, 1), book(1, 1)]
    game = play_scripts(SCENARIO, {0: {decide(0): actions}}, game_config(retries=0))
    event = next(e for e in game.events(BatchRejected) if e.agent_id == 0)
    assert (event.actions, event.conflict) == (tuple(actions), "Two actions target slot 1")
    assert game.trace.final_state.calendars[0] == (101, None, None, None)
    assert game.trace.final_state.cost_by_agent[0] == 0


def test_decision_sees_the_snapshot_after_volunteering() -> None:
    prior = make_scenario(ROWS, [(0, 1)], prior=[((1, 3), 2)])
    lines: dict[int, Lines] = {
        0: {talk(0): [dm(3)], decide(0): [move(101, 0, 3), book(1, 0)]},
        3: {volunteer(): [move(113, 0, 3)]},
    }
    game = play_scripts(prior, lines)
    assert item_ids(game.seen(3, volunteer()).calendar) == (113, None, 2, None)
    assert item_ids(game.seen(1, decide(0)).calendar) == (105, None, 2, None)
    assert item_ids(game.seen(1, decide(3)).calendar) == (105, None, 2, None)
    starts = game.events(DecideStart, lambda e: e.agent_id == 1)
    assert {start.calendar for start in starts} == {(105, None, 2, None)}


@pytest.mark.parametrize(
    ("actions", "conflict"),
    [
        ([move(113, 0, 2), move(113, 0, 3)], "Errand #113 is moved twice in one batch"),
        ([move(113, 0, 2), book(1, 0)], "Expected exactly 0 schedule actions, got 1"),
    ],
)
def test_outsider_is_refused_without_retry_and_moves_of_another_are_charged_at_once(
    actions: list[Action], conflict: str
) -> None:
    lines: dict[int, Lines] = {
        0: {talk(0): [broadcast()]},
        3: {volunteer(): actions},
        4: {volunteer(): [move(117, 0, 2)]},
    }
    game = play_scripts(SCENARIO, lines)
    (event,) = game.events(BatchRejected, lambda e: e.phase is Phase.VOLUNTARY)
    assert (event.agent_id, event.attempt, event.conflict) == (3, 0, conflict)
    assert game.asks(3, Phase.VOLUNTARY) == [(0, 0)]
    (applied,) = game.events(BatchApplied)
    assert (applied.phase, applied.agent_id, applied.cost) == (Phase.VOLUNTARY, 4, 3)
    assert game.trace.final_state.calendars[3:] == (
        (113, None, None, None),
        (None, None, 117, None),
    )
    assert game.trace.final_state.cost_by_agent == (0, 0, 0, 0, 3)


def test_observation_counts_the_cost_of_moved_meetings_among_the_shown() -> None:
    scenario = make_scenario(["....", "....", "...."], [(0, 1), (0, 1)], prior=[((0, 2), 1, 5)])
    lines: dict[int, Lines] = {0: {decide(): [move(3, 1, 2), book(1, 1)]}}
    game = play_scripts(scenario, lines)
    assert game.seen(0, talk(round_index=1)).incurred_shown_cost == 5
    assert game.trace.final_state.cost_by_agent[0] == 5
