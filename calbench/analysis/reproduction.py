"""Our draws of the canonical suites beside what others published for the paper's Table 2."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import pandas as pd

from calbench.analysis.summary import EXPERIMENT, Runs, RunTables, summary
from calbench.errors import FileError
from calbench.facts.columns import SETTING, TEAM, count, number, text
from calbench.facts.frames import rounded

HEADLINE = ("coordination", "excess_cost", "messages", "fairness", "excess_vps")
"""The measures of the paper's Table 2, in its order."""

ENDS = ("fairness_least", "fairness_greatest")

TIES = "fairness_over_ties"
"""Fairness against whichever optimal schedule: a range of its own, beside the measures."""

DRAW = re.compile(r"(.+)-seed([0-9]+)")
"""A setting that is one of several draws of a suite."""
