"""What DSM's messages tell, by its rules (paper, appendix D.3) [C].

Plans are offered by descending own score, then by slot, and the length of an offer is a known
function of them. So an offer says which scores its slots can have, and that every slot left out
either has no room or would have come later.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import NDArray

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Message, OfferedPlan, PlanDecision, Proposals, Scores
from calbench.protocols.clues import Best, Clue, OneOf, Told, View
from calbench.protocols.dsm.plans import Plan, joint_feasibility_of, offer_size
from calbench.protocols.dsm.scores import FREE, INFEASIBLE, satisfaction
from calbench.protocols.dsm.settings import DsmSettings

MOST_LEVELS = 6
"""Scores of which the readings of an offer are weighed; their number grows with each [C]."""


Plans = tuple[tuple[Slot, int], ...]
"""Of an offer, in its order: each plan's slot, and how many meetings it moves."""


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


def levels_of(view: View) -> list[int]:
    """Return the score of every cell."""
    return [INFEASIBLE if cell is None else satisfaction(cell) for cell in view.cells]


def is_plain(plan: OfferedPlan) -> bool:
    """Whether a plan moves no meeting."""
    return not plan.moves and not plan.vacated


def _scores_told(sender: AgentId, scores: Scores, view: View) -> Iterator[Told]:
    """Yield the costs that have these scores, where the plan moves no meeting."""
    offered = {
        plan.plan_id: plan.slot
        for offer in view.heard(view.observer, Proposals)
        for plan in offer.plans
        if is_plain(plan)
    }
    levels = levels_of(view)
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
    slots = tuple([plan.slot for plan in plans if is_plain(plan)])
    if decision.slot in slots and len(slots) == len(plans):
        levels = levels_of(view)
        values = tuple([FREE - level if level else None for level in levels])
        yield Best(view.participants, decision.slot, slots, values, is_forced=True)


@lru_cache(maxsize=1024)
def _leaves_out(levels: tuple[int, ...], left: int, end: int) -> NDArray[np.bool_]:
    """Return whether slots with these scores would not have been offered, of shape (2, levels).

    Args:
        levels: the scores.
        left: the greatest score that a slot left out can have had; ``0`` if none has room.
        end: score of the last plan; of that score only slots after its own are left out.
    """
    score = np.array(levels)
    is_left = (score <= left) & (score < end)
    ways = [is_left, is_left | ((score <= left) & (score == end))]
    return np.array([(score == INFEASIBLE) | each for each in ways])


def _offer_told(
    sender: AgentId, content: Proposals, view: View, settings: DsmSettings
) -> Iterator[Told | OneOf]:
    """Yield the ways in which a first offer can have come about; of a later one, what has room.

    A slot with a meeting has plans of its own, which move it, so it is left out only as an errand
    of the same cost would be.
    """
    plans = tuple([(plan.slot, len(plan.moves) + len(plan.vacated)) for plan in content.plans])
    plain = tuple([slot for slot, moves in plans if not moves])
    levels = tuple(levels_of(view))
    can_meet = {slot: view.possible(can_meet=True) for slot in plain}
    ways = None
    is_first = not view.heard(sender, Proposals)
    moved = view.moved if settings.depth else 0
    if is_first and moved is not None and _is_offer(plain, view) and len({*levels}) <= MOST_LEVELS:
        named = frozenset([slot for slot, _ in plans])
        omitted = tuple([Slot(slot) for slot in range(view.num_slots) if slot not in named])
        shape = view.num_slots, len(view.participants) - 1, moved
        ways = _ways(plans, omitted, levels, shape, settings)
    if ways is None:
        yield Told(sender, can_meet)
        return
    yield OneOf(sender, plain + omitted, ways, can_meet)
    nothing = (0.0,) * len(levels)
    held = sorted(named.difference(plain))
    yield Told(sender, dict.fromkeys(held, nothing), dict.fromkeys(held, 1.0))


