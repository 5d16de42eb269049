"""Facts of beliefs and pairs: by hand, and against a second, plain replay of the messages."""

from math import fsum

import pytest

from calbench.facts.beliefs import BELIEFS, PAIRS
from calbench.metrics.game import score_game
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.loss import privacy_loss, round_beliefs
from tests.facts.measured import play_preset, rows_of, values_of
from tests.facts.played import told_game
from tests.metrics.changes import changes_of
from tests.metrics.games import canonical_scenario, play_team
from tests.metrics.language_games import seat, seated, small_game

UPDATE = (
    *("event_index", "round", "target_agent", "observer_agent", "slot", "source", "channel"),
    *("evidence", "strength", "belief_before", "belief_after"),
)
PAIR = (
    *("round", "target_agent", "observer_agent"),
    *("target_is_participant", "observer_is_participant"),
    *("observations", "posterior_distance_to_ideal", "vps_loss"),
)


def test_updates_by_hand() -> None:
    assert rows_of(BELIEFS, told_game(), *UPDATE) == [
        (7, 0, 0, 1, 0, "costs", "all_agent_groupchat", 1.0, 1.0, 0.5, 1.0),
        (7, 0, 0, 1, 1, "costs", "all_agent_groupchat", 0.0, 1.0, 0.5, 0.0),
        (7, 0, 0, 2, 0, "costs", "all_agent_groupchat", 1.0, 1.0, 0.5, 1.0),
        (7, 0, 0, 2, 1, "costs", "all_agent_groupchat", 0.0, 1.0, 0.5, 0.0),
        (8, 0, 0, 1, 0, "decision", "dm", 1.0, 1.0, 1.0, 1.0),
    ]


def test_pairs_by_hand() -> None:
    assert rows_of(PAIRS, told_game(), *PAIR) == [
        (0, 0, 1, True, True, 3, 1.0, 1.0),
        (0, 0, 2, True, False, 2, 1.0, 1.0),
        (0, 1, 0, True, True, 0, 0.0, 0.0),
        (0, 1, 2, True, False, 0, 0.0, 0.0),
        (0, 2, 0, False, True, 0, 0.0, 0.0),
        (0, 2, 1, False, True, 0, 0.0, 0.0),
    ]


def test_distances_are_to_one_half_and_the_loss_to_the_prior() -> None:
    values = values_of(PAIRS, told_game(), MeasureSpec(belief_prior=0.3))
    assert values["posterior_distance_to_ideal"][:3] == [1.0, 1.0, pytest.approx(0.4)]
    assert values["vps_loss"][:3] == [1.0, 1.0, 0.0]  # 0.7 for the feasible slot, 0.3 for the other
    before = values_of(BELIEFS, told_game(), MeasureSpec(belief_prior=0.3))["belief_before"]
    assert before == [0.3, 0.3, 0.3, 0.3, 1.0]


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


def test_pairs_of_a_typed_game_add_up_to_its_loss() -> None:
    trace = play_team(canonical_scenario(4), "tell-all")
    rows = rows_of(PAIRS, trace, "target_agent", "vps_loss", "observations")
    assert len(rows) == 5 * 5 * 4  # rounds, targets, observers
    assert sum(observations for *_, observations in rows) == 960
    assert fsum(loss for _, loss, _ in rows) == 480
    for agent, loss in enumerate(privacy_loss(trace).by_agent):
        assert fsum(found for target, found, _ in rows if target == agent) == loss
        assert score_game(trace).agents[agent].vps == loss


def test_both_are_about_typed_targets_and_name_every_observer() -> None:
    played = play_team(canonical_scenario(3), "imap")
    mixed = seated(played, *(seat("imap", "protocol") if a == 2 else seat("t") for a in range(5)))
    assert {target for (target,) in rows_of(BELIEFS, mixed, "target_agent")} == {2}
    pairs = rows_of(PAIRS, mixed, "target_agent", "observer_agent")
    assert set(pairs) == {(2, 0), (2, 1), (2, 3), (2, 4)}
    assert len(pairs) == 4 * 5
    for fact in (BELIEFS, PAIRS):
        assert set(map(len, values_of(fact, small_game()).values())) == {0}, "only speakers"
