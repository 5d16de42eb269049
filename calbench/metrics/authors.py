"""A game in the measures of the authors' release, which gave the paper's Table 2 [R].

They differ from ours in three ways: what an agent paid is compared with a best schedule that is
*played* (:mod:`calbench.oracle.replayed`), less than nothing counts as nothing in the excess and as
it is in fairness, and an agent without a scheduled meeting keeps its messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from calbench.domain.ids import MeetingId
from calbench.metrics.costs import fairness
from calbench.metrics.game import GameScore
from calbench.oracle.programme import MOST_EXACT_MEETINGS
from calbench.oracle.replayed import Burden, Replayed, replayed
from calbench.scenarios.models import Scenario


@dataclass(frozen=True, slots=True)
class AuthorsScore:
    """A game's means over its agents; a team's are the plain means of these.

    Attributes:
        excess: of ``max(0, D)``, D = paid - burden, accounting cost.
        excess_least: over all best schedules.
        excess_greatest: over all best schedules.
        excess_mean: over all best schedules, each with the same chance.
        fairness: of ``|D - mean D|``.
        fairness_least: over all best schedules; likewise the next two.
        fairness_greatest: see there.
        fairness_mean: see there.
        burden: of all agents together.
        messages: of ``messages / max(1, scheduled)``.
        is_sampled: whether there are, or may be, best schedules that were not played.
    """

    excess: float
    excess_least: float
    excess_greatest: float
    excess_mean: float
    fairness: float
    fairness_least: float
    fairness_greatest: float
    fairness_mean: float
    burden: int
    messages: float
    is_sampled: bool


def authors_score(score: GameScore, scenario: Scenario) -> AuthorsScore | None:
    """Return a game in the release's measures.

    Args:
        score: of the game.
        scenario: of the game.

    Returns:
        ``None`` where they are not defined, with prior meetings, and beyond 14 meetings, where best
        schedules are too many.
    """
    found = _burdens(score, scenario)
    if found is None:
        return None
    paid = [agent.cost for agent in score.agents]
    weight = sum(count for _, count in found.schedules)
    every = [(*_against(paid, burden), count) for burden, count in found.schedules]
    excess, gap = _against(paid, found.burden)
    return AuthorsScore(
        excess=excess,
        excess_least=min(each for each, _, _ in every),
        excess_greatest=max(each for each, _, _ in every),
        excess_mean=sum(each * count for each, _, count in every) / weight,
        fairness=gap,
        fairness_least=min(each for _, each, _ in every),
        fairness_greatest=max(each for _, each, _ in every),
        fairness_mean=sum(each * count for _, each, count in every) / weight,
        burden=sum(found.burden),
        messages=fmean(agent.messages_sent / max(1, agent.scheduled) for agent in score.agents),
        is_sampled=found.is_sample,
    )


RATED_MARGINS = 5
"""Margins of excess beyond which the release's ratings tell nothing apart [R]."""


def excess_in_margins(score: GameScore, scenario: Scenario) -> tuple[float, ...] | None:
    """Return what the release's ratings compare: each agent's max(0, D) in margins, at most 5 [R].

    A margin is an accounting cost of 1 where all errands cost the same, else of 2.

    Args:
        score: of the game.
        scenario: of the game.

    Returns:
        By agent; ``None`` where :func:`authors_score` is not defined.
    """
    found = _burdens(score, scenario)
    if found is None:
        return None
    costs = {cost for own in scenario.problem.errand_costs for cost in own if cost is not None}
    margin = 1 if len(costs) < 2 else 2
    gaps = (agent.cost - best for agent, best in zip(score.agents, found.burden, strict=True))
    return tuple(min(max(0, gap) / margin, RATED_MARGINS) for gap in gaps)


def _burdens(score: GameScore, scenario: Scenario) -> Replayed | None:
    """Return the burdens of the meetings that were scheduled, where they are defined."""
    problem = scenario.problem
    if problem.prior_meetings or len(problem.meetings) > MOST_EXACT_MEETINGS:
        return None
    done = [MeetingId(each.meeting_id) for each in score.meetings if each.is_scheduled]
    return replayed(problem.restricted(done), scenario.seed)


def _against(paid: Sequence[int], burden: Burden) -> tuple[float, float]:
    """Return excess and fairness against one burden."""
    gaps = [cost - best for cost, best in zip(paid, burden, strict=True)]
    return fmean(max(0, gap) for gap in gaps), fairness(gaps)
