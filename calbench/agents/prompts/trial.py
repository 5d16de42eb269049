"""Words every message once, so that an odd template is known before the first game."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from calbench.agents.prompts.folder import OwnPrompts, know, read_folder
from calbench.agents.prompts.messages import Prompts
from calbench.agents.prompts.templates import Templates
from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import Errand, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, ErrandId, MeetingId
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
UNREADABLE = Unreadable("empty", "the reply is empty")


class Worded(NamedTuple):
    """A message of the trial: the template that it is made from, and its text."""

    template: str
    text: str


_worded: dict[str, tuple[Worded, ...]] = {}
"""The messages of templates by their digest: a run names its folder more than once."""


def use_prompts(path: Path) -> OwnPrompts:
    """Know the prompts of a folder from now on in this process, after a trial of its templates.

    Raises:
        ConfigError: naming the file that does not fit; then they are not known.
    """
    own = read_folder(path)
    if own.templates is not None:
        worded(own.templates)
    know(own)
    return own


def worded(templates: Templates) -> tuple[Worded, ...]:
    """Return every kind of message, worded by some templates; the same for all templates.

    Raises:
        ConfigError: naming the template that does not fit.
    """
    if templates.digest not in _worded:
        prompts = Prompts(templates)
        _worded[templates.digest] = (*_rules(prompts), *_talk(prompts), *_others(prompts))
    return _worded[templates.digest]


def _rules(prompts: Prompts) -> Iterator[Worded]:
    for channels in ((), *((channel,) for channel in CHANNELS)):
        briefing = Briefing(AGENTS[0], AGENTS, 2, 1, frozenset(channels), 1, 1, None)
        yield Worded("system", prompts.system(briefing))


def _talk(prompts: Prompts) -> Iterator[Worded]:
    plain = _observation()
    for view in (plain, plain._replace(inbox=(), turns_left=1), _outside(plain)):
        start = "round_start" if isinstance(view.meeting, Meeting) else "outsider"
        for name in (start, "turn"):
            text = prompts.message(view, is_first=name == start, unreadable=UNREADABLE)
            yield Worded(name, text)


def _others(prompts: Prompts) -> Iterator[Worded]:
    plain = _observation()
    decision = plain._replace(phase=DECISION)
    conflict = "Expected exactly 1 schedule action, got 0"
    errand = Errand(ErrandId(101), 1, blocked=False)
    for name, view in (
        ("voluntary", _outside(plain)._replace(phase=VOLUNTARY)),
        ("decision", decision),
        ("decision", decision._replace(calendar=(None, errand))),
        ("retry", decision._replace(attempt=1, conflict=conflict)),
        ("reflection", plain._replace(phase=REFLECTION)),
    ):
        yield Worded(name, prompts.message(view, unreadable=UNREADABLE))


def _outside(view: Observation) -> Observation:
    return view._replace(meeting=HiddenMeeting(MEETING.meeting_id, MEETING.cost))


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
        inbox=(Message(AGENTS[1], AGENTS[:1], "dm", MEETING.meeting_id, HELLO),),
        turn_index=0,
        turns_left=0,
        attempt=0,
        conflict=None,
        refusals=(Refusal(DirectMessage(to=AgentId(9), content=HELLO), "There is no agent 9"),),
        channels=frozenset(CHANNELS),
        incurred_shown_cost=0,
        decision_retries=1,
    )
