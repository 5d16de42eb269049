"""Shares of yes-or-no outcomes with Wilson's interval (paper, appendix G.5)."""

from dataclasses import dataclass

from calbench.analysis.spec import AnalysisSpec


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of 1 with its Wilson interval.

    The interval takes the trials as independent of each other.

    Attributes:
        value: successes / trials.
        low: lower end of the interval.
        high: upper end.
        trials: the denominator.
    """

    value: float
    low: float
    high: float
    trials: int


def wilson(successes: int, trials: int, spec: AnalysisSpec) -> Proportion | None:
    """Return a share with its interval of ``spec.confidence``; ``None`` without trials."""
    from scipy.stats import binomtest

    if not trials:
        return None
    interval = binomtest(successes, trials).proportion_ci(spec.confidence, method="wilson")
    return Proportion(successes / trials, float(interval.low), float(interval.high), trials)