def _is_offer(plain: Sequence[Slot], view: View) -> bool:
    """Whether slots are some of the calendar's, each once, as the rules have it."""
    return 0 < len(plain) == len({*plain}) and all(0 <= slot < view.num_slots for slot in plain)


@lru_cache(maxsize=256)
def _ways(
    plans: Plans,
    omitted: tuple[Slot, ...],
    levels: tuple[int, ...],
    shape: tuple[int, int, int],
    settings: DsmSettings,
) -> NDArray[np.bool_] | None:
    """Return the ways in which an offer can have come about: see ``OneOf``.

    Scores descend, and slots ascend among equal ones. What a plan that moves meetings costs is
    known, as each of them costs the same.

    Args:
        plans: of the offer, in its order.
        omitted: slots that no plan is for.
        levels: the score of each cell.
        shape: slots of the calendar, who are to answer the offer, and what moving a meeting costs.
        settings: of the protocol.

    Returns:
        Of shape (ways, slots, cells + 1), the slots of plans that move nothing first; ``None`` if
        there is none.
    """
    num_slots, num_responders, moved = shape
    scale = tuple(sorted({level for level in levels if level}, reverse=True))
    # A slot with a meeting has no plan that moves nothing.
    is_score = np.array([[*[level == score for level in levels], False] for score in scale])
    is_after = (np.array(omitted, dtype=int) > plans[-1][0]).astype(int)
    by_meeting = satisfaction(moved) if settings.depth else INFEASIBLE
    size, found = sum(not moves for _, moves in plans), []
    for ends in combinations_with_replacement(range(size + 1), len(scale) - 1):
        groups = pairwise([0, *ends, size])
        places = [place for place, (at, end) in enumerate(groups) for _ in range(end - at)]
        scores = _scores(plans, [scale[place] for place in places], moved)
        order = [(-score, slot) for score, (slot, _) in zip(scores, plans, strict=True)]
        if order != sorted(order):
            continue
        rest = tuple(sorted({*scale, by_meeting} - {INFEASIBLE})) if omitted else ()
        left = _greatest_left(scores, rest, len(omitted), num_slots, num_responders, settings)
        if left is not None:
            left_out = _leaves_out((*levels, by_meeting), left, scores[-1])
            found.append(np.concatenate([is_score[places], left_out[is_after]]))
    return np.array(found) if found else None


def _scores(plans: Plans, of_plain: Sequence[int], moved: int) -> tuple[int, ...]:
    """Return the scores of plans, by those of the ones that move nothing."""
    plain = iter(of_plain)
    return tuple([satisfaction(moves * moved) if moves else next(plain) for _, moves in plans])


@lru_cache(maxsize=4096)
def _greatest_left(
    scores: tuple[int, ...],
    rest: tuple[int, ...],
    num_omitted: int,
    num_slots: int,
    num_responders: int,
    settings: DsmSettings,
) -> int | None:
    """Return the greatest score with which plans may be left after such an offer; 0 for none.

    ``None`` if an offer of these plans would have been shorter.

    Args:
        scores: of the plans that are offered.
        rest: that others can have, ascending.
        num_omitted: slots that no plan is for.
        num_slots: of the calendar.
        num_responders: who are to answer it.
        settings: of the protocol.
    """
    best: int | None = None
    free = sum(score == FREE for score in scores)
    for level in (0, *rest):
        if level > scores[-1]:
            continue
        left = [level] if level else []
        plans = [Plan(Slot(0), 0, score) for score in (*scores, *left)]
        # Free slots that are left out count for q; how many there are is not known.
        numbers = range(1, num_omitted + 1) if level == FREE else range(1)
        shares = [(free + number) / num_slots for number in numbers]
        qs = [joint_feasibility_of(share, num_responders) for share in shares]
        if any(offer_size(plans, q, settings) == len(scores) for q in qs):
            best = level
    return best
