"""What DSM's messages tell, by its rules (paper, appendix D.3) [C].

Plans are offered by descending own score, then by slot, and the length of an offer is a known
function of them. So an offer says which scores its slots can have, and that every slot left out
either has no room or would have come later.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise
from math import prod
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Message, OfferedPlan, PlanDecision, Proposals, Scores
from calbench.protocols.clues import Best, Clue, Told, View, Weights
from calbench.protocols.dsm.offers import joint_feasibility_of, offer_size
from calbench.protocols.dsm.plans import Plan
from calbench.protocols.dsm.scores import FREE, INFEASIBLE, satisfaction
from calbench.protocols.dsm.settings import DsmSettings

MOVED = 1
"""What moving a meeting costs [P]."""

MOST_LEVELS = 6
"""Scores of which the readings of an offer are weighed; their number grows with each [C]."""


def told(message: Message, view: View, settings: DsmSettings) -> Iterator[Clue]:
    """Yield what a message tells a participant; an outsider's own meetings tell it nothing."""
    sender, content = message.sender, message.content
    if sender is None or not view.participants:
        return
    match content:
        case Proposals():
            yield from _offer_told(sender, content, view, settings)
        case Scores() if sender in view.participants:
            yield from _scores_told(sender, content, view)
        case PlanDecision():
            yield from _choice_told(sender, content, view)


def _levels(view: View) -> list[int]:
    """Return the score of every cell."""
    return [INFEASIBLE if cell is None else satisfaction(cell) for cell in view.cells]


def _is_plain(plan: OfferedPlan) -> bool:
    return not plan.moves and not plan.vacated


def _scores_told(sender: AgentId, scores: Scores, view: View) -> Iterator[Told]:
    """Yield the costs that have these scores, where the plan moves no meeting."""
    offered = {
        plan.plan_id: plan.slot
        for offer in view.heard(view.observer, Proposals)
        for plan in offer.plans
        if _is_plain(plan)
    }
    levels = _levels(view)
    pairs = zip(scores.plan_ids, scores.scores, strict=False)
    slots = {
        offered[plan_id]: tuple([float(level == score) for level in levels])
        for plan_id, score in pairs
        if plan_id in offered
    }
    yield Told(sender, slots)


def _choice_told(sender: AgentId, decision: PlanDecision, view: View) -> Iterator[Best]:
    """Yield that no other offered plan has a better sum of scores, if none of them moves anything.

    If no plan suits all, one is announced nevertheless.
    """
    plans = [plan for offer in view.heard(sender, Proposals) for plan in offer.plans]
    slots = tuple([plan.slot for plan in plans if _is_plain(plan)])
    if decision.slot in slots and len(slots) == len(plans):
        levels = _levels(view)
        values = tuple([FREE - level if level else None for level in levels])
        yield Best(view.participants, decision.slot, slots, values, is_forced=True)


class _Offer(NamedTuple):
    """A first offer as its reader sees it.

    Attributes:
        plain: slots of its plans that move nothing, in its order.
        omitted: slots that no plan is for.
        num_moved: its plans that move meetings.
        chances: for every slot of the calendar, the reader's probability of each score.
        scale: the scores of slots with room, descending.
    """

    plain: Sequence[Slot]
    omitted: Sequence[Slot]
    num_moved: int
    chances: Sequence[Mapping[int, float]]
    scale: tuple[int, ...]


class _Reading(NamedTuple):
    """One way in which an offer could have come about.

    Attributes:
        scores: of its plans.
        left: the greatest score that a slot left out can have had; ``0`` if none has room.
        rooms: of each slot left out, the chance that it would not have been offered.
        weight: probability of all of it.
    """

    scores: tuple[int, ...]
    left: int
    rooms: Sequence[float] = ()
    weight: float = 1.0

    def leaves_out(self, slot: Slot, level: int, last: Slot) -> bool:
        """Whether a slot with this score would not have been offered, after ``last``."""
        if level == INFEASIBLE:
            return True
        end = self.scores[-1]
        return level <= self.left and (level < end or (level == end and slot > last))


