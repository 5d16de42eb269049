import pytest

from calbench.api import play_game
from calbench.domain.messages import CHANNELS, Channel
from calbench.protocols.registry import POLICIES, Needs, build_policy, has_trait, needs_of
from calbench.protocols.secure_sum import SecureSum
from calbench.traces.events import MessageSent
from tests.metrics.games import canonical_scenario


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
