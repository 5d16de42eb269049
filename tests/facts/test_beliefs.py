"""Facts of beliefs and pairs: by hand, and against a second, plain replay of the messages."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from calbench.facts.beliefs import BELIEFS, PAIRS, REFLECTIONS
from calbench.facts.games import GAMES
from calbench.metrics.game import score_game
from calbench.metrics.privacy.loss import round_beliefs
from tests.facts.measured import play_preset, rows_of, values_of
from tests.metrics.changes import changes_of
from tests.metrics.games import canonical_scenario, play_team
from tests.metrics.language_games import (
    reflecting,
    reflection,
    seat,
    seated,
    small_game,
    small_reflected_game,
)

UPDATE = (
    *("event_index", "round", "target_agent", "observer_agent", "slot", "source", "channel"),
    *("evidence", "strength", "belief_before", "belief_after"),
)


@pytest.mark.parametrize("team", ["imap", "dsm-private", "sd-map", "mediator"])
def test_updates_are_those_of_a_plain_replay(team: str) -> None:
    trace = play_preset(team, canonical_scenario(5))
    plain = [
        (
            *(change.event_index, each.round, change.target, change.observer, change.slot),
            *(change.source, change.channel, change.evidence, change.strength),
            *(change.before, change.after),
        )
        for each in round_beliefs(trace)
        for change in changes_of(each)
    ]
    assert plain
    assert rows_of(BELIEFS, trace, *UPDATE) == plain


def test_both_are_about_typed_targets_and_name_every_observer() -> None:
    played = play_team(canonical_scenario(3), "imap")
    mixed = seated(played, *(seat("imap", "protocol") if a == 2 else seat("t") for a in range(5)))
    assert {target for (target,) in rows_of(BELIEFS, mixed, "target_agent")} == {2}
    pairs = rows_of(PAIRS, mixed, "target_agent", "observer_agent")
    assert set(pairs) == {(2, 0), (2, 1), (2, 3), (2, 4)}
    assert len(pairs) == 4 * 5
    for fact in (BELIEFS, PAIRS):
        assert set(map(len, values_of(fact, small_game()).values())) == {0}, "only speakers"


WHO = ("round", "target_agent", "observer_agent")
PARTS = ("target_is_participant", "observer_is_participant", "target_uses_language")
MOVED = ("moved", "moved_toward", "moved_away", "answered", "answered_toward", "answered_away")
MOVES = ("toward_1", "toward_2", "toward_3", "away_1", "away_2", "away_3")


def test_reflections_by_hand() -> None:
    trace = small_reflected_game()
    assert rows_of(REFLECTIONS, trace, *WHO, *PARTS, *MOVES) == [
        (0, 1, 0, True, True, True, 0, 0, 0, 0, 0, 1),
        (0, 2, 0, False, True, True, 0, 1, 0, 0, 0, 0),
        (0, 0, 1, True, True, True, 0, 2, 1, 1, 0, 0),
        (0, 2, 1, False, True, True, 0, 0, 0, 0, 0, 0),
        (0, 0, 2, True, False, True, 1, 0, 0, 0, 0, 1),
        (0, 1, 2, True, False, True, 0, 0, 0, 0, 0, 0),
        (1, 1, 0, True, False, True, 0, 0, 0, 0, 0, 1),
        (1, 2, 0, True, False, True, 0, 0, 0, 0, 0, 0),
        (1, 0, 1, False, True, True, 0, 0, 0, 0, 0, 0),
        (1, 2, 1, True, True, True, 0, 0, 1, 1, 0, 0),
        (1, 0, 2, False, True, True, 0, 0, 0, 0, 0, 0),
        (1, 1, 2, True, True, True, 0, 1, 1, 0, 0, 0),
    ]
    thirds = [
        tuple(round(3 * value) for value in row) for row in rows_of(REFLECTIONS, trace, *MOVED)
    ]
    assert thirds[2] == (8, 7, 1, 8, 7, 1)
    assert thirds[4] == (4, 1, 3, 4, 1, 3)
    assert thirds[9] == (4, 3, 1, 4, 3, 1)


def test_expected_movements_stand_beside_the_integers() -> None:
    answer = reflection(0, 1, {0: (3, 0, 0, 0), 2: (0, 0, 0, 0)}, {0: (1.5, -0.75, 0.0, 0.0)})
    rows = rows_of(REFLECTIONS, reflecting(small_game(), [answer]), "is_expected", *MOVED, *MOVES)
    assert rows == [
        (True, 0.75, 0.5, 0.25, 1.0, 1.0, 0.0, 0, 0, 1, 0, 0, 0),
        (False, *(0.0,) * 6, *(0,) * 6),
    ]


def test_typed_targets_are_marked() -> None:
    answer = reflection(0, 1, {0: (0, 0, 0, 0), 2: (0, 0, 0, 0)})
    for talkers, expected in ((1, [False, False]), (2, [False, True])):
        trace = seated(small_game(), seat("imap", "protocol"), *[seat("talker")] * talkers)
        values = values_of(REFLECTIONS, reflecting(trace, [answer]))
        assert values["target_uses_language"] == expected


def test_movement_toward_the_truth_adds_up_to_the_score() -> None:
    trace = small_reflected_game()
    rows = rows_of(REFLECTIONS, trace, "target_agent", "moved_toward")
    for agent in score_game(trace).agents:
        total = sum(moved for target, moved in rows if target == agent.agent_id)
        assert agent.vps == pytest.approx(total)
        assert total > 0


@pytest.mark.parametrize(
    ("find", "row"),
    [
        (REFLECTIONS.found["moved"], SimpleNamespace(counted=object())),
        (
            GAMES.found["event_index"],
            SimpleNamespace(score=SimpleNamespace(optimum=SimpleNamespace(loss=object()))),
        ),
    ],
)
def test_what_a_loss_has_not_is_an_error_and_not_absent(
    find: Callable[[object], object], row: object
) -> None:
    with pytest.raises(AttributeError):
        find(row)
