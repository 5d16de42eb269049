import pytest

from calbench.api import play_game
from calbench.domain.messages import CHANNELS, Channel
from calbench.protocols.registry import DEGENERATE, NEEDS_MEDIATOR, POLICIES, TALKS_ON, build_policy
from calbench.traces.events import MessageSent
from tests.metrics.games import canonical_scenario


def test_policy_is_built_by_its_name() -> None:
    for name, make in POLICIES.items():
        assert isinstance(build_policy(name, {}), make)  # type: ignore[arg-type]


def test_policy_is_absent_when_its_name_is_unknown() -> None:
    assert build_policy("calbench.protocols.imap.Imap", {}) is None


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", sorted(set(POLICIES) - NEEDS_MEDIATOR))
def test_player_talks_on_the_channels_that_are_declared_and_on_no_other(
    name: str, channel: Channel
) -> None:
    team = {"dsm": "dsm-private"}.get(name, name)
    trace = play_game(canonical_scenario(0), team, channels=(channel,))
    has_talked = any(isinstance(event, MessageSent) for event in trace.events)
    assert has_talked == (channel in TALKS_ON.get(name, ()))


def test_players_that_never_talk_are_the_others() -> None:
    assert set(POLICIES) - set(TALKS_ON) - NEEDS_MEDIATOR == DEGENERATE - {"tell-all"}
