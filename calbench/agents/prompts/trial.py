"""Words every message once, so that an odd template is known before the first game."""

from pathlib import Path

from calbench.agents.prompts.folder import OwnPrompts, use_folder
from calbench.agents.prompts.messages import Prompts
from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import CHANNELS, Message, Text
from calbench.domain.observations import (
    CHEAP_TALK,
    DECISION,
    REFLECTION,
    VOLUNTARY,
    Briefing,
    Observation,
    Refusal,
)
from calbench.domain.replies import Unreadable

AGENTS = (AgentId(0), AgentId(1))
MEETING = Meeting(MeetingId(1), AGENTS, 1)
HELLO = Text(text="Hello.")


def use_prompts(path: Path) -> OwnPrompts:
    """Know the prompts of a folder from now on in this process, after a trial of its templates.

    Raises:
        ConfigError: naming the file that does not fit.
    """
    own = use_folder(path)
    if own.templates is not None:
        _word_all(Prompts(own.templates))
    return own


def _word_all(prompts: Prompts) -> None:
    for channels in ((), *((channel,) for channel in CHANNELS)):
        prompts.system(Briefing(AGENTS[0], AGENTS, 2, 1, frozenset(channels), 1, 1, None))
    inbox = (Message(AGENTS[1], AGENTS[:1], "dm", MEETING.meeting_id, HELLO),)
    refusals = (Refusal(DirectMessage(to=AgentId(9), content=HELLO), "There is no agent 9"),)
    plain = _observation()._replace(inbox=inbox, refusals=refusals)
    outside = plain._replace(meeting=HiddenMeeting(MEETING.meeting_id, MEETING.cost))
    unreadable = Unreadable("empty", "the reply is empty")
    for view in (plain, plain._replace(inbox=(), turns_left=1), outside):
        for is_first in (True, False):
            prompts.message(view, is_first=is_first, unreadable=unreadable)
    decision = plain._replace(phase=DECISION)
    for view in (
        outside._replace(phase=VOLUNTARY),
        decision,
        decision._replace(attempt=1, conflict="Expected exactly 1 schedule action, got 0"),
        plain._replace(phase=REFLECTION),
    ):
        prompts.message(view, unreadable=unreadable)


def _observation() -> Observation:
    return Observation(
        agent_id=AGENTS[0],
        agent_ids=AGENTS,
        phase=CHEAP_TALK,
        meeting=MEETING,
        round_index=0,
        calendar=(None, None),
        messages=(),
        earlier=(),
        inbox=(),
        turn_index=0,
        turns_left=0,
        attempt=0,
        conflict=None,
        refusals=(),
        channels=frozenset(CHANNELS),
        incurred_shown_cost=0,
        decision_retries=1,
    )
