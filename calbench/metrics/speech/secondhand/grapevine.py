"""Who was told which label by whom, message by message, and on which path it came."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

Who = TypeVar("Who", bound=Hashable)
What = TypeVar("What", bound=Hashable)


class Step(NamedTuple, Generic[Who]):
    """One message of a path.

    Attributes:
        speaker: who sent it.
        place: of the message: the index of its event, or the number of its line.
        learners: the recipients that learnt the label by it.
    """

    speaker: Who
    place: int
    learners: tuple[Who, ...]


Path = tuple[Step[Who], ...]
"""How an agent learnt a label: the first step is of an agent whose item it labels, and every later
speaker is a learner of the step before."""


@dataclass
class Grapevine(Generic[Who, What]):
    """Who learnt which label on which path, message by message.

    Attributes:
        holders: those whose item a label is of, who need not be told.
        paths: by agent and label; only labels of others' items.
    """

    holders: Callable[[What], Collection[Who]]
    paths: dict[Who, dict[What, Path[Who]]] = field(default_factory=dict)

    def heard(self, agent: Who) -> Mapping[What, Path[Who]]:
        """Return what an agent was told of the labels of others, in the order heard."""
        return self.paths.get(agent, {})

    def learners(self, label: What, recipients: Iterable[Who]) -> tuple[Who, ...]:
        """Return the recipients that may not know a label and were not told it, in order."""
        holders = self.holders(label)
        return tuple(
            [
                each
                for each in dict.fromkeys(recipients)
                if each not in holders and label not in self.heard(each)
            ]
        )

    def news(self, speaker: Who, recipients: Sequence[Who]) -> dict[What, tuple[Who, ...]]:
        """Return the labels that a speaker was told and a recipient was not, with those."""
        fresh = {label: self.learners(label, recipients) for label in self.heard(speaker)}
        return {label: learners for label, learners in fresh.items() if learners}

    def tell(self, label: What, speaker: Who, place: int, recipients: Iterable[Who]) -> Path[Who]:
        """Note that a message tells a label.

        Returns:
            The path to those who learn it; its last step has none of them if nobody does.
        """
        learners = self.learners(label, recipients)
        before = self.heard(speaker).get(label, ())
        path = (*before, Step(speaker, place, learners))
        for each in learners:
            self.paths.setdefault(each, {})[label] = path
        return path
