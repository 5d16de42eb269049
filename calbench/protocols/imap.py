"""IMAP: full cost vectors to the initiator, who picks the joint minimum (appendix D.1).

Six messages for a meeting of three: two requests, two vectors, two decisions. The
low-cost, high-disclosure reference point.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import ClassVar

from calbench.domain.actions import PASS, DirectMessage, Turn
from calbench.domain.calendars import Meeting, all_slots
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Channel,
    CostReport,
    CostRequest,
    Decision,
    Message,
)
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.protocols.base import First, others, own_meeting, place
from calbench.protocols.clues import Best, Cells, Told, View, Weights, cheapest_of_all, equal_to
from calbench.protocols.costs import CostVector, cheapest_slot, feasible_slots, local_costs


class Imap:
    """Incremental MAP (Modi & Veloso 2004, as in appendix D.1 of the paper)."""

    speaks_first: ClassVar[First] = "initiator"
    talks_on: ClassVar[tuple[Channel, ...]] = ("dm",)
    books_cheapest: ClassVar[bool] = True
    books_together: ClassVar[bool] = True

    def act(self, observation: Observation) -> Turn:
        """Request, report or decide while talking; book the agreed slot when deciding."""
        meeting = own_meeting(observation)
        if meeting is None:
            return PASS
        if observation.phase is DECISION:
            return decide(observation, meeting, agreed_slot(observation, meeting))
        if observation.phase is not CHEAP_TALK or "dm" not in observation.channels:
            return PASS
        if observation.agent_id == meeting.initiator:
            return _lead(observation, meeting)
        return _answer(observation, meeting)

    def tells(self, message: Message, view: View) -> Iterator[Told | Best]:
        """Yield a vector slot by slot, or that the announced slot is the cheapest for all."""
        if isinstance(message.content, Decision):
            yield cheapest_of_all(view, message.content.slot)
        else:
            yield from vector_told(message, view)


def vector_told(message: Message, view: View) -> Iterator[Told]:
    """Yield what a cost vector tells about its sender.

    Without any possible slot it may be that none is free: then errands cannot move, either.
    """
    report, sender = message.content, message.sender
    if sender is not None and isinstance(report, CostReport) and set(report.costs) != {None}:
        yield Told(sender, _slots_told(report.slots, report.costs, view.cells))


@lru_cache(maxsize=1024)  # all who hear a vector are told the same
def _slots_told(slots: tuple[Slot, ...], costs: CostVector, cells: Cells) -> Mapping[Slot, Weights]:
    """Return by slot the weights of a cost."""
    return {slot: equal_to(cells, cost) for slot, cost in zip(slots, costs, strict=False)}


def decide(observation: Observation, meeting: Meeting, slot: Slot | None) -> Turn:
    """Book the agreed slot; on retry *k* the agent's own feasible slot number *k* from 0 [R].

    Without an agreement the first batch is empty; so is a retry without such a slot.
    """
    if observation.attempt == 0:
        return PASS if slot is None else place(observation, meeting, slot)
    own = feasible_slots(local_costs(observation.calendar))
    if observation.attempt >= len(own):
        return PASS
    return place(observation, meeting, own[observation.attempt])


def agreed_slot(
    observation: Observation,
    meeting: Meeting,
    kind: type[Decision] | type[Announcement] = Decision,
) -> Slot | None:
    """Return the slot the initiator announced, if this agent said or heard it."""
    if observation.agent_id == meeting.initiator:
        if len(meeting.participants) == 1:
            return cheapest_slot([local_costs(observation.calendar)])
        return next((said.slot for said in observation.said(kind)), None)
    heard = observation.heard(kind)
    return next((said.slot for sender, said in heard if sender == meeting.initiator), None)


def reported_costs(observation: Observation, meeting: Meeting) -> dict[AgentId, CostVector]:
    """Return the vectors heard from other participants, the first of each."""
    by_agent: dict[AgentId, CostVector] = {}
    for sender, report in observation.heard(CostReport):
        if sender in meeting.participants and len(report.costs) == len(observation.calendar):
            by_agent.setdefault(sender, report.costs)
    return by_agent


def own_report(observation: Observation) -> CostReport:
    """Return the agent's whole vector as a speech act."""
    costs = local_costs(observation.calendar)
    return CostReport(all_slots(len(costs)), costs)


def _lead(observation: Observation, meeting: Meeting) -> Turn:
    if observation.has_said(Decision):
        return PASS
    responders = others(observation, meeting)
    if not observation.has_said(CostRequest):
        return _to_each(responders, CostRequest(all_slots(len(observation.calendar))))
    reports = reported_costs(observation, meeting)
    if len(reports) < len(responders):
        return PASS
    slot = cheapest_slot([local_costs(observation.calendar), *reports.values()])
    return PASS if slot is None else _to_each(responders, Decision(slot))


def _answer(observation: Observation, meeting: Meeting) -> Turn:
    if observation.has_said(CostReport):
        return PASS
    initiator = meeting.initiator
    is_asked = any(sender == initiator for sender, _ in observation.heard(CostRequest))
    return _to_each((initiator,), own_report(observation)) if is_asked else PASS


def _to_each(recipients: tuple[AgentId, ...], content: CostRequest | CostReport | Decision) -> Turn:
    return Turn(tuple([DirectMessage(agent, content) for agent in recipients]))
