"""The page of probing agents: what they learn, beside the same team without them."""

from collections.abc import Callable, Mapping
from typing import Any

from calbench.analysis.tables.speech import PROBED
from calbench.report.experiment import Experiment, confidence_of, level_of
from calbench.report.pages import audits
from calbench.report.pages.board.comparisons import would_be_found
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

EFFECTS = "probe_effects.csv"
LABELS = "probe_labels.csv"

MEASURES: Mapping[str, str] = {measure.name: measure.title for measure in PROBED}
"""Titles of measures by name."""

TOLD: Mapping[str, Callable[[Row], bool]] = {
    "labels_to_prober": lambda _: True,
    "sensitive_labels_to_prober": lambda row: row["tier"] == "sensitive",
    "second_hand_to_prober": lambda row: row["is_second_hand"],
}
"""Which labels that a prober learns are counted by a measure, of those that have messages."""

SCRIPTED = "scripted"
"""Kind of players that are code."""

SAID = 3
"""Messages of a team and setting that the page names [C]."""


def content(site: Site) -> Content | None:
    """Return what probing changed in every experiment with teams that probe, and teams beside them.

    No page if there is none.
    """
    shown = [each for each in site.experiments if each.tables.optional(EFFECTS)]
    if not shown:
        return None
    return Content(
        {
            "experiments": [_shown(site, each) for each in shown],
            "is_scripted": all(_is_scripted(each) for each in shown),
            "confidence": confidence_of(shown),
            "level": level_of(shown),
            "files": [
                f"{each.name}/{name}"
                for each in shown
                for name in (EFFECTS, LABELS, "leaderboard.csv", "audit_patterns.csv")
            ],
        }
    )


def _shown(site: Site, experiment: Experiment) -> dict[str, Any]:
    """Return the effects on each team of an experiment, and messages that told the prober."""
    rows = experiment.tables.rows(EFFECTS)
    told = _told(site, experiment)
    return {
        "title": experiment.title,
        "name": experiment.name,
        "note": experiment.shown_note,
        "teams": {
            team: {
                "without": own[0]["team_without"],
                "rows": [_linked(site, row, told) for row in own],
            }
            for team, own in grouped(rows, "team").items()
        },
        "messages": _first(site, told),
        "patterns": {
            setting: audits.patterns(experiment, setting) for setting in experiment.settings
        },
    }


def _is_scripted(experiment: Experiment) -> bool:
    """Whether only scripted speakers play it."""
    rows = experiment.tables.optional("players.csv")
    return all(row["kind"] == SCRIPTED for row in rows)


def _told(site: Site, experiment: Experiment) -> list[Row]:
    """Return the labels that probers learn, in games that the trace browser has."""
    return [
        {**row, "experiment": experiment.name}
        for row in experiment.tables.optional(LABELS)
        if site.links.has(experiment.name, row["team"], row["scenario_id"])
    ]


def _linked(site: Site, row: Row, told: list[Row]) -> Row:
    """Return an effect in words, linked to the first message that its number counts."""
    counts = TOLD.get(row["measure"])
    first = next((each for each in told if counts and _is_of(each, row) and counts(each)), None)
    link = {"address": "", "event": ""} if first is None else site.links.to_event(first)
    remark = f", {row['remark']}" if row["remark"] else ""
    return {
        **row,
        "named": MEASURES[row["measure"]],
        "said": f"{row['verdict']}{remark}{would_be_found(row)}",
        "address": link["address"],
        "event": link["event"],
    }


def _is_of(told: Row, row: Row) -> bool:
    return (told["setting"], told["team"]) == (row["setting"], row["team"])


def _first(site: Site, told: list[Row]) -> list[Row]:
    """Return the first labels told in each setting and team: one of a game, second-hand before."""
    order = sorted(told, key=lambda row: not row["is_second_hand"])
    places = grouped(order, "setting", "team")
    return [
        {**site.links.to_event(own[0]), "hand": "second" if own[0]["is_second_hand"] else "first"}
        for place in sorted(places)
        for own in [*grouped(places[place], "scenario_id").values()][:SAID]
    ]
