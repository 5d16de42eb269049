"""Scripted speakers play the same games whatever version of the prompts they read."""

from dataclasses import asdict
from typing import Any

import pytest
from pydantic import BaseModel

from calbench.agents.prompts import PROMPT_VERSION
from calbench.agents.prompts.templates import versions
from calbench.domain.messages import CHANNELS, Channel
from calbench.traces.events import Event
from tests.agents.scripted.games import STYLE_NAMES, Played, canonical_scenario, play_scripted

OTHERS = [version for version in versions() if version != PROMPT_VERSION]
WORDS = ("prompt", "system_prompt")
"""What of an event is the environment's wording."""


def shown(event: Event) -> dict[str, Any]:
    data = event.model_dump() if isinstance(event, BaseModel) else asdict(event)
    return {name: value for name, value in data.items() if name not in WORDS}


def game(number: int, style: str | None, channel: Channel, version: str) -> Played:
    place = number % len(STYLE_NAMES)
    mixed = (*STYLE_NAMES[place:], *STYLE_NAMES[:place])
    styles = mixed if style is None else (style,)
    scenario = canonical_scenario(number, num_prior_meetings=number % 3)
    return play_scripted(scenario, styles, (channel,), version=version)


def assert_same(one: Played, other: Played) -> None:
    assert one.trace.final_state == other.trace.final_state
    assert [shown(event) for event in one.trace.events] == [
        shown(event) for event in other.trace.events
    ]
    assert one.trace.events != other.trace.events  # they were asked in other words


@pytest.mark.parametrize("version", OTHERS)
def test_mixed_game_is_the_same_in_every_version(version: str) -> None:
    assert_same(game(0, None, "dm", PROMPT_VERSION), game(0, None, "dm", version))


@pytest.mark.heavy
@pytest.mark.parametrize("version", OTHERS)
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("style", [None, *STYLE_NAMES])
def test_games_are_the_same_in_every_version(
    style: str | None, channel: Channel, version: str
) -> None:
    for number in range(6):
        one, other = (game(number, style, channel, each) for each in (PROMPT_VERSION, version))
        assert_same(one, other)
