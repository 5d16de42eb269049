"""In every table: an interval has a width, and where there is none a word says why."""

from pathlib import Path

import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables import tables_of
from calbench.facts.games import SCORES
from calbench.stats.intervals import BOUND, KINDS, NONE, T
from tests.analysis.tables.sample import SPEC, TEAMS, played
from tests.facts.measured import facts_of_games, table_rows

ENDING = "_interval"


@pytest.mark.heavy
def test_no_interval_of_any_table_is_a_point(tmp_path: Path) -> None:
    facts = facts_of_games(tmp_path, played(), TEAMS, SCORES)
    found = set()
    for table in tables_of(facts):
        names = [column.name for column in table.columns if column.name.endswith(ENDING)]
        for row in table_rows(facts, table.path, Settings(analysis=SPEC)) if names else ():
            for name in (each.removesuffix(ENDING) for each in names):
                value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
                kind = row[f"{name}{ENDING}"]
                found.add(kind)
                assert bool(low) == bool(high) == (kind in {T, BOUND}), (table.path, row)
                assert value or kind == NONE, (table.path, row)
                assert not low or float(low) < float(high), (table.path, row)
                assert not low or float(low) <= float(value) <= float(high), (table.path, row)
    assert {T, BOUND} < found <= set(KINDS)
