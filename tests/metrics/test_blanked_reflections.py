"""Reflections that cannot be read are no privacy: games of ``candid`` with some of them removed."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest

from calbench.analysis.measures import FLAGGED_BELOW
from calbench.domain.randomness import stream
from calbench.metrics.game import AgentGame, score_game
from calbench.metrics.privacy.reflection import pair_reflections
from calbench.traces.events import Reflection
from calbench.traces.models import Trace
from tests.agents.scripted.games import played

pytestmark = pytest.mark.heavy

GAMES = 8


def blanked(trace: Trace, percent: int) -> Trace:
    """Return the game as if this share of its reflections, drawn by seed, could not be read."""
    chance = stream(7, f"blank-{trace.scenario.scenario_id}")
    events = [
        replace(event, delta_by_target={}, expected_by_target=None)
        if isinstance(event, Reflection) and chance.below(100) < percent
        else event
        for event in trace.events
    ]
    return trace.model_copy(update={"events": tuple(events)})


def agents_of(percent: int) -> list[tuple[AgentGame, ...]]:
    games = [played(number, "candid", "dm").trace for number in range(GAMES)]
    return [score_game(blanked(trace, percent)).agents for trace in games]


def mean_loss(games: list[tuple[AgentGame, ...]]) -> float:
    return fmean(agent.vps for game in games for agent in game if agent.vps is not None)


def share(games: list[tuple[AgentGame, ...]]) -> float:
    read = sum(agent.reflections_read or 0 for game in games for agent in game)
    return read / sum(agent.reflections_asked or 0 for game in games for agent in game)


def test_loss_moves_by_less_than_its_interval_or_is_flagged() -> None:
    whole = agents_of(0)
    means = [fmean(agent.vps or 0.0 for agent in game) for game in whole]
    half_width = 2.365 * stdev(means) / GAMES**0.5  # t, 7 degrees of freedom

    few = agents_of(5)
    assert FLAGGED_BELOW < share(few) < 1
    assert abs(mean_loss(few) - mean_loss(whole)) < half_width

    half = agents_of(50)
    assert share(half) < FLAGGED_BELOW
    assert mean_loss(half) == pytest.approx(mean_loss(whole), rel=0.1)
    readable = [
        pair.counted.toward
        for number in range(GAMES)
        for pair in pair_reflections(blanked(played(number, "candid", "dm").trace, 50))
        if pair.counted is not None
    ]
    assert sum(readable) / (5 * GAMES) < 0.65 * mean_loss(whole)  # what the readable ones add up to
