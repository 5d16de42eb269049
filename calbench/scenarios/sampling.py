"""How a scenario is drawn: backward from a hidden witness schedule (paper, appendix A.1).

Each purpose has its own stream of chance, named after it, so that a change of one step
leaves the draws of the others as they were. The same seed gives the same scenario on every
platform.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import stream
from calbench.errors import GenerationError
from calbench.scenarios.balance import (
    Participants,
    balanced_participants,
    first_speakers,
    speaker_order,
)
from calbench.scenarios.models import (
    SCHEMA_VERSION,
    ErrandEntry,
    IncomingMeetingEntry,
    MeetingEntry,
    PriorMeetingEntry,
    Scenario,
)
from calbench.scenarios.parameters import ScenarioParameters

FIRST_ERRAND_ID = 101
"""Least id of a generated errand, so that no errand and meeting share a number [C]."""

MAX_PLACEMENTS = 200
"""Attempts to place all meetings, each with streams of its own, before giving up [C]."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Slots of the prior meetings and of the witness, each in the order of its meetings."""

    prior_slots: tuple[Slot, ...]
    witness: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class DrawnErrand:
    """An errand before it gets its id."""

    cost: int
    blocked: bool


def sample_scenario(
    parameters: ScenarioParameters, *, seed: int, scenario_id: str, setting: str
) -> Scenario:
    """Draw a scenario.

    Args:
        parameters: size, density and costs; recorded in the scenario's ``params``, so that
            together with ``seed`` they give the same scenario again.
        seed: the scenario's seed, not negative.
        scenario_id: its name, unique within a suite.
        setting: the setting it belongs to.

    Returns:
        A scenario with witness and parameters, without oracle and difficulty.

    Raises:
        GenerationError: no scenario can be made from the parameters.
    """
    prior_lists, meeting_lists = _draw_participants(parameters, seed)
    placement = _place_meetings(parameters, seed, prior_lists, meeting_lists)
    prior_meetings = _draw_prior_meetings(parameters, seed, prior_lists, placement)
    calendars = _fill_calendars(parameters, seed, prior_meetings, meeting_lists, placement)
    return Scenario(
        schema_version=SCHEMA_VERSION,
        scenario_id=scenario_id,
        setting=setting,
        seed=seed,
        num_slots=parameters.num_slots,
        calendars=calendars,
        prior_meetings=prior_meetings,
        meetings=_draw_meetings(parameters, seed, meeting_lists),
        witness={str(index): slot for index, slot in enumerate(placement.witness, start=1)},
        params=parameters.model_dump(mode="json"),
    )


def _draw_participants(
    parameters: ScenarioParameters, seed: int
) -> tuple[tuple[Participants, ...], tuple[Participants, ...]]:
    """Return the participants of prior and of incoming meetings, balanced or as given [R].

    Raises:
        GenerationError: an agent has more meetings than slots.
    """
    p = parameters
    prior_lists = _given(p.prior_participant_lists)
    if prior_lists is None:
        prior_lists = balanced_participants(
            p.num_agents,
            p.num_prior_meetings,
            p.prior_meeting_size,
            stream(seed, "prior participants"),
        )
    meeting_lists = _given(p.participant_lists)
    if meeting_lists is None:
        meeting_lists = balanced_participants(
            p.num_agents, p.num_meetings, p.participants_per_meeting, stream(seed, "participants")
        )
    for agent in range(p.num_agents):
        num_held = sum(agent in participants for participants in prior_lists + meeting_lists)
        if num_held > p.num_slots:
            raise GenerationError(
                f"agent {agent} takes part in {num_held} meetings, prior ones included, but a "
                f"calendar has {p.num_slots} slots: raise num_slots or lower num_meetings"
            )
    return prior_lists, meeting_lists


def _given(lists: Sequence[Sequence[int]] | None) -> tuple[Participants, ...] | None:
    """Return given participant lists in ascending id."""
    if lists is None:
        return None
    return tuple(tuple(sorted(AgentId(agent) for agent in participants)) for participants in lists)


