"""One case of everything that the audits find in games of agents that use language."""

from collections.abc import Sequence

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.cases import CASES
from calbench.facts.columns import SCENARIO, SETTING, TEAM, chosen, count
from calbench.facts.storage import Facts
from calbench.metrics.speech.cases import NAMES_BY_KIND

_NAMED = chosen(CASES.columns, "kind name")
_COUNTS = (
    count("games", "games", "scored games with a case"),
    *chosen(CASES.columns, "found plain"),
)
_PLACE = (SCENARIO, *chosen(CASES.columns, "event_index round agents"))

_ORDER = {
    each: place
    for place, each in enumerate((kind, n) for kind, names in NAMES_BY_KIND.items() for n in names)
}


@table(
    "audit_cases.csv",
    (SETTING, TEAM, *_NAMED, *_COUNTS, *_PLACE),
    key="setting team kind name",
    needs="cases",
)
def audit_cases(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """How often each pattern, outcome, tier and statement was found, and the first plain case.

    The case is of the first scenario by its id that has a plain one, else of the first that has
    one; of a team's several games on it, of the first.
    """
    found = _first(facts, ["setting", "team", "kind", "name"])
    return found.sort_values(["setting", "team_place", "order"], kind="stable")


@table(
    "audit_first_cases.csv",
    (*_NAMED, *_COUNTS, SETTING, TEAM, *_PLACE),
    key="kind name",
    needs="cases",
)
def audit_first_cases(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Likewise over all settings and teams; of several teams on the scenario, the first's case."""
    return _first(facts, ["kind", "name"]).sort_values("order", kind="stable")


def _first(facts: Facts, groups: Sequence[str]) -> pd.DataFrame:
    """Return a row for each group of cases: the one to show, with the sums of its group."""
    rows = facts.of_games(
        "cases", ("setting", "team_place", "team", "scenario_id", "replicate")
    ).sort_values("game", kind="stable")
    order = [_ORDER[each] for each in zip(rows["kind"], rows["name"], strict=True)]
    rows = rows.assign(order=order, is_plain=rows["plain"] > 0)
    by_group = rows.groupby(list(groups))
    sums = by_group[["found", "plain"]].sum().assign(games=by_group.size()).reset_index()
    shown = rows.sort_values(
        ["is_plain", "scenario_id", "team_place", "replicate"],
        ascending=[False, True, True, True],
        kind="stable",
    ).drop_duplicates(list(groups))
    return shown.drop(columns=["found", "plain"]).merge(sums, on=list(groups))
