"""Shares of yes-or-no outcomes: Wilson's interval, and whether two differ (paper, appendix G.5)."""

from typing import NamedTuple

from calbench.stats.spec import AnalysisSpec


class Proportion(NamedTuple):
    """A share of 1 with its Wilson interval, which takes trials as independent of each other.

    Attributes:
        value: successes / trials.
        low: lower end of the interval.
        high: upper end.
    """

    value: float
    low: float
    high: float


def wilson(successes: int, trials: int, spec: AnalysisSpec) -> Proportion | None:
    """Return a share with its interval of ``spec.confidence``; ``None`` without trials."""
    from scipy.stats import binomtest

    if not trials:
        return None
    interval = binomtest(successes, trials).proportion_ci(spec.confidence, method="wilson")
    return Proportion(successes / trials, float(interval.low), float(interval.high))


def fisher_p_value(one: tuple[int, int], other: tuple[int, int]) -> float | None:
    """Return the p-value of two shares being one, by Fisher's exact test.

    Trials that depend on each other make it smaller than it should be: a description, no proof.

    Args:
        one: successes and trials.
        other: the same of another.

    Returns:
        ``None`` where either has no trials.
    """
    from scipy.stats import fisher_exact

    if not one[1] or not other[1]:
        return None
    table = [[successes, trials - successes] for successes, trials in (one, other)]
    return float(fisher_exact(table).pvalue)
