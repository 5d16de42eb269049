"""The pool: what each of many scenarios adds to the means of Table 2, kept in one file.

``make predictive`` makes it from games on scenarios of its own, and the comparison with the paper
draws suites from it. It is no table of the site: its unit is a scenario of one team.
"""

import io
import lzma
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from calbench.analysis.measures import HEADLINE, MEASURE_BY_NAME
from calbench.errors import FileError
from calbench.facts.columns import columns
from calbench.files import unpacked_lzma

POOL = "pool.csv.xz"
"""The file in the folder of the pool."""

AS_RELEASED: Mapping[str, str] = {
    "excess_cost": "excess", "messages": "messages", "fairness": "fairness",
}  # fmt: skip
"""Measures of Table 2 that the authors' release takes in its own way, and their names there [R]."""

PLACE = ["experiment", "setting", "team", "scenario"]

COLUMNS = columns(
    """
    experiment (text): experiment whose team and limits play
    setting team
    scenario (count): number of the scenario in its setting, from 0; the same for all teams
    tertile (text; P): difficulty by feasible fraction
    sums
    """,
    sums=(
        column
        for each in map(MEASURE_BY_NAME.__getitem__, HEADLINE)
        for column in columns(f"""
    {each.name} (fine, {each.unit}; R): its sum over agents, as the authors' release measures
    {each.name}_n (count, agent-games): in this sum
    """)
    ),
)
"""Of a row: one scenario, played by one team."""


def unpacked(path: Path, packed: bytes) -> pd.DataFrame:
    """Return the rows of a pool from what its file holds.

    Raises:
        FileError: naming the file, if it is no pool.
    """
    try:
        lines = io.BytesIO(unpacked_lzma(packed))
        return pd.read_csv(lines, usecols=list(_TYPES), dtype=_TYPES)
    except (lzma.LZMAError, ValueError) as error:
        raise FileError(f"{path}: does not read as a pool; make it again") from error


_TYPES: Mapping[str, str] = {
    column.name: {"integer": "int64", "number": "float64"}.get(column.kind, "str")
    for column in COLUMNS
}
