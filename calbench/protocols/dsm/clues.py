"""What DSM's messages tell, by its rules (paper, appendix D.3) [C].

Plans are offered by descending own score, then by slot, and the length of an offer is a known
function of them. So an offer says which scores its slots can have, and that every slot left out
either has no room or would have come later.
"""

from collections.abc import Iterator

from calbench.domain.ids import AgentId
from calbench.domain.messages import Message, OfferedPlan, PlanDecision, Proposals, Scores
from calbench.protocols.clues import Best, Clue, Told, View
from calbench.protocols.dsm.scores import FREE, INFEASIBLE, satisfaction
from calbench.protocols.dsm.settings import DsmSettings


def told(message: Message, view: View, settings: DsmSettings) -> Iterator[Clue]:
    """Yield what a message tells a participant; an outsider's own meetings tell it nothing."""
    sender, content = message.sender, message.content
    if sender is None or not view.participants:
        return
    match content:
        case Proposals():
            # NumPy is for measuring; who only plays does not wait for it.
            from calbench.protocols.dsm.readings import offer_told

            yield from offer_told(sender, content, view, settings)
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
