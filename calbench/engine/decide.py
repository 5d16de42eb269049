"""What agents are asked after the talk, VOLUNTARY, DECISION and REFLECTION.

In the first two each agent changes its own calendar (section 3, appendix A.5). In the last,
language agents are asked what they came to believe (appendix F): this is only a measurement, which
changes neither the state nor later observations.
"""

from calbench.domain.actions import CalendarAction, Reschedule, Schedule
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId
from calbench.domain.observations import DECISION, REFLECTION, VOLUNTARY
from calbench.domain.replies import Reply
from calbench.domain.rules import Rejection, apply_batch
from calbench.engine.delivery import refuse
from calbench.engine.observe import observe
from calbench.engine.state import Moment, State, note_reply
from calbench.engine.talk import Asking
from calbench.traces.events import BatchApplied, BatchRejected, DecideEnd, DecideStart, Reflection


def voluntary(
    state: State, meeting: Meeting, outsiders: tuple[AgentId, ...], round_index: int
) -> Asking:
    """Ask each activated outsider in turn for moves, applied at once and without retry."""
    moment = Moment(round_index, meeting, VOLUNTARY)
    for agent in outsiders:
        reply = (yield {agent: observe(state, moment, agent)})[agent]
        _submit(state, moment, agent, reply)


def decision(state: State, meeting: Meeting, round_index: int) -> Asking:
    """Ask all participants at once for a batch; those whose batch is rejected may retry.

    A batch changes its owner's calendar only, so no submission affects what another agent is
    shown: all decide on the snapshot taken after VOLUNTARY.
    """
    pending: dict[AgentId, str | None] = dict.fromkeys(sorted(meeting.participants))
    for attempt in range(state.decision_retries + 1):
        moment = Moment(round_index, meeting, DECISION, attempt=attempt)
        replies = yield {
            agent: observe(state, moment, agent, (), conflict)
            for agent, conflict in pending.items()
        }
        rejected: dict[AgentId, str | None] = {}
        for agent in pending:
            conflict = _submit(state, moment, agent, replies[agent])
            if conflict is not None:
                rejected[agent] = conflict
        if not rejected:
            return
        pending = rejected


def _submit(state: State, moment: Moment, agent: AgentId, reply: Reply) -> str | None:
    """Apply the calendar actions of a reply as one batch; return the conflict if rejected."""
    is_decision = moment.phase is DECISION
    _record(state, moment, agent, reply)
    if reply.unreadable is not None:
        if not is_decision:  # outsiders may not retry
            return None
        why = reply.unreadable
        conflict = f"The reply could not be read ({why.problem}): {why.detail}"
        return _reject(state, moment, agent, conflict, ())
    batch: list[CalendarAction] = []
    for action in reply.turn.actions:
        if isinstance(action, (Schedule, Reschedule)):
            batch.append(action)
        else:
            reason = f"{action.type} is not allowed in {moment.phase}"
            refuse(state, moment, agent, action, reason)
    if not batch and not is_decision:
        return None
    result = apply_batch(state.calendars[agent], batch, moment.meeting if is_decision else None)
    if isinstance(result, Rejection):
        return _reject(state, moment, agent, result.conflict, tuple(batch))
    state.events.append(
        BatchApplied(
            moment.round_index,
            moment.phase,
            agent,
            moment.attempt,
            tuple(batch),
            state.charge(agent, result.moved),
            state.replace_calendar(agent, result.calendar),
        )
    )
    return None


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
