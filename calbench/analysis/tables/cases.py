"""One case of everything that the audits find in games of agents that use language."""

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.cases import CASES
from calbench.facts.columns import SCENARIO, SETTING, TEAM, chosen, count
from calbench.facts.storage import Facts
from calbench.metrics.speech.cases import NAMES_BY_KIND

_KEY = ["setting", "team", "kind", "name"]
_PLACES = {
    each: place
    for place, each in enumerate((kind, n) for kind, names in NAMES_BY_KIND.items() for n in names)
}


@table(
    "audit_cases.csv",
    (
        SETTING,
        TEAM,
        *chosen(CASES.columns, "kind name"),
        count("games", "games", "scored games with a case"),
        *chosen(CASES.columns, "found plain"),
        SCENARIO,
        *chosen(CASES.columns, "event_index round agents"),
    ),
    key="setting team kind name",
    needs="cases",
)
def audit_cases(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """How often each pattern, outcome, tier and statement was found, and the first plain case.

    The case is of the first scenario by its id that has a plain one, else of the first that has
    one; of a team's several games on it, of the first.
    """
    names = ("setting", "team_place", "team", "scenario_id", "replicate")
    rows = facts.of_games("cases", names)
    place = [_PLACES[each] for each in zip(rows["kind"], rows["name"], strict=True)]
    rows = rows.assign(place=place, is_plain=rows["plain"] > 0)
    groups = rows.groupby(_KEY)
    sums = groups[["found", "plain"]].sum().assign(games=groups.size()).reset_index()
    ordered = rows.sort_values(
        ["is_plain", "scenario_id", "replicate"], ascending=[False, True, True], kind="stable"
    )
    shown = ordered.drop_duplicates(_KEY).drop(columns=["found", "plain"])
    found = shown.merge(sums, on=_KEY)
    return found.sort_values(["setting", "team_place", "place"], kind="stable")
