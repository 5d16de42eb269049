"""Satisfaction levels: what a plan is worth to one agent (paper, appendix D.3)."""

NUM_LEVELS = 12
"""D, the number of levels, 0 to 11 [P]."""

INFEASIBLE = 0
"""The level of a plan that cannot be carried out [P]."""

FREE = NUM_LEVELS - 1
"""The level of a plan that moves nothing [P]."""


def satisfaction(cost: int) -> int:
    """Return the level of a feasible plan from what it moves, in shown cost.

    11 less the cost, and never below 1 [P: decreasing with cost; the line is R]. A cost
    below zero, which only a misleading neighbour can name, counts as zero.
    """
    return FREE if cost <= 0 else max(1, FREE - cost)
