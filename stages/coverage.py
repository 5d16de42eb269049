"""How often intervals hold the truth, on suites drawn from our own games -> data/coverage.

No stage of the pipeline, since it takes minutes: run it by hand, ``make coverage``, when rules of
intervals change, or games. It reads the facts that the pipeline made. The scenarios of a team are
a population whose means are known; suites are drawn from it with replacement, and their intervals
made by the code that makes every table.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.measures import BOUNDS, MEASURES, measured_values
from calbench.console import progress
from calbench.domain.randomness import derived_seed
from calbench.facts.storage import Facts
from calbench.files import write_atomically
from calbench.metrics.speech.own_slot import NAMES as LABELS
from calbench.stats.intervals import BOUND, NONE, T, Bounds, Ends, Sample, difference_of, ends_of
from calbench.stats.intervals import sample_of
from calbench.stats.spec import DEFAULT_ANALYSIS
from calbench.stats.sums import Floats, Ints, Sums
from stages import paths

FOLDER = paths.DATA / "coverage"
POOLS, CELLS, KINDS = (FOLDER / f"{name}.csv" for name in ("pools", "coverage", "kinds"))

SIZES = (2, 3, 4, 5, 6, 7, 8, 15, 45)
"""Numbers of scenarios in published tables."""

DRAWS = 10_000
"""Suites of each size from each pool [C]."""

PROTOCOLS, SPEECH = "reproduction", "language"
"""Experiments: five draws of both canonical suites; scripted speakers on one."""

TEAMS = ["setting", "team"]

SHARES: Mapping[str, str] = {
    "full_regret": "seats",
    "full_positive_regret": "seats",
    "meetings_scheduled": "meetings",
    "optimum_unreachable": "games",
    **dict.fromkeys((*LABELS, "semantic_label_leakage"), "messages"),
}
"""Shares by what they are of."""

PARTS = ("slot_choice", "avoidable_moves", "failed_rounds")
"""Of excess cost, over games."""
