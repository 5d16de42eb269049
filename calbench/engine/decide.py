"""What agents are asked after the talk, VOLUNTARY, DECISION and REFLECTION.

In the first two each agent changes its own calendar (section 3, appendix A.5). In the last,
language agents are asked what they came to believe (appendix F): this is only a measurement, which
changes neither the state nor later observations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from calbench.domain.actions import CalendarAction, Reschedule, Schedule
from calbench.domain.calendars import Calendar, Meeting
from calbench.domain.ids import AgentId
from calbench.domain.observations import DECISION, REFLECTION, VOLUNTARY
from calbench.domain.replies import Reply
from calbench.domain.rules import Applied, Rejection, apply_batch
from calbench.engine.delivery import refuse
from calbench.engine.observe import observe
from calbench.engine.state import Moment, State, note_reply
from calbench.engine.talk import Asking
from calbench.traces.events import (
    BatchApplied,
    BatchRejected,
    BatchWithheld,
    ChancesStated,
    DecideEnd,
    DecideStart,
    Reflection,
)


def voluntary(
    state: State, meeting: Meeting, outsiders: tuple[AgentId, ...], round_index: int
) -> Asking:
    """Ask each activated outsider in turn for moves, applied at once and without retry."""
    moment = Moment(round_index, meeting, VOLUNTARY)
    for agent in outsiders:
        reply = (yield {agent: observe(state, moment, agent)})[agent]
        _submit(state, moment, agent, reply)


@dataclass(slots=True)
class Held:
    """The valid batches of a decision that are applied together or not at all [R].

    Attributes:
        batches: by agent, with the moment and what applying it does.
        names_blocked: whether any batch, a rejected one too, moves a blocked item of its author.
    """

    batches: dict[AgentId, tuple[Moment, tuple[CalendarAction, ...], Applied]] = field(
        default_factory=dict
    )
    names_blocked: bool = False


def decision(state: State, meeting: Meeting, round_index: int) -> Asking:
    """Ask all participants at once for a batch; those whose batch is rejected may retry.

    A batch changes its owner's calendar only, so no submission affects what another agent is
    shown: all decide on the snapshot taken after VOLUNTARY. Where limits say so, batches are held
    back until everybody's is valid.
    """
    participants = sorted(meeting.participants)
    held = Held() if state.limits.commit == "team" else None
    pending: dict[AgentId, str | None] = dict.fromkeys(participants)
    for attempt in range(state.limits.decision_retries + 1):
        moment = Moment(round_index, meeting, DECISION, attempt=attempt)
        replies = yield {
            agent: observe(state, moment, agent, (), conflict)
            for agent, conflict in pending.items()
        }
        rejected: dict[AgentId, str | None] = {}
        for agent in pending:
            conflict = _submit(state, moment, agent, replies[agent], held)
            if conflict is not None:
                rejected[agent] = conflict
        pending = rejected
        if not pending:
            break
    if held is not None:
        _commit(state, held, participants)


def _commit(state: State, held: Held, participants: Sequence[AgentId]) -> None:
    """Apply the batches that were held back if everybody has one and none names a blocked item."""
    is_whole = len(held.batches) == len(participants)
    for agent in participants:
        if agent not in held.batches:
            continue
        moment, batch, result = held.batches[agent]
        if is_whole and not held.names_blocked:
            _apply(state, moment, agent, batch, result)
        else:
            reason: Literal["missing", "blocked"] = "missing" if not is_whole else "blocked"
            state.events.append(
                BatchWithheld(
                    round=moment.round_index,
                    agent_id=agent,
                    attempt=moment.attempt,
                    actions=batch,
                    reason=reason,
                )
            )


def _submit(
    state: State, moment: Moment, agent: AgentId, reply: Reply, held: Held | None = None
) -> str | None:
    """Apply the calendar actions of a reply as one batch; return the conflict if rejected.

    With ``held`` a valid batch waits there for those of the others.
    """
    is_decision = moment.phase is DECISION
    _record(state, moment, agent, reply)
    if reply.unreadable is not None:
        if not is_decision:  # outsiders may not retry
            return None
        why = reply.unreadable
        conflict = f"The reply could not be read ({why.problem}): {why.detail}"
        return _reject(state, moment, agent, conflict, ())
    actions: list[CalendarAction] = []
    for action in reply.turn.actions:
        if isinstance(action, (Schedule, Reschedule)):
            actions.append(action)
        else:
            reason = f"{action.type} is not allowed in {moment.phase}"
            refuse(state, moment, agent, action, reason)
    if not actions and not is_decision:
        return None
    batch = tuple(actions)
    calendar = state.calendars[agent]
    if held is not None and _names_blocked(calendar, batch):
        held.names_blocked = True
    result = apply_batch(calendar, batch, moment.meeting if is_decision else None)
    if isinstance(result, Rejection):
        return _reject(state, moment, agent, result.conflict, batch)
    if held is None:
        _apply(state, moment, agent, batch, result)
    else:
        held.batches[agent] = (moment, batch, result)
    return None


def _names_blocked(calendar: Calendar, batch: Sequence[CalendarAction]) -> bool:
    """Whether a batch moves an item that its author's calendar holds blocked."""
    named = {action.item_id for action in batch if isinstance(action, Reschedule)}
    return bool(named) and any(
        item is not None and not item.is_movable and item.item_id in named for item in calendar
    )


