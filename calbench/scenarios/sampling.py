"""How a scenario is drawn: backward from a hidden witness schedule (paper, appendix A.1).

Each purpose has a random stream named after it, so a change of one step does not change the
draws of the others. The same seed gives the same scenario on every platform.
"""

from collections.abc import Mapping, Sequence

from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import Stream, stream
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
"""Least id of a generated errand; no errand and meeting share a number [C]."""

MAX_PLACEMENTS = 200
"""Attempts to place all meetings, each with its own streams [C]."""

_Entry = ErrandEntry | MeetingEntry


def sample_scenario(
    parameters: ScenarioParameters, *, seed: int, scenario_id: str, setting: str
) -> Scenario:
    """Draw a scenario.

    Args:
        parameters: size, density and costs; recorded in the scenario's ``params``: with
            ``seed`` they give the same scenario again.
        seed: the scenario's seed, not negative.
        scenario_id: its name, unique within a suite.
        setting: the setting it belongs to.

    Returns:
        A scenario with witness and parameters, without oracle and difficulty.

    Raises:
        GenerationError: no scenario can be made from the parameters.
    """
    draw = _Draw(parameters, seed)
    return Scenario(
        schema_version=SCHEMA_VERSION,
        scenario_id=scenario_id,
        setting=setting,
        seed=seed,
        num_slots=parameters.num_slots,
        calendars=draw.calendars(),
        prior_meetings=draw.prior_meetings,
        meetings=draw.meetings(),
        witness={str(index): slot for index, slot in enumerate(draw.witness, start=1)},
        params=parameters.model_dump(mode="json"),
    )


