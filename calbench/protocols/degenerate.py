"""Degenerate baselines [C]: each exploits one measure, to show how that measure can be gamed."""

from collections.abc import Iterator
from typing import ClassVar

from calbench.domain.actions import PASS, Action, BroadcastMessage, DirectMessage, Schedule, Turn
from calbench.domain.calendars import Meeting, first_free
from calbench.domain.ids import Slot
from calbench.domain.messages import Channel, CostReport, Message
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.protocols.base import First, own_meeting
from calbench.protocols.clues import Told, View
from calbench.protocols.costs import cheapest_slot, local_costs
from calbench.protocols.imap import decide, own_report, reported_costs, vector_told


class Silent:
    """Says nothing and schedules nothing: no cost, no leak, no meeting."""

    speaks_first: ClassVar[First] = "nobody"
    is_degenerate: ClassVar[bool] = True

    def act(self, observation: Observation) -> Turn:  # noqa: ARG002 - it ignores what it sees
        """Pass, whatever it is asked."""
        return PASS

    def tells(self, _message: Message, _view: View) -> tuple[()]:
        """Return nothing: it says nothing."""
        return ()


class FirstFree(Silent):
    """Says nothing; each participant books its own lowest free slot."""

    speaks_first: ClassVar[First] = "nobody"
    books_first: ClassVar[bool] = True

    def act(self, observation: Observation) -> Turn:
        """Schedule into the lowest free slot when deciding."""
        meeting = own_meeting(observation)
        if meeting is None or observation.phase is not DECISION:
            return PASS
        slot = first_free(observation.calendar)
        return PASS if slot is None else Turn((Schedule(meeting.meeting_id, slot),))

    tells = Silent.tells  # as it says nothing, either: what is inherited does not count


class TellAll:
    """Every participant tells its whole cost vector to every agent; each makes IMAP's choice.

    One message to all if the all-agent channel is open, otherwise one to each agent. Without all
    vectors there is no choice.
    """

    speaks_first: ClassVar[First] = "participants"
    talks_on: ClassVar[tuple[Channel, ...]] = ("dm", "all_agent_groupchat")
    is_degenerate: ClassVar[bool] = True

    def act(self, observation: Observation) -> Turn:
        """Tell everything once while talking; place the meeting at the joint minimum."""
        meeting = own_meeting(observation)
        if meeting is None:
            return PASS
        if observation.phase is DECISION:
            return decide(observation, meeting, _joint_minimum(observation, meeting))
        if observation.phase is CHEAP_TALK:
            return _tell(observation)
        return PASS

    def tells(self, message: Message, view: View) -> Iterator[Told]:
        """Yield a vector slot by slot; the choice follows from them and tells nothing more."""
        return vector_told(message, view)


def _tell(observation: Observation) -> Turn:
    if observation.has_said(CostReport):
        return PASS
    listeners = [agent for agent in observation.agent_ids if agent != observation.agent_id]
    report = own_report(observation)
    if "all_agent_groupchat" in observation.channels and listeners:
        return Turn((BroadcastMessage(content=report),))
    if "dm" not in observation.channels:
        return PASS
    actions: list[Action] = [DirectMessage(to=agent, content=report) for agent in listeners]
    return Turn(tuple(actions))


def _joint_minimum(observation: Observation, meeting: Meeting) -> Slot | None:
    reports = reported_costs(observation, meeting)
    if len(reports) < len(meeting.participants) - 1:
        return None
    return cheapest_slot([local_costs(observation.calendar), *reports.values()])
