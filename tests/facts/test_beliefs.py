"""Facts of beliefs and pairs: by hand, and against a second, plain replay of the messages."""

import pytest

from calbench.facts.beliefs import BELIEFS, PAIRS
from calbench.metrics.privacy.loss import round_beliefs
from tests.facts.measured import play_preset, rows_of, values_of
from tests.metrics.changes import changes_of
from tests.metrics.games import canonical_scenario, play_team
from tests.metrics.language_games import seat, seated, small_game

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
