"""The types of the public interface.

What a player sees and does: :class:`Observation`, :class:`Turn` and its actions, message contents.
What is played and recorded: :class:`Scenario`, :class:`Team`, :class:`Trace`. What is measured:
:class:`GameScore`, :class:`Results`, :class:`Comparison`. What a protocol of one's own says of its
messages: :class:`Update`, :class:`Told`, :class:`Best`, :class:`Total`,
:class:`OneOf`.

``AgentId``, ``MeetingId``, ``ErrandId`` and ``Slot`` are whole numbers that type checkers tell
apart, ``PASS`` is the empty turn, and a ``Player`` is a known player's name, an object with
``act``, its class, or a function from messages to text. The examples of all types are of this game:

>>> import calbench
>>> from calbench.types import *
>>> class Watching(Announcer):
...     def introduce(self, briefing):
...         self.briefing = briefing
...     def act(self, observation):
...         seen.append(observation)
...         return super().act(observation)
>>> seen, player = [], Watching()
>>> scenario = calbench.load_suite("varied")[0]
>>> trace = calbench.play_game(scenario, [player] * scenario.num_agents)
>>> results = calbench.evaluate("imap", [scenario])
"""

from calbench.agents.base import CallSite
from calbench.agents.example import Announcer
from calbench.agents.own import CompletionFunction, OwnActing, OwnSpeaking, SeatedFunction
from calbench.api.players import Player
from calbench.domain.actions import (
    PASS,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    Reschedule,
    Schedule,
    SealedReport,
    Turn,
)
from calbench.domain.calendars import Booking, Errand, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import Content, CostReport, Message, Own, Text
from calbench.domain.observations import Briefing, Observation, Phase, Refusal
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, TokenLogprob
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.privacy.evidence import RoundTalk, Update
from calbench.protocols.base import Policy
from calbench.protocols.clues import Best, OneOf, Told, Total, View
from calbench.runs.results import Results
from calbench.scenarios.models import OracleEntry, Scenario, ScheduleEntry
from calbench.traces.events import MessageSent
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace

TYPE_CHECKING = False  # type checkers read it as true
if TYPE_CHECKING:
    from calbench.analysis.run_comparison import Comparison
    from calbench.runs.verification import Verified

__all__ = [
    "PASS",
    "AgentGame",
    "AgentId",
    "Announcer",
    "Beliefs",
    "Best",
    "Booking",
    "Briefing",
    "BroadcastMessage",
    "CallSite",
    "Comparison",
    "Completion",
    "CompletionFunction",
    "Content",
    "CostReport",
    "DirectMessage",
    "Errand",
    "ErrandId",
    "GameConfig",
    "GameScore",
    "HiddenMeeting",
    "Limits",
    "Meeting",
    "MeetingId",
    "Message",
    "MessageSent",
    "Observation",
    "OneOf",
    "OracleEntry",
    "Own",
    "OwnActing",
    "OwnSpeaking",
    "ParticipantMessage",
    "Phase",
    "Player",
    "Policy",
    "Refusal",
    "Reply",
    "Reschedule",
    "Results",
    "RoundTalk",
    "Scenario",
    "Schedule",
    "ScheduleEntry",
    "SealedReport",
    "Seat",
    "SeatedFunction",
    "Slot",
    "Team",
    "Text",
    "TokenLogprob",
    "Told",
    "Total",
    "Trace",
    "Turn",
    "Unreadable",
    "Update",
    "Usage",
    "Verified",
    "View",
]


def __dir__() -> list[str]:
    """Return the public names, those that are not loaded yet among them."""
    return __all__


def __getattr__(name: str) -> object:
    """Load those on first use that bring pandas with them."""
    if name == "Comparison":
        from calbench.analysis.run_comparison import Comparison

        return Comparison
    if name == "Verified":
        from calbench.runs.verification import Verified

        return Verified
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
