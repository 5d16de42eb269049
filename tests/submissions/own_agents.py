"""An agent of somebody's own, which imports nothing of ours but what it answers with."""

from calbench.domain.actions import Turn
from calbench.domain.observations import Briefing, Observation


class Quiet:
    """Says and does nothing."""

    def introduce(self, _briefing: Briefing) -> None:
        """Take note of nothing."""

    def act(self, _observation: Observation) -> Turn:
        return Turn()
