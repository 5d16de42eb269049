"""Scheduling difficulty and the bumping rule (paper, appendix D.2)."""

from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId

Weights = tuple[float, ...]
"""Difficulty weights by agent id."""


def difficulty(meeting: Meeting, agent: AgentId, weights: Weights | None) -> float:
    """Return how hard a meeting is to schedule as one participant sees it [P].

    The sum of the weights of its *other* participants; without weights everybody weighs 1.
    """
    participants = meeting.participants
    if weights is None:
        return len(participants) - participants.count(agent)
    return sum([weights[other] for other in participants if other != agent])


def is_bumpable(existing: Meeting, new: Meeting, agent: AgentId, weights: Weights | None) -> bool:
    """Whether an own meeting makes way: only if it is strictly less difficult [P]."""
    return difficulty(existing, agent, weights) < difficulty(new, agent, weights)
