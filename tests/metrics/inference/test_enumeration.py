"""Every protocol against enumeration: what would each calendar of the others have said?

Three agents, four or six slots, one meeting of all: the game is played on every pair of calendars
that the two others can have, and those in which an observer hears the same as it did are counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from calbench import play_game
from calbench.domain.ids import AgentId
from calbench.domain.messages import PartialSum, Share
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.metrics.privacy.inference.calendars import Array, prior_of
from calbench.metrics.privacy.inference.game import learnt
from calbench.scenarios.models import Scenario
from calbench.traces.events import AllAgentGroupchatSent, AnnouncementSent, DmSent
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.inference.test_likelihoods import chance_of

pytestmark = pytest.mark.heavy

SIGNS = ".EB"
BLOCKED: Mapping[int, object] = {4: [0, 1, 1], 6: 1}
"""Blocked slots of the agents, by the length of a calendar: 48 and 192 can be drawn."""

TEAMS: Mapping[str, tuple[float, float]] = {
    "imap": (0.08, 0.02),
    "sd-map": (0.05, 0.01),
    "dsm-welfare": (0.1, 0.02),
    "dsm-private": (0.2, 0.02),
    "mediator": (0.1, 0.03),
    "secure-sum": (0.25, 0.05),
    "tell-all": (1e-6, 1e-6),
}
"""Greatest and mean distance of a chance: what taking the slots of several calendars in one sum for
independent costs, and calendars without a free slot, which the generator never draws."""


def scenario_of(rows: tuple[str, ...]) -> Scenario:
    blocked = BLOCKED[len(rows[0])]
    params = {"density": 0.75, "blocked": blocked, "force_witness_errand": False}
    return make_scenario(list(rows), [(0, 1, 2)]).updated(params=params)


@cache
def calendars(slots: int) -> tuple[tuple[str, float], ...]:
    """Return every calendar of so many slots that can be drawn, with its probability."""
    prior = prior_of(scenario_of((".E.B.E"[:slots], "E.BE.E"[:slots], "EBE.EE"[:slots])))
    assert prior is not None
    every = product(range(3), repeat=slots)
    drawn = [("".join(SIGNS[c] for c in cells), chance_of(cells, prior)) for cells in every]
    return tuple((row, chance) for row, chance in drawn if chance)


def heard(trace: Trace, observer: int) -> str:
    """Return all that an observer sent and received; of secure sum's shares what they add up to."""
    said: list[object] = []
    for event in trace.events:
        if isinstance(event, DmSent | AllAgentGroupchatSent | AnnouncementSent):
            sender = getattr(event, "from_agent", None)
            if observer in (sender, *event.to_agents):
                is_masked = isinstance(event.content, Share | PartialSum)
                said.append((sender, event.to_agents, "" if is_masked else event.content))
    if observer == 0 and trace.config.team.team_id == "secure-sum":
        rows = trace.scenario.calendars
        others = [[_cost(entry) for entry in rows[agent]] for agent in (1, 2)]
        said.append([sorted(map(str, costs)) for costs in zip(*others, strict=True)])
    return repr(said)


def _cost(entry: object) -> object:
    """Return what a slot costs; the sums of such costs tell them apart, but not whose they are."""
    return 0 if entry is None else None if getattr(entry, "blocked", True) else 1


def enumerated(team: str, rows: tuple[str, ...], observer: int) -> dict[AgentId, Array]:
    """Return the chances of room for each other agent's slots, from all games that sound alike."""
    others = [agent for agent in range(3) if agent != observer]
    config = play_game(scenario_of(rows), team).config

    def heard_of(rows: Sequence[str]) -> str:
        policies = seat_policies(config.team, 3)
        return heard(run(scenario_of(tuple(rows)), config, policies), observer)

    said = heard_of(rows)
    slots = len(rows[observer])
    found = {AgentId(agent): np.zeros(slots) for agent in others}
    whole = 0.0
    for (one, first), (two, second) in product(calendars(slots), repeat=2):
        drawn = dict(zip([observer, *others], [rows[observer], one, two], strict=True))
        if heard_of([drawn[agent] for agent in range(3)]) == said:
            whole += first * second
            for agent in others:
                room = np.array([sign != "B" for sign in drawn[agent]])
                found[AgentId(agent)] += first * second * room
    return {agent: chances / whole for agent, chances in found.items()}


def truths(slots: int) -> Iterator[tuple[str, ...]]:
    chance = Random(1)
    rows, weights = zip(*calendars(slots), strict=True)
    for _ in range(2 if slots == 4 else 1):
        yield tuple(chance.choices(rows, weights, k=3))


@pytest.mark.parametrize("slots", [4, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("team", TEAMS)
def test_engine_is_enumeration(team: str, slots: int) -> None:
    distances = []
    for rows in truths(slots):
        found = learnt(play_game(scenario_of(rows), team)).chances
        for observer in (0, 1):
            for agent, expected in enumerated(team, rows, observer).items():
                chances = found.get((agent, AgentId(observer)))
                if chances is not None:
                    distances += np.abs(chances - expected).tolist()
    greatest, mean = TEAMS[team]
    assert max(distances) <= greatest
    assert np.mean(distances) <= mean
