"""What DSM's messages tell, by its rules (paper, appendix D.3) [C].

Plans are offered by descending own score, then by slot, and the length of an offer is a known
function of them. So an offer says which scores its slots can have, and that every slot left out
either has no room or would have come later.
"""

from collections.abc import Iterator, Sequence
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


class _Reading(NamedTuple):
    """One way in which an offer could have come about.

    Attributes:
        scores: of its plans.
        left: the least score, of those that come later, that a slot left out cannot have exceeded;
            ``0`` if all of them have no room.
        weight: its probability.
    """

    scores: tuple[int, ...]
    left: int
    weight: float


def _offer_told(
    sender: AgentId, offer: Proposals, view: View, settings: DsmSettings
) -> Iterator[Told]:
    """Yield the weights of all slots, averaged over the readings of an offer."""
    plain = [plan.slot for plan in offer.plans if _is_plain(plan)]
    levels = _levels(view)
    is_first = not view.heard(sender, Proposals)
    if not is_first or not _is_offer(plain, view) or len({*levels}) > MOST_LEVELS:
        yield Told(sender, {slot: view.possible(can_meet=True) for slot in plain})
        return
    moved = [plan.slot for plan in offer.plans if not _is_plain(plan)]
    by_score = [_by_score(row, levels) for row in view.chances(sender)]
    omitted = [Slot(s) for s in range(view.num_slots) if s not in plain and s not in moved]
    readings = _readings(plain, len(moved), omitted, by_score, view, settings)
    whole = sum(reading.weight for reading in readings)
    if not whole:
        yield Told(sender, {slot: view.possible(can_meet=True) for slot in plain})
        return
    slots: dict[Slot, Weights] = {}
    for place, slot in enumerate(plain):
        mass = dict.fromkeys(levels, 0.0)
        for reading in readings:
            mass[reading.scores[place]] += reading.weight / whole
        slots[slot] = _ratios(mass, by_score[slot], levels)
    for slot in omitted:
        slots[slot] = _left_out(slot, plain[-1], readings, whole, by_score[slot], levels)
    yield Told(sender, slots)


def _is_offer(plain: Sequence[Slot], view: View) -> bool:
    """Whether slots are some of the calendar's, each once, as the rules have it."""
    return 0 < len(plain) == len({*plain}) and all(0 <= slot < view.num_slots for slot in plain)


def _by_score(row: Sequence[float], levels: Sequence[int]) -> dict[int, float]:
    found = dict.fromkeys(levels, 0.0)
    for level, chance in zip(levels, row, strict=True):
        found[level] += chance
    return found


def _ratios(mass: dict[int, float], before: dict[int, float], levels: Sequence[int]) -> Weights:
    return tuple([mass[level] / before[level] if before[level] else 0.0 for level in levels])


def _left_out(
    slot: Slot,
    last: Slot,
    readings: Sequence[_Reading],
    whole: float,
    before: dict[int, float],
    levels: Sequence[int],
) -> Weights:
    """Return the weights of a slot that was not offered: no room, or a place later in the order."""
    weights = [0.0] * len(levels)
    for reading in readings:
        share = reading.weight / whole / _room(slot, last, reading, before)
        for place, level in enumerate(levels):
            weights[place] += share * _comes_later(level, slot, last, reading)
    return tuple(weights)


def _comes_later(level: int, slot: Slot, last: Slot, reading: _Reading) -> bool:
    """Whether a slot with this score would not have been offered."""
    if level == INFEASIBLE:
        return True
    end = reading.scores[-1]
    return level <= reading.left and (level < end or (level == end and slot > last))


def _room(slot: Slot, last: Slot, reading: _Reading, before: dict[int, float]) -> float:
    return sum(
        chance for level, chance in before.items() if _comes_later(level, slot, last, reading)
    )


def _readings(
    plain: Sequence[Slot],
    num_moved: int,
    omitted: Sequence[Slot],
    by_score: Sequence[dict[int, float]],
    view: View,
    settings: DsmSettings,
) -> list[_Reading]:
    """Return the possible scores of an offer, each with its probability.

    Scores descend, and slots ascend among equal ones. Plans that move meetings count for the
    length with the score of a cost of 1.
    """
    scale = sorted({level for level in _levels(view) if level}, reverse=True)
    found = []
    size, count = len(plain), len(view.participants) - 1
    for ends in combinations_with_replacement(range(size + 1), len(scale) - 1):
        bounds = [0, *ends, size]
        if any(
            plain[at] < plain[at - 1]
            for first, end in pairwise(bounds)
            for at in range(first + 1, end)
        ):
            continue
        scores = tuple(
            [
                level
                for level, first, end in zip(scale, bounds, bounds[1:], strict=False)
                for _ in range(end - first)
            ]
        )
        left = _greatest_left(
            scores, num_moved, tuple(scale), len(omitted), view.num_slots, count, settings
        )
        if left is None:
            continue
        reading = _Reading(scores, left, 1.0)
        weight = prod(by_score[slot][level] for slot, level in zip(plain, scores, strict=True))
        weight *= prod(_room(slot, plain[-1], reading, by_score[slot]) for slot in omitted)
        if weight:
            found.append(reading._replace(weight=weight))
    return found


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
    offered = sorted([*scores, *[satisfaction(1)] * num_moved], reverse=True)
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
