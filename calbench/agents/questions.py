"""What a language agent is told and asked, apart from who answers."""

from dataclasses import dataclass

from calbench.agents.prompts import Prompts
from calbench.domain.observations import REFLECTION, Briefing, Observation, Refusal
from calbench.domain.replies import Unreadable


@dataclass(slots=True)
class Questions:
    """Words the messages to one agent of one game.

    They follow from its observations and from which of its replies could not be read: the same of
    both gives the same messages, which lets a verifier compare those of a trace.

    Attributes:
        prompts: the version of the prompts.
        variant_text: appended to the system prompt word for word.
    """

    prompts: Prompts
    variant_text: str | None
    _round_index: int | None = None
    _unreadable: Unreadable | None = None
    _untold: tuple[Refusal, ...] = ()

    def system(self, briefing: Briefing) -> str:
        """Start from the beginning; return the exact system prompt."""
        self._round_index = None
        self._unreadable = None
        self._untold = ()
        return self.prompts.system(briefing, self.variant_text)

    def question(self, observation: Observation) -> str:
        """Return the exact message that asks for the turn, or in a reflection for beliefs."""
        if observation.phase is REFLECTION:
            return self.prompts.message(observation)
        if self._untold:
            observation = observation._replace(refusals=self._untold + observation.refusals)
        return self.prompts.message(
            observation,
            is_first=observation.round_index != self._round_index,
            unreadable=self._unreadable,
        )

    def answered(self, observation: Observation, unreadable: Unreadable | None) -> None:
        """Note that a question was answered, and why the answer could not be read."""
        if observation.phase is REFLECTION:
            # What a measurement says is forgotten with it, so refusals are repeated next time.
            self._untold += observation.refusals
            return
        self._round_index = observation.round_index
        self._unreadable = unreadable
        self._untold = ()
