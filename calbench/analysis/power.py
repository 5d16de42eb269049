"""How small a gap a suite can tell from none, and how large a suite would have to be.

Both follow from the spread of the paired differences, taken as normal, under a two-sided
paired t-test: its power comes from the noncentral t distribution [C].
"""

from functools import lru_cache
from math import ceil, isnan, sqrt

from calbench.analysis.spec import AnalysisSpec

NORMAL_FROM = 500
"""From so many scenarios on, the normal distribution replaces t: closer than a table's digits."""

FEWEST_SCENARIOS = 3
"""Below it a suite resolves nothing: with one degree of freedom, t has no mean [C]."""


def resolvable_gap(spread: float, num_scenarios: int, spec: AnalysisSpec) -> float | None:
    """Return the smallest true difference that the test finds with ``spec.power``.

    Args:
        spread: standard deviation of the paired differences over scenarios.
        num_scenarios: how many scenarios the suite has.
        spec: power, and confidence: one less the level of the test.

    Returns:
        In the unit of the differences; ``None`` below three scenarios.
    """
    if num_scenarios < FEWEST_SCENARIOS:
        return None
    level = 1 - spec.confidence
    return noncentrality(num_scenarios, level, spec.power) * spread / sqrt(num_scenarios)


def scenarios_needed(difference: float, spread: float, spec: AnalysisSpec) -> int | None:
    """Return the fewest scenarios with which a suite resolves a gap of this size.

    Returns:
        Their whole number, three at least; ``None`` for a difference of zero, which no suite
        resolves.
    """
    if difference == 0:
        return None
    level = 1 - spec.confidence
    ratio = (spread / abs(difference)) ** 2
    needed = max(FEWEST_SCENARIOS, ceil(noncentrality(NORMAL_FROM, level, spec.power) ** 2 * ratio))
    # The t distribution asks for a few more than the normal, never for fewer.
    while noncentrality(needed, level, spec.power) ** 2 * ratio > needed:
        needed += 1
    return needed


@lru_cache(maxsize=4096)
def noncentrality(num_scenarios: int, level: float, power: float) -> float:
    """Return how many standard errors a true difference must have to be found.

    Args:
        num_scenarios: three at least.
        level: of the two-sided test.
        power: share of suites in which it is found.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, norm, t

    if num_scenarios >= NORMAL_FROM:
        return float(norm.isf(level / 2) + norm.ppf(power))
    freedom = num_scenarios - 1
    limit = t.isf(level / 2, freedom)

    def excess_power(shift: float) -> float:
        wrong_side = nct.cdf(-limit, freedom, shift)  # scipy gives no number for next to nothing
        found = nct.sf(limit, freedom, shift) + (0.0 if isnan(wrong_side) else wrong_side)
        return float(found - power)

    return float(brentq(excess_power, 0.0, 10 * limit, xtol=1e-10))