class _Draw:
    """One scenario while it is drawn.

    Attributes:
        prior_lists: participants of the prior meetings.
        meeting_lists: participants of the incoming meetings.
        prior_meetings: with their slots, numbered after the incoming ones.
        witness: slots of the incoming meetings in the witness schedule.
    """

    def __init__(self, parameters: ScenarioParameters, seed: int) -> None:
        """Draw participants, slots and costs of the meetings.

        Raises:
            GenerationError: the meetings cannot be placed.
        """
        self.p = parameters
        self.seed = seed
        self.prior_lists, self.meeting_lists = self._participants()
        prior_slots, self.witness = self._placement()
        chance = self._stream("prior meeting costs")
        self.prior_meetings = tuple(
            PriorMeetingEntry(
                meeting_id=parameters.num_meetings + number,
                participants=participants,
                slot=slot,
                cost=self._meeting_cost(chance),
            )
            for number, (participants, slot) in enumerate(
                zip(self.prior_lists, prior_slots, strict=True), start=1
            )
        )

    def _stream(self, *purpose: int | str) -> Stream:
        return stream(self.seed, *purpose)

    def _meeting_cost(self, chance: Stream) -> int:
        """Draw the cost of a meeting, from 1 to the level [P]."""
        return 1 + chance.below(self.p.meeting_cost_level)

    def _participants(self) -> tuple[tuple[Participants, ...], tuple[Participants, ...]]:
        """Return the participants of prior and of incoming meetings, balanced or as given [R].

        Raises:
            GenerationError: an agent has more meetings than slots.
        """
        p = self.p
        prior_lists = _given(p.prior_participant_lists)
        if prior_lists is None:
            chance = self._stream("prior participants")
            prior_lists = balanced_participants(
                p.num_agents, p.num_prior_meetings, p.prior_meeting_size, chance
            )
        meeting_lists = _given(p.participant_lists)
        if meeting_lists is None:
            chance = self._stream("participants")
            meeting_lists = balanced_participants(
                p.num_agents, p.num_meetings, p.participants_per_meeting, chance
            )
        for agent in range(p.num_agents):
            num_held = sum(agent in participants for participants in prior_lists + meeting_lists)
            if num_held > p.num_slots:
                raise GenerationError(
                    f"agent {agent} takes part in {num_held} meetings, prior ones included, but a "
                    f"calendar has {p.num_slots} slots: raise num_slots or lower num_meetings"
                )
        return prior_lists, meeting_lists

    def _placement(self) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
        """Draw slots of the prior meetings and of the witness, without a clash [P].

        Prior meetings come first [C]. A draw that reaches a dead end is started again.

        Raises:
            GenerationError: every attempt reached a dead end.
        """
        for attempt in range(MAX_PLACEMENTS):
            taken: list[set[Slot]] = [set() for _ in range(self.p.num_agents)]
            chance = self._stream("prior slots", attempt)
            prior_slots = self._slots(chance, self.prior_lists, taken)
            witness = self._slots(self._stream("witness", attempt), self.meeting_lists, taken)
            if prior_slots is not None and witness is not None:
                return prior_slots, witness
        raise GenerationError(
            f"no slots found for {len(self.meeting_lists)} meetings and {len(self.prior_lists)} "
            f"prior ones in {self.p.num_slots} slots without a clash, in {MAX_PLACEMENTS} "
            "attempts: raise num_slots or lower num_meetings"
        )

    def _slots(
        self, chance: Stream, lists: Sequence[Participants], taken: list[set[Slot]]
    ) -> tuple[Slot, ...] | None:
        """Draw each meeting's slot among those open to all its participants, if there are any.

        ``taken`` holds the slots given away before, by agent, and is added to.
        """
        slots: list[Slot] = []
        for participants in lists:
            closed = set[Slot]().union(*(taken[agent] for agent in participants))
            still_open = [Slot(slot) for slot in range(self.p.num_slots) if slot not in closed]
            if not still_open:
                return None
            slots.append(chance.choice(still_open))
            for agent in participants:
                taken[agent].add(slots[-1])
        return tuple(slots)

    def meetings(self) -> tuple[IncomingMeetingEntry, ...]:
        """Return the incoming meetings ``1..M`` with their speakers and costs."""
        chance = self._stream("meeting costs")
        speakers = first_speakers(
            self.meeting_lists, self.p.num_agents, self._stream("first speakers")
        )
        return tuple(
            IncomingMeetingEntry(
                meeting_id=number,
                participants=participants,
                speaker_order=speaker_order(participants, first),
                duration=1,
                cost=self._meeting_cost(chance),
            )
            for number, (participants, first) in enumerate(
                zip(self.meeting_lists, speakers, strict=True), start=1
            )
        )

    def calendars(self) -> tuple[tuple[_Entry | None, ...], ...]:
        """Draw every agent's errands and number them by agent, then slot [C]."""
        errand_id = max(FIRST_ERRAND_ID, len(self.meeting_lists) + len(self.prior_lists) + 1)
        calendars: list[tuple[_Entry | None, ...]] = []
        for agent in range(self.p.num_agents):
            calendar: list[_Entry | None] = [None] * self.p.num_slots
            for prior in self.prior_meetings:
                if agent in prior.participants:
                    entry = MeetingEntry(meeting_id=prior.meeting_id, cost=prior.cost)
                    calendar[prior.slot] = entry
            for slot, (cost, is_blocked) in self._errands(agent, calendar).items():
                calendar[slot] = ErrandEntry(
                    errand_id=errand_id,
                    cost=cost,
                    shown_cost=self.p.shown_costs[cost - 1],
                    blocked=is_blocked,
                )
                errand_id += 1
            calendars.append(tuple(calendar))
        return tuple(calendars)

    def _errands(
        self, agent: int, calendar: Sequence[_Entry | None]
    ) -> Mapping[Slot, tuple[int, bool]]:
        """Draw cost and whether it is blocked of each of an agent's errands, by ascending slot.

        ``calendar`` holds the agent's prior meetings.
        """
        witness = [
            slot
            for participants, slot in zip(self.meeting_lists, self.witness, strict=True)
            if agent in participants
        ]
        slots = self._errand_slots(agent, witness, calendar)
        candidates = [slot for slot in slots if slot not in witness]
        num_blocked = self.p.blocked_by_agent[agent]
        blocked = frozenset(self._stream("blocked", agent).sample(candidates, num_blocked))
        costs = self._errand_costs(agent, len(slots))
        return {slot: (cost, slot in blocked) for slot, cost in zip(slots, costs, strict=True)}

    def _errand_slots(
        self, agent: int, witness: Sequence[Slot], calendar: Sequence[_Entry | None]
    ) -> list[Slot]:
        """Draw the slots of an agent's errands, ascending (paper, appendix A.1, steps 2 and 3).

        With k meetings and p prior ones, ``n = min(round(S * density), S - k - p)`` errands are
        placed [R], and ``min(k, n)`` slots off the witness are kept free to absorb what a
        meeting displaces. At least k slots therefore stay free, which makes the witness
        feasible under any sequence of moves.
        """
        others = [
            Slot(slot)
            for slot, entry in enumerate(calendar)
            if entry is None and slot not in witness
        ]
        target = round(self.p.num_slots * self.p.density_by_agent[agent])
        num_errands = min(target, len(others))
        num_absorbing = min(len(witness), num_errands)
        absorbing = frozenset(self._stream("absorbing", agent).sample(others, num_absorbing))
        open_slots = [slot for slot in others if slot not in absorbing]
        chance = self._stream("errands", agent)
        if self.p.force_witness_errand:
            queue = chance.shuffled(witness) + chance.shuffled(open_slots)
        else:
            queue = chance.shuffled(sorted([*witness, *open_slots]))
        return sorted(queue[:num_errands])

    def _errand_costs(self, agent: int, count: int) -> list[int]:
        """Shuffle a balanced multiset of costs: floor, ..., level, floor, ... cut to count [P]."""
        floor = self.p.errand_cost_floor
        num_levels = self.p.greatest_errand_cost - floor + 1
        balanced = [floor + index % num_levels for index in range(count)]
        return self._stream("errand costs", agent).shuffled(balanced)


def _given(lists: Sequence[Sequence[int]] | None) -> tuple[Participants, ...] | None:
    """Return given participant lists in ascending id."""
    if lists is None:
        return None
    return tuple(tuple(sorted(AgentId(agent) for agent in participants)) for participants in lists)
