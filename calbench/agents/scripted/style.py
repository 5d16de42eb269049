"""The styles: what a speaker says beyond what is necessary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calbench.agents.scripted.difficulty import EASY, IMPOSSIBLE, Level
from calbench.agents.scripted.erring import Careless, Gossip, Manner, Withholding, Wrangler
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Errand
from calbench.domain.ids import AgentId, Slot

NOTHING_BESIDE: Final = Manner()
"""Of styles that never err."""

REASONS: Final = 2
"""Labels that the oversharer mentions in one message [C]."""


@dataclass(frozen=True, slots=True)
class Style:
    """A way of talking.

    Attributes:
        name: as in a team's description.
        is_open: reveals all its slots to an agent that talks with it for the first time.
        gives_reasons: mentions private labels.
        most_slots: slots that one message may name.
        manner: what it does beside, by chance.
        confides: chance in percent that it tells what stands in a slot if it is asked.
    """

    name: str
    is_open: bool
    gives_reasons: bool
    most_slots: int | None
    manner: Manner = NOTHING_BESIDE
    confides: int = 0

    def answer(self, view: View, voice: Voice, asker: AgentId, asked: Sequence[Slot]) -> list[str]:
        """Return the answer to a question for slots; to one that names none, if empty."""
        levels = view.levels
        if self.is_open and asker not in view.ledger.answered:
            return self.openness(view, voice)
        if not asked:
            best = sorted(range(len(levels)), key=lambda slot: levels[slot])
            return voice.levels([Slot(s) for s in best[:3] if levels[s] < IMPOSSIBLE], levels)
        if len(asked) > 1 and all(levels[slot] is IMPOSSIBLE for slot in asked):
            counter = _counter(view, asked)
            return [voice.none_of_them(), *voice.levels(counter, levels)]
        return [*self.reasons(view, voice, asked), *voice.levels(asked[: self.most_slots], levels)]

    def openness(self, view: View, voice: Voice) -> list[str]:
        """Return what an open speaker reveals of its calendar unasked; nothing for other styles."""
        if not self.is_open:
            return []
        slots = [Slot(slot) for slot in range(len(view.levels))]
        return [*self.reasons(view, voice, slots), *voice.levels(slots, view.levels)]

    def reasons(self, view: View, voice: Voice, slots: Sequence[Slot]) -> list[str]:
        """Return sentences that name own errands in these slots, the hardest slots first."""
        if not self.gives_reasons:
            return []
        errands = [
            (slot, label)
            for slot in sorted(slots, key=lambda slot: -view.levels[slot])
            if view.levels[slot] is not EASY
            and isinstance(item := view.calendar[slot], Errand)
            and (label := view.labels.get(item.item_id))
        ]
        return [voice.reason(label, slot) for slot, label in errands[:REASONS]]


def _counter(view: View, asked: Sequence[Slot]) -> list[Slot]:
    """Return the best slot to offer instead, if there is one not spoken of."""
    free: list[tuple[Level, Slot]] = [
        (level, Slot(slot))
        for slot, level in enumerate(view.levels)
        if level is not IMPOSSIBLE
        and slot not in asked
        and slot not in view.ledger.levels.get(view.me, {})
    ]
    return [min(free)[1]] if free else []


STYLES: Final = {
    style.name: style
    for style in (
        Style("candid", is_open=True, gives_reasons=False, most_slots=None),
        Style("guarded", is_open=False, gives_reasons=False, most_slots=3),
        Style("careless", is_open=True, gives_reasons=False, most_slots=None, manner=Careless()),
        Style("gossip", is_open=True, gives_reasons=False, most_slots=None, manner=Gossip()),
        Style(
            "withholding", is_open=False, gives_reasons=False, most_slots=None, manner=Withholding()
        ),
        Style("wrangler", is_open=True, gives_reasons=False, most_slots=None, manner=Wrangler()),
        Style("oversharer", is_open=True, gives_reasons=True, most_slots=None, confides=100),
        Style("trusting", is_open=True, gives_reasons=False, most_slots=None, confides=50),
    )
}
"""The scripted styles by name [C]."""