def _offer_told(
    sender: AgentId, content: Proposals, view: View, settings: DsmSettings
) -> Iterator[Told]:
    """Yield the weights of all slots, averaged over the readings of an offer.

    A slot with a meeting has plans of its own, which move it, so it is left out only as an errand
    of the same cost would be.
    """
    plain = [plan.slot for plan in content.plans if _is_plain(plan)]
    levels = _levels(view)
    readings: list[_Reading] = []
    is_first = not view.heard(sender, Proposals)
    if is_first and _is_offer(plain, view) and len({*levels}) <= MOST_LEVELS:
        offer = _offer(content, plain, levels, view.chances(sender))
        readings = _readings(offer, len(view.participants) - 1, settings)
    whole = sum(reading.weight for reading in readings)
    if not whole:
        yield Told(sender, {slot: view.possible(can_meet=True) for slot in plain})
        return
    shares = [reading.weight / whole for reading in readings]
    slots: dict[Slot, Weights] = {}
    held: dict[Slot, float] = {}
    for place, slot in enumerate(plain):
        mass = dict.fromkeys(levels, 0.0)
        for reading, share in zip(readings, shares, strict=True):
            mass[reading.scores[place]] += share
        before = offer.chances[slot]
        slots[slot] = tuple([mass[at] / before[at] if before[at] else 0.0 for at in levels])
    for place, slot in enumerate(offer.omitted):
        weights = [0.0] * (len(levels) + 1)
        for reading, share in zip(readings, shares, strict=True):
            for at, level in enumerate([*levels, satisfaction(MOVED)]):
                is_left = reading.leaves_out(slot, level, plain[-1])
                weights[at] += share / reading.rooms[place] * is_left
        *cells, by_meeting = weights
        slots[slot] = tuple(cells)
        if settings.depth and satisfaction(MOVED) in offer.scale:
            held[slot] = by_meeting
    nothing = (0.0,) * len(levels)
    for slot in {plan.slot for plan in content.plans}.difference(plain):
        slots[slot], held[slot] = nothing, 1.0
    yield Told(sender, slots, held)


def _is_offer(plain: Sequence[Slot], view: View) -> bool:
    """Whether slots are some of the calendar's, each once, as the rules have it."""
    return 0 < len(plain) == len({*plain}) and all(0 <= slot < view.num_slots for slot in plain)


def _offer(
    content: Proposals, plain: list[Slot], levels: list[int], rows: Iterable[Sequence[float]]
) -> _Offer:
    """Return an offer, with the chances of scores from those of cells."""
    named = {plan.slot for plan in content.plans}
    chances = []
    for row in rows:
        by_score = dict.fromkeys(levels, 0.0)
        for level, chance in zip(levels, row, strict=True):
            by_score[level] += chance
        chances.append(by_score)
    omitted = [Slot(slot) for slot in range(len(chances)) if slot not in named]
    scale = tuple(sorted({level for level in levels if level}, reverse=True))
    return _Offer(plain, omitted, len(content.plans) - len(plain), chances, scale)


def _readings(offer: _Offer, num_responders: int, settings: DsmSettings) -> list[_Reading]:
    """Return the possible scores of an offer, each with its probability.

    Scores descend, and slots ascend among equal ones. Plans that move meetings count for the
    length with the score of a cost of 1.
    """
    plain, size = offer.plain, len(offer.plain)
    found = []
    for ends in combinations_with_replacement(range(size + 1), len(offer.scale) - 1):
        groups = list(pairwise([0, *ends, size]))
        if any(list(plain[at:end]) != sorted(plain[at:end]) for at, end in groups):
            continue
        scores = tuple(
            [s for s, (at, end) in zip(offer.scale, groups, strict=True) for _ in range(end - at)]
        )
        shape = (offer.num_moved, offer.scale, len(offer.omitted), len(offer.chances))
        left = _greatest_left(scores, *shape, num_responders, settings)
        if left is None:
            continue
        reading = _Reading(scores, left)
        rooms = [_room(slot, reading, offer) for slot in offer.omitted]
        weight = prod(offer.chances[slot][s] for slot, s in zip(plain, scores, strict=True))
        weight *= prod(rooms)
        if weight:
            found.append(reading._replace(rooms=rooms, weight=weight))
    return found


def _room(slot: Slot, reading: _Reading, offer: _Offer) -> float:
    chances, last = offer.chances[slot].items(), offer.plain[-1]
    return sum(chance for level, chance in chances if reading.leaves_out(slot, level, last))


@lru_cache(maxsize=4096)
def _greatest_left(
    scores: tuple[int, ...],
    num_moved: int,
    scale: tuple[int, ...],
    num_omitted: int,
    num_slots: int,
    num_responders: int,
    settings: DsmSettings,
) -> int | None:
    """Return the greatest score with which plans may be left after such an offer; 0 for none.

    ``None`` if an offer of these plans would have been shorter.
    """
    offered = sorted([*scores, *[satisfaction(MOVED)] * num_moved], reverse=True)
    best: int | None = None
    free = sum(score == FREE for score in offered)
    for level in (0, *sorted(scale)):
        rest = [level] if level and num_omitted else []
        if level > scores[-1] or (level and not rest):
            continue
        plans = [Plan(Slot(0), 0, score) for score in (*offered, *rest)]
        # Free slots that are left out count for q; how many there are is not known.
        numbers = range(1, num_omitted + 1) if level == FREE else range(1)
        shares = [(free + number) / num_slots for number in numbers]
        qs = [joint_feasibility_of(share, num_responders) for share in shares]
        if any(offer_size(plans, q, settings) == len(offered) for q in qs):
            best = level
    return best
