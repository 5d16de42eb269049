"""The pages of agents that use language: scripted speakers, also such as err, and a small model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calbench.analysis.summary.runs import conditions
from calbench.facts.beliefs import MAGNITUDES
from calbench.metrics.outcomes import OUTCOMES
from calbench.metrics.speech.cases import OUTCOMES as PLAYED
from calbench.metrics.usage import PROBLEMS
from calbench.report.experiment import BASELINES, Experiment, Setting, confidence_of
from calbench.report.figures.plane import COST, FAIRNESS
from calbench.report.figures.plane import planes as planes_of
from calbench.report.pages.page import Content
from calbench.report.role import SETTINGS
from calbench.report.site import Site, settings_of
from calbench.report.tables import Row

CASES = "audit_first_cases.csv"
CALIBRATION = "privacy/reflection_calibration.csv"
CHANCES = "privacy/stated_chances.csv"


TITLES: Mapping[str, str] = {
    "pattern": "Patterns of behaviour",
    "outcome": "Outcomes of meetings",
    "leak": "Private labels told, and labels of others passed on",
    "statement": "Statements about own slots",
    "limit": "Limits run into",
}
"""Kinds of cases, as captions name them."""


def content(site: Site) -> Content | None:
    """Return what scripted speakers did in each channel, and the protocols on their scenarios."""
    shown = site.on("language")
    if not shown:
        return None
    planes = [_plane(site, each) for each in settings_of(shown[:1])]
    return Content(
        {**spoken(site, shown), "planes": planes, "confidence": confidence_of(shown)},
        figures=[figure for each in planes for figure in each["figures"]],
    )


def cohort(site: Site) -> Content | None:
    """Return what became of a recorded model's meetings, and how its replies were read."""
    shown = site.on("smollm2")
    return Content(recorded(site, shown)) if shown else None


def recorded(site: Site, shown: Sequence[Experiment]) -> dict[str, Any]:
    """Return what the pages of recorded models have in common."""
    titles = {each.title for each in shown}
    every = site.published.optional("recordings.csv")
    return {
        **spoken(site, shown),
        "outcomes": [
            {**row, "title": each.experiment.title}
            for each in settings_of(shown)
            for row in site.with_kinds(each.rows("outcomes.csv"))
        ],
        "outcome_names": OUTCOMES,
        "phases": list(_rows(shown, "answers_by_phase.csv")),
        "recordings": [row for row in every if row["experiment"] in titles],
    }


def erring(site: Site) -> Content | None:
    """Return what speakers that err did, with a link to one case of everything; or no page."""
    shown = site.on("erring")
    if not shown:
        return None
    drawn = [_fairness(site, each) for each in settings_of(shown)]
    return Content(
        {
            **spoken(site, shown),
            "outcomes": [
                (each, site.with_kinds(each.rows("outcomes.csv"))) for each in settings_of(shown)
            ],
            "outcome_names": PLAYED,
            "planes": drawn,
            "cases": [(title, _cases(site, shown, kind)) for kind, title in TITLES.items()],
            "confidence": confidence_of(shown),
        },
        figures=[figure for each in drawn for figure in each["figures"]],
    )


def spoken(site: Site, shown: Sequence[Experiment]) -> dict[str, Any]:
    """Return what the pages of agents that use language have in common.

    Every row names its experiment's ``channel`` in words.
    """
    channels = [
        {
            "experiment": each,
            "title": channel_of(each).capitalize(),
            "settings": [(own, site.with_kinds(own.counted)) for own in settings_of([each])],
            "players": _players(each),
        }
        for each in shown
    ]
    return {
        "channels": channels,
        "calibration": _of_games(shown, CALIBRATION),
        "baselines": _of_games(shown, BASELINES),
        "chances": list(_rows(shown, CHANCES)),
        "magnitudes": MAGNITUDES,
        "replies": list(_rows(shown, "reply_outcomes.csv")),
        "reply_counts": ["replies", "read", "recovered", *PROBLEMS],
        "usage": list(_rows(shown, "usage.csv")),
        "browsed": [each for each in shown if each.role.games],
        "tables": [f"{each.name}/{name}" for each in shown for name in _tables(each)],
    }


def channel_of(experiment: Experiment) -> str:
    """Return who hears a message, in words (standings.csv)."""
    rows = experiment.tables.rows("standings.csv")
    return (
        conditions(" ".join(rows[0]["channels"]), rows[0]["limits"]) if rows else experiment.title
    )


def _rows(shown: Sequence[Experiment], name: str) -> Iterator[Row]:
    for each in shown:
        channel = channel_of(each)
        for row in each.tables.optional(name):
            yield {**row, "channel": channel, "title": each.title}


def _of_games(shown: Sequence[Experiment], name: str) -> list[Row]:
    """Return the rows of a table with the games they are of: channel and setting."""
    return [
        {**row, "games_of": f"{row['channel']}, {row['setting']}"} for row in _rows(shown, name)
    ]


def _players(experiment: Experiment) -> list[Row]:
    """Return the measures of every player over all its seats, if one sat in several teams."""
    rows = experiment.tables.rows("players.csv")
    return rows if any(len(row["teams"]) > 1 for row in rows) else []


def _tables(experiment: Experiment) -> list[str]:
    """Return the tables of an experiment that the site has."""
    below = (CALIBRATION, BASELINES, CHANCES)
    found = [name for name in below if experiment.tables.optional(name)]
    return [*experiment.tables.names, *found]


def _plane(site: Site, setting: Setting) -> dict[str, Any]:
    """Return the planes of speakers and of protocols on the same scenarios, which share none."""
    found = [(setting, site.with_kinds(setting.counted))]
    for each in (Setting(own, setting.name) for own in site.on(SETTINGS)):
        if each.suite_digest == setting.suite_digest:
            rows = [row for row in site.with_kinds(each.counted) if row["kind"] == "protocol"]
            found.append((each, rows))
    rows = [row for _, own in found for row in own]
    drawn = [each for each, own in found if own]
    return {
        "name": setting.name,
        "figures": planes_of(
            setting,
            f"speakers and protocols, {setting.name}",
            rows,
            site.styles,
            [each.source("leaderboard.csv") for each in drawn],
            front=site.front(*drawn),
        ),
        "confidence": confidence_of(each.experiment for each in drawn),
        "rows": rows,
    }


def _fairness(site: Site, setting: Setting) -> dict[str, Any]:
    """Return fairness and cost of a setting's teams against what they disclosed."""
    rows = site.with_kinds(setting.counted)
    source, front = [setting.source("leaderboard.csv")], site.front(setting)
    title = f"speakers that err, {setting.name}"
    figures = [
        figure
        for against in (FAIRNESS, COST)
        for figure in planes_of(
            setting, title, rows, site.styles, source, against=against, front=front
        )
    ]
    return {"name": setting.name, "figures": figures, "rows": rows}


def _cases(site: Site, shown: Sequence[Experiment], kind: str) -> list[Row]:
    """Return the cases of a kind, each linked to its event."""
    return [
        site.links.to_event({**row, "experiment": each.name})
        for each in shown
        for row in each.tables.optional(CASES, kind=kind)
    ]