def _place_meetings(
    parameters: ScenarioParameters,
    seed: int,
    prior_lists: tuple[Participants, ...],
    meeting_lists: tuple[Participants, ...],
) -> Placement:
    """Draw a slot for every meeting that no other meeting of its participants has [P].

    Prior meetings come first [C]. A draw that runs into a dead end is begun anew.

    Raises:
        GenerationError: every attempt ran into a dead end.
    """
    for attempt in range(MAX_PLACEMENTS):
        taken: list[set[Slot]] = [set() for _ in range(parameters.num_agents)]
        prior_slots = _draw_slots(
            parameters.num_slots, seed, "prior slots", attempt, prior_lists, taken
        )
        witness = _draw_slots(parameters.num_slots, seed, "witness", attempt, meeting_lists, taken)
        if prior_slots is not None and witness is not None:
            return Placement(prior_slots, witness)
    raise GenerationError(
        f"no slots found for {len(meeting_lists)} meetings and {len(prior_lists)} prior ones in "
        f"{parameters.num_slots} slots without a clash, in {MAX_PLACEMENTS} attempts: raise "
        "num_slots or lower num_meetings"
    )


def _draw_slots(
    num_slots: int,
    seed: int,
    purpose: str,
    attempt: int,
    participant_lists: tuple[Participants, ...],
    taken: list[set[Slot]],
) -> tuple[Slot, ...] | None:
    """Draw each meeting's slot among those open to all its participants, ``None`` if none is.

    ``taken`` holds the slots given away so far, by agent, and is added to.
    """
    chance = stream(seed, purpose, attempt)
    slots: list[Slot] = []
    for participants in participant_lists:
        closed = set[Slot]().union(*(taken[agent] for agent in participants))
        still_open = [Slot(slot) for slot in range(num_slots) if slot not in closed]
        if not still_open:
            return None
        slots.append(chance.choice(still_open))
        for agent in participants:
            taken[agent].add(slots[-1])
    return tuple(slots)


def _draw_prior_meetings(
    parameters: ScenarioParameters,
    seed: int,
    prior_lists: tuple[Participants, ...],
    placement: Placement,
) -> tuple[PriorMeetingEntry, ...]:
    """Return the prior meetings, numbered after the incoming ones; cost 1 to the level [P]."""
    chance = stream(seed, "prior meeting costs")
    return tuple(
        PriorMeetingEntry(
            meeting_id=parameters.num_meetings + number,
            participants=participants,
            slot=slot,
            cost=1 + chance.below(parameters.meeting_cost_level),
        )
        for number, (participants, slot) in enumerate(
            zip(prior_lists, placement.prior_slots, strict=True), start=1
        )
    )


def _draw_meetings(
    parameters: ScenarioParameters, seed: int, meeting_lists: tuple[Participants, ...]
) -> tuple[IncomingMeetingEntry, ...]:
    """Return the incoming meetings ``1..M`` with their speakers; cost 1 to the level [P]."""
    chance = stream(seed, "meeting costs")
    speakers = first_speakers(meeting_lists, parameters.num_agents, stream(seed, "first speakers"))
    return tuple(
        IncomingMeetingEntry(
            meeting_id=number,
            participants=participants,
            speaker_order=speaker_order(participants, first),
            duration=1,
            cost=1 + chance.below(parameters.meeting_cost_level),
        )
        for number, (participants, first) in enumerate(
            zip(meeting_lists, speakers, strict=True), start=1
        )
    )