def _apply(
    state: State,
    moment: Moment,
    agent: AgentId,
    batch: tuple[CalendarAction, ...],
    result: Applied,
) -> None:
    state.events.append(
        BatchApplied(
            moment.round_index,
            moment.phase,
            agent,
            moment.attempt,
            batch,
            state.charge(agent, result.moved),
            state.replace_calendar(agent, result.calendar),
        )
    )


def _reject(
    state: State,
    moment: Moment,
    agent: AgentId,
    conflict: str,
    actions: tuple[CalendarAction, ...],
) -> str:
    state.events.append(
        BatchRejected(
            round=moment.round_index,
            phase=moment.phase,
            agent_id=agent,
            attempt=moment.attempt,
            conflict=conflict,
            actions=actions,
        )
    )
    return conflict


def _record(state: State, moment: Moment, agent: AgentId, reply: Reply) -> None:
    turn = reply.turn
    state.events += (
        DecideStart(
            moment.round_index,
            moment.phase,
            agent,
            moment.attempt,
            state.calendar_ids[agent],
            reply.prompt,
        ),
        DecideEnd(
            moment.round_index,
            moment.phase,
            agent,
            moment.attempt,
            turn.actions,
            turn.thinking,
            reply.usage,
            reply.reply_keys,
        ),
    )
    note_reply(state, moment, agent, reply)


def reflection(
    state: State, meeting: Meeting, agents: tuple[AgentId, ...], round_index: int
) -> Asking:
    """Ask these agents at once, after the round is resolved."""
    if not agents:
        return
    moment = Moment(round_index, meeting, REFLECTION)
    replies = yield {agent: observe(state, moment, agent) for agent in agents}
    for agent in agents:
        _record_beliefs(state, moment, agent, replies[agent])


def _record_beliefs(state: State, moment: Moment, agent: AgentId, reply: Reply) -> None:
    beliefs = reply.beliefs
    if beliefs is not None and beliefs.occupied is not None:
        state.events.append(
            ChancesStated(
                round=moment.round_index, agent_id=agent, occupied_by_target=beliefs.occupied
            )
        )
    state.events.append(
        Reflection(
            round=moment.round_index,
            agent_id=agent,
            prompt=reply.prompt,
            delta_by_target={} if beliefs is None else beliefs.delta,
            expected_by_target=None if beliefs is None else beliefs.expected,
            usage=reply.usage,
            reply_keys=reply.reply_keys,
        )
    )
    note_reply(state, moment, agent, reply)
