"""Agents of somebody's own, which import nothing of ours but what they answer with."""

from calbench.domain.actions import Turn
from calbench.domain.observations import Briefing, Observation
from calbench.errors import UnavailableError


class Quiet:
    """Says and does nothing."""

    def introduce(self, _briefing: Briefing) -> None:
        """Take note of nothing."""

    def act(self, _observation: Observation) -> Turn:
        return Turn()


class Gone(Quiet):
    """Is not there when it is asked."""

    def act(self, _observation: Observation) -> Turn:
        raise UnavailableError("provider_fault", "gone")
