"""Drawn games in which meetings bump meetings, and a neighbour that lies in SD-MAP's words."""

from calbench.domain.actions import PASS, Action, DirectMessage, Turn
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.messages import (
    Confirm,
    ConfirmReschedule,
    Fail,
    FailReschedule,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
    SdMapAct,
    SlotStatus,
)
from calbench.domain.observations import CHEAP_TALK, Observation
from calbench.domain.randomness import Stream, stream
from calbench.scenarios.models import Scenario
from calbench.traces.models import Limits
from tests.factories import make_scenario

CAPS = (1, 2, 3, 4, 5, 6, 8, 15)


def bumping_game(seed: int) -> tuple[Scenario, Limits]:
    """Draw a game of four to six agents and meetings of two to four, with limits for it.

    Drawn evenly from a seed, unlike Hypothesis' small examples: what is at stake takes
    several prior meetings, calendars unlike each other, and few sweeps.
    """
    chance = stream(seed, "bumping")
    num_agents, num_slots = 4 + chance.below(3), 4 + chance.below(6)
    fullness = [chance.choice((0, 0, 3, 6, 9)) for _ in range(num_agents)]
    grid = [
        [
            "." if chance.below(10) >= full else chance.choice(("B1", "E1", "E2"))
            for _ in range(num_slots)
        ]
        for full in fullness
    ]
    prior: list[tuple[list[int], int]] = []
    for _ in range(chance.choice((0, 0, 1, 2, 3))):
        agents, slot = _group(num_agents, chance), chance.below(num_slots)
        if all(grid[agent][slot] != "M" for agent in agents):
            prior.append((agents, slot))
            for agent in agents:
                grid[agent][slot] = "M"
    scenario = make_scenario(
        ["".join(cells).replace("M", ".") for cells in grid],
        [_group(num_agents, chance) for _ in range(3 + chance.below(4))],
        prior=prior,
        seed=seed,
    )
    weights = tuple(float(1 + chance.below(5)) for _ in range(num_agents))
    limits = Limits(
        max_turns_per_round=chance.choice(CAPS),
        decision_retries=chance.below(4),
        sd_model=chance.choice((None, weights, weights)),
    )
    return scenario, limits


def _group(num_agents: int, chance: Stream) -> list[int]:
    return chance.sample(range(num_agents), 2 + chance.below(3))


class Perjurer:
    """Says anything SD-MAP could say, to anybody, about any slot and meeting."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def act(self, observation: Observation) -> Turn:
        if observation.phase is not CHEAP_TALK:
            return PASS
        me, moment = observation.agent_id, (observation.round_index, observation.turn_index)
        chance = stream(self._seed, "perjury", me, *moment)
        others = [agent for agent in observation.agent_ids if agent != me]
        actions: list[Action] = [
            DirectMessage(to=agent, content=_any_act(observation, chance))
            for agent in others
            for _ in range(chance.below(3))
        ]
        return Turn(tuple(actions))


def _any_act(observation: Observation, chance: Stream) -> SdMapAct:
    slots = len(observation.calendar)
    slot, target = (
        Slot(chance.choice((-1, slots, 10**20, *(chance.below(slots) for _ in range(9)))))
        for _ in range(2)
    )
    old = MeetingId(1 + chance.below(8))
    status: SlotStatus = chance.choice(("PENDING", "IMPOSSIBLE"))
    acts: tuple[SdMapAct, ...] = (
        Propose(slot=slot),
        ProposeReply(slot=slot, status=status),
        Confirm(slot=slot),
        Fail(),
        RescheduleRequest(old_meeting_id=old, slot=slot),
        ProposeReschedule(old_meeting_id=old, slot=slot, target=target),
        RescheduleReply(old_meeting_id=old, target=target, status=status),
        ConfirmReschedule(old_meeting_id=old, target=target),
        FailReschedule(old_meeting_id=old),
    )
    return chance.choice(acts)