def _fill_calendars(
    parameters: ScenarioParameters,
    seed: int,
    prior_meetings: tuple[PriorMeetingEntry, ...],
    meeting_lists: tuple[Participants, ...],
    placement: Placement,
) -> tuple[tuple[ErrandEntry | MeetingEntry | None, ...], ...]:
    """Draw every agent's errands and number them by agent, then slot [C]."""
    errand_id = max(FIRST_ERRAND_ID, len(meeting_lists) + len(prior_meetings) + 1)
    calendars: list[tuple[ErrandEntry | MeetingEntry | None, ...]] = []
    for agent in range(parameters.num_agents):
        held = {
            prior.slot: MeetingEntry(meeting_id=prior.meeting_id, cost=prior.cost)
            for prior in prior_meetings
            if agent in prior.participants
        }
        witness = [
            slot
            for participants, slot in zip(meeting_lists, placement.witness, strict=True)
            if agent in participants
        ]
        errands = _draw_errands(parameters, seed, agent, witness, held)
        calendar: list[ErrandEntry | MeetingEntry | None] = []
        for slot in range(parameters.num_slots):
            errand = errands.get(Slot(slot))
            if errand is None:
                calendar.append(held.get(slot))
            else:
                shown_cost = parameters.shown_costs[errand.cost - 1]
                calendar.append(
                    ErrandEntry(
                        errand_id=errand_id,
                        cost=errand.cost,
                        shown_cost=shown_cost,
                        blocked=errand.blocked,
                    )
                )
                errand_id += 1
        calendars.append(tuple(calendar))
    return tuple(calendars)


def _draw_errands(
    parameters: ScenarioParameters,
    seed: int,
    agent: int,
    witness: Sequence[Slot],
    held: Mapping[int, MeetingEntry],
) -> dict[Slot, DrawnErrand]:
    """Draw one agent's errands by slot: where, which are blocked, and what they cost.

    Args:
        parameters: density, blocked counts and costs.
        seed: the scenario's seed.
        agent: whose calendar.
        witness: witness slots of the agent's meetings.
        held: its prior meetings by slot.
    """
    slots = _draw_errand_slots(parameters, seed, agent, witness, held)
    movable_at = frozenset(witness)
    candidates = [slot for slot in slots if slot not in movable_at]
    num_blocked = parameters.blocked_by_agent[agent]
    blocked = frozenset(stream(seed, "blocked", agent).sample(candidates, num_blocked))
    costs = _draw_costs(parameters, seed, agent, len(slots))
    return {
        slot: DrawnErrand(cost, slot in blocked) for slot, cost in zip(slots, costs, strict=True)
    }


def _draw_errand_slots(
    parameters: ScenarioParameters,
    seed: int,
    agent: int,
    witness: Sequence[Slot],
    held: Mapping[int, MeetingEntry],
) -> list[Slot]:
    """Draw where the agent's errands stand, ascending (paper, appendix A.1, steps 2 and 3).

    With k meetings and p prior ones, ``n = min(round(S * density), S - k - p)`` errands are
    placed [R], and ``min(k, n)`` slots off the witness are kept free to absorb what a
    meeting displaces. So at least k slots stay free, which makes the witness feasible under
    any sequence of moves.
    """
    taken = {*witness, *held}
    num_slots, num_meetings = parameters.num_slots, len(witness)
    target = round(num_slots * parameters.density_by_agent[agent])
    num_errands = min(target, num_slots - len(taken))
    others = [Slot(slot) for slot in range(num_slots) if slot not in taken]
    num_absorbing = min(num_meetings, num_errands)
    absorbing = frozenset(stream(seed, "absorbing", agent).sample(others, num_absorbing))
    open_slots = [slot for slot in others if slot not in absorbing]
    chance = stream(seed, "errands", agent)
    if parameters.force_witness_errand:
        queue = chance.shuffled(witness) + chance.shuffled(open_slots)
    else:
        queue = chance.shuffled(sorted([*witness, *open_slots]))
    return sorted(queue[:num_errands])


def _draw_costs(parameters: ScenarioParameters, seed: int, agent: int, count: int) -> list[int]:
    """Shuffle a balanced multiset of costs: floor, ..., level, floor, ... cut to ``count`` [P]."""
    floor = parameters.errand_cost_floor
    num_levels = parameters.greatest_errand_cost - floor + 1
    balanced = [floor + index % num_levels for index in range(count)]
    return stream(seed, "errand costs", agent).shuffled(balanced)
