"""How hard tests try: a part of their examples in the fast suite, all of them in a thorough run."""

import os

from hypothesis import HealthCheck, settings

THOROUGH = os.environ.get("CALBENCH_THOROUGH") == "1"
"""Set by `make nightly`, which repeats every law with all its examples."""


GUARD_S = 900
"""Seconds after which a process or a call hangs, on a busy machine too: a guard, no measure."""


def examples(count: int, nightly: int | None = None) -> int:
    """Return how many of so many examples to draw now; nightly it may be a law at another size."""
    return (nightly or count) if THOROUGH else max(10, count // 4)


CAMPAIGN = float(os.environ.get("CALBENCH_CAMPAIGN", "1" if THOROUGH else "0.1"))
"""How much of each campaign to play: a tenth on a push, all of it every night [C]."""


def attacks(count: int) -> int:
    """Return how many attacks of a campaign to play, of which a whole one has so many."""
    return max(1, round(count * CAMPAIGN))


# The same examples in every run: a failure belongs to a change, not to a machine's mood.
settings.register_profile(
    "calbench",
    deadline=None,
    derandomize=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],  # it measures time
)
