"""The page on assistants of several sizes: does a larger model place more, pay less, tell less?"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from calbench.metrics.speech.cases import EXAMPLE_REPEATED, OTHER_SLOT
from calbench.report.experiment import Experiment, Setting
from calbench.report.pages.language import recorded
from calbench.report.pages.page import Content
from calbench.report.site import Site, settings_of
from calbench.report.tables import Row

FAILURES: Mapping[str, str] = {
    EXAMPLE_REPEATED: "A message repeats the example of its prompt, with some slot",
    OTHER_SLOT: "A batch is in another slot than its author agreed to last",
    "unilateral_displacement": "A placed meeting is moved by some of its participants alone",
    "ambiguous_consensus": "Participants end with different slots",
}
"""Patterns of failure in talk, in words, by the name of their case."""

COMPARED = ("coordination", "adjusted_excess_cost", "fairness", "messages", "bits")
"""Measures in which sizes are compared."""


def content(site: Site) -> Content | None:
    """Return what models of several sizes did on the same games; no page without them."""
    shown = site.on("delegates")
    if not shown:
        return None
    sizes = site.parameters
    main = next(iter(settings_of(shown)))
    counted = site.with_kinds(main.counted)
    alone = [row for row in counted if _is_alone(main, row["team"])]
    among = [row for row in counted if row not in alone]
    others = [row["team"] for row in alone if row["team"] not in sizes]
    rows = sorted(
        ({**row, "parameters": sizes.get(row["team"])} for row in alone),
        key=lambda row: (row["parameters"] is None, -(row["parameters"] or 0)),
    )
    return Content(
        {
            **recorded(site, shown),
            "main": main,
            "rows": rows,
            "models": [
                row
                for row in site.published.optional("models.csv")
                if {each["team"] for each in rows} & set(row["players"])
            ],
            "pairs": _pairs(main, [row["team"] for row in rows], sizes),
            "among": among,
            "among_pairs": _pairs(
                main, [*(row["team"] for row in among), *others], [row["team"] for row in among]
            ),
            "failures": list(_failures(site, shown)),
            "examples": list(_examples(site, main, sizes)),
        }
    )


def _is_alone(setting: Setting, team: str) -> bool:
    """Return whether one player, of the team's name, has every seat."""
    rows = setting.rows("players.csv")
    return any(row["player"] == team and team in row["teams"] for row in rows)


def _pairs(setting: Setting, teams: Sequence[str], models: Collection[str]) -> dict[str, list[Row]]:
    """Return by measure the differences that a model is part of, in the order of teams."""
    places = {team: place for place, team in enumerate(teams)}
    found = [
        row
        for row in setting.rows("comparisons.csv")
        if {row["team_a"], row["team_b"]} <= places.keys()
        and not {row["team_a"], row["team_b"]}.isdisjoint(models)
    ]
    found.sort(key=lambda row: sorted([places[row["team_a"]], places[row["team_b"]]]))
    return {
        name: rows
        for name in COMPARED
        if (rows := [row for row in found if row["measure"] == name])
    }


def _failures(site: Site, shown: Sequence[Experiment]) -> Iterator[Row]:
    """Yield how often teams show each pattern of failure, with a game of each."""
    for each in shown:
        rows = each.tables.optional("audit_cases.csv")
        for name, words in FAILURES.items():
            for row in rows:
                if row["name"] == name:
                    linked = site.links.to_event({**row, "experiment": each.name})
                    yield {**linked, "words": words, "title": each.title}


def _examples(site: Site, setting: Setting, sizes: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the best, the typical and the worst game of every model in every seat."""
    for row in setting.rows("typical_games.csv"):
        if row["team"] in sizes:
            place = setting.experiment.name, row["team"], row["scenario_id"]
            yield {**row, "address": site.links.address(*place)}
