"""The event that opens a round."""

from calbench.domain.ids import AgentId, MeetingId
from calbench.scenarios.models import IncomingMeetingEntry, Scenario
from calbench.traces.events import RoundStart


def round_start(scenario: Scenario, entry: IncomingMeetingEntry, round_index: int) -> RoundStart:
    """Return the event for the meeting of one round."""
    meeting = scenario.meeting_by_id[MeetingId(entry.meeting_id)]
    return RoundStart(
        round=round_index,
        meeting_id=meeting.meeting_id,
        participants=meeting.participants,
        speaker_order=tuple([AgentId(agent) for agent in entry.speaker_order]),
    )
