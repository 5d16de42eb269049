"""Games of SD-MAP, and what its agents see and say."""

from collections.abc import Mapping, Sequence

from calbench.domain.actions import DirectMessage, Reschedule, Schedule, Turn
from calbench.domain.calendars import Booking, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import (
    Confirm,
    ConfirmReschedule,
    Content,
    FailReschedule,
    Message,
    Propose,
    ProposeReschedule,
    RescheduleReply,
    SlotStatus,
)
from calbench.domain.observations import Observation, Phase
from calbench.engine.drivers import run
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.sd_map.policy import SdMap
from calbench.traces.events import BatchApplied, DmSent, Resolution
from calbench.traces.models import Trace
from tests.engine.scripts import game_config, move
from tests.factories import make_scenario
from tests.protocols.observations import TRIO, message, observation

Line = tuple[int, int, int, str, tuple[object, ...]]
OLD = Meeting(MeetingId(7), (AgentId(0), AgentId(1)), 1)
"""An old meeting that anybody of :data:`TRIO` bumps: one other participant against two."""


def play(
    rows: Sequence[str],
    orders: Sequence[Sequence[int]],
    *,
    weights: tuple[float, ...] | None = None,
    max_turns: int = 15,
    retries: int = 3,
    prior: Sequence[tuple[Sequence[int], int]] = (),
) -> Trace:
    config = game_config("sd-map", ("dm",), max_turns=max_turns, retries=retries)
    scenario = make_scenario(rows, orders, prior=prior)
    return run(scenario, config, [SdMap(weights) for _ in rows])


def sent(trace: Trace, round_index: int = 0) -> list[Line]:
    """Return (sweep, sender, recipient, kind, values) of every message of a round."""
    return [
        (event.turn, event.from_agent, event.to_agents[0], event.content.kind, said(event.content))
        for event in trace.events
        if isinstance(event, DmSent) and event.round == round_index
    ]


def said(content: Content) -> tuple[object, ...]:
    names = (name for name in ("old_meeting_id", "slot", "target", "status"))
    return tuple(getattr(content, name) for name in names if hasattr(content, name))


def batches(trace: Trace, round_index: int = 0) -> dict[int, tuple[object, ...]]:
    """Return (attempt, actions) of what each agent did to its calendar in a round."""
    return {
        event.agent_id: (event.attempt, *event.actions)
        for event in trace.events
        if isinstance(event, BatchApplied) and event.round == round_index
    }


def outcomes(trace: Trace) -> list[str]:
    return [event.outcome for event in trace.events if isinstance(event, Resolution)]


def moved(item_id: int, from_slot: int, to_slot: int) -> Reschedule:
    return move(item_id, from_slot, to_slot, JUSTIFICATION)


def seen(
    agent: int,
    row: str,
    past: Sequence[Message] = (),
    new: Sequence[Message] = (),
    *,
    held: Mapping[int, Meeting] | None = None,
    meeting: Meeting | HiddenMeeting = TRIO,
    phase: Phase = Phase.CHEAP_TALK,
    attempt: int = 0,
    turns_left: int = 9,
    earlier: Sequence[Message] = (),
) -> Observation:
    """Return an observation with messages read just now, and meetings on the calendar."""
    made = observation(
        agent,
        row,
        phase=phase,
        meeting=meeting,
        messages=[*past, *new],
        earlier=earlier,
        attempt=attempt,
    )
    calendar = list(made.calendar)
    for slot, old in (held or {}).items():
        calendar[slot] = Booking(old)
    return made._replace(
        calendar=tuple(calendar), inbox=tuple(new), turn_index=1, turns_left=turns_left
    )


def propose(slot: int, to: int = 1) -> Message:
    return message(0, Propose(slot=Slot(slot)), to)


def confirm(slot: int, to: int = 1) -> Message:
    return message(0, Confirm(slot=Slot(slot)), to)


def target(slot: int, *, by: int, to: int, old: int = 7, new_slot: int = 0) -> Message:
    content = ProposeReschedule(
        old_meeting_id=MeetingId(old), slot=Slot(new_slot), target=Slot(slot)
    )
    return message(by, content, to)


def target_reply(slot: int, status: SlotStatus, *, by: int, to: int, old: int = 7) -> Message:
    content = RescheduleReply(old_meeting_id=MeetingId(old), target=Slot(slot), status=status)
    return message(by, content, to)


def target_confirm(slot: int, *, by: int, to: int, old: int = 7) -> Message:
    content = ConfirmReschedule(old_meeting_id=MeetingId(old), target=Slot(slot))
    return message(by, content, to)


def target_fail(*, by: int, to: int, old: int = 7) -> Message:
    return message(by, FailReschedule(old_meeting_id=MeetingId(old)), to)


def words(turn: Turn) -> list[tuple[int, Content]]:
    return [(a.to, a.content) for a in turn.actions if isinstance(a, DirectMessage)]


def scheduled(turn: Turn) -> int | None:
    return next((a.slot for a in turn.actions if isinstance(a, Schedule)), None)
