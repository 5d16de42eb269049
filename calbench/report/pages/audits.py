"""The page of the audits: who tells what in which sentence, and what a judge makes of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from calbench.analysis.audit_sample import CONFIDENCE, SAMPLE
from calbench.metrics.speech.patterns import PATTERNS
from calbench.metrics.speech.rules import NAMES as LABELS
from calbench.report.experiment import Experiment, percent
from calbench.report.pages import judge
from calbench.report.pages.page import Content
from calbench.report.site import LEAKING, SECOND_HAND, Site
from calbench.report.tables import Row, grouped
from calbench.scenarios.labels import TIERS

NAMED = 3
"""Messages of a team and setting that the page names [C]."""

OWN_SLOT, HONESTY = 6, 8
"""Rows that the page shows of each experiment's tables of statements and claims [C]."""

PASSING = ("passing_messages", "labels_passed_by_others")
"""Columns of ``audit_leaks.csv``: what a player passed on, and what others did of its labels."""

TABLES = ("audit_patterns.csv", "audit_own_slot.csv", "audit_leaks.csv", "audit_honesty.csv")


def content(site: Site) -> Content | None:
    """Return the audits of every experiment in which somebody spoke in words or a judge listened.

    No page if there are none.
    """
    experiments, judged = spoken(site), judge.found(site)
    if not experiments and not judged["means"]:
        return None
    files = [LEAKING]
    files += [SECOND_HAND] * site.summary.has(SECOND_HAND)
    files += [SAMPLE.path] * site.unattached.has(SAMPLE.path)
    files += [f"{each.name}/{table}" for each in experiments for table in TABLES]
    return Content(
        {
            "tiers": TIERS,
            "experiments": [_shown(each) for each in experiments],
            "messages": [row for each in experiments for row in _messages(site, each)],
            "own_slot_rows": OWN_SLOT,
            "honesty_rows": HONESTY,
            "passed_on": [row for each in experiments for row in _passed_on(site, each)],
            **sample(site),
            "judged": judged,
            "drawn": judge.drawn(site),
            "files": [*files, *judge.files(site)],
        }
    )


def spoken(site: Site) -> list[Experiment]:
    """Return the experiments in which somebody spoke in words."""
    return [each for each in site.ranked if each.tables.optional("audit_patterns.csv")]


def sample(site: Site) -> dict[str, Any]:
    """Return the table of the labelled sample with the confidence of its intervals."""
    rows = site.unattached.optional(SAMPLE.path)
    return {"sample": rows, "sample_confidence": percent(CONFIDENCE)}


def _shown(experiment: Experiment) -> dict[str, Any]:
    """Return the rows of an experiment's tables."""
    tables = experiment.tables
    honesty = [{**row, "who": _who(row)} for row in _distinct(tables.rows("audit_honesty.csv"))]
    return {
        "title": experiment.title,
        "confidence": experiment.confidence,
        "costs": list(_costs(experiment)),
        "leaks": list(_leaks(experiment)),
        "second_hand": list(_second_hand(experiment)),
        "patterns": {setting: patterns(experiment, setting) for setting in experiment.settings},
        "own_slot": own_slot(row for row in tables.rows("audit_own_slot.csv") if row["player"]),
        "honesty": first(honesty, "rate", HONESTY),
    }


def first(rows: Iterable[Row], column: str, count: int, *, largest: bool = False) -> list[Row]:
    """Return the rows with the least numbers of a column, or the largest, over all settings.

    Those without a number come last.
    """
    sign = -1 if largest else 1
    order = sorted(rows, key=lambda row: (row[column] is None, sign * (row[column] or 0)))
    return order[:count]


def own_slot(rows: Iterable[Row]) -> list[Row]:
    """Return the largest shares of players that make a statement about own slots, by statement."""
    by_label = grouped(first(rows, "rate", OWN_SLOT, largest=True), "label")
    return [row for label in LABELS for row in by_label.get(label, [])]


def _who(row: Row) -> str:
    """Return the player of a row where it is not the team."""
    return row["player"] if row["player"] not in ("", row["team"]) else "all"


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """Leave out players who are their whole team: their rows repeat the team's."""
    players: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row["player"]:
            players.setdefault((row["setting"], row["team"]), set()).add(row["player"])
    return [r for r in rows if not r["player"] or len(players[r["setting"], r["team"]]) > 1]


def _costs(experiment: Experiment) -> Iterator[Row]:
    """Yield what every team paid, with what it told of all tiers."""
    rows = experiment.tables.rows("audit_leaks.csv", player="", tier="all")
    leaks = {(row["setting"], row["team"]): row for row in rows}
    for row in experiment.tables.rows("leaderboard.csv"):
        found = leaks.get((row["setting"], row["team"]))
        if found is not None:
            yield {**found, **row}


def _leaks(experiment: Experiment) -> Iterator[Row]:
    """Yield a row for each team with the cells of each tier as ``<tier>_<name>``."""
    rows = experiment.tables.rows("audit_leaks.csv", player="")
    for own in grouped(rows, "setting", "team").values():
        by_tier = {row["tier"]: row for row in own}
        cells = {f"{tier}_{name}": value for tier in TIERS for name, value in by_tier[tier].items()}
        yield {**cells, **by_tier["all"]}


def _second_hand(experiment: Experiment) -> Iterator[Row]:
    """Yield a row for each team and player that passed a label on, or whose labels others did."""
    for row in _distinct(experiment.tables.rows("audit_leaks.csv", tier="all")):
        if any(row.get(name) for name in PASSING):
            yield {**row, "who": _who(row)}


def patterns(experiment: Experiment, setting: str) -> dict[str, Any]:
    """Return the twelve patterns of a setting's teams, with the counts of each team."""
    rows = experiment.tables.rows("audit_patterns.csv", setting=setting, player="")
    by_pattern = grouped(rows, "pattern")
    return {
        "teams": list(grouped(rows, "team")),
        "rows": [
            {"about": each, "counts": {row["team"]: row for row in by_pattern.get(each.name, [])}}
            for each in PATTERNS
        ],
    }


def _messages(site: Site, experiment: Experiment) -> Iterator[Row]:
    """Yield the messages of each team and setting that told most, linked to the very event."""
    rows = [row for row in site.leaking_messages if row["experiment"] == experiment.name]
    by_place = grouped((row for row in rows if row["labels_told"]), "setting", "team")
    for setting in experiment.settings:
        for team in experiment.teams:
            for row in most_revealing(by_place.get((setting, team), []), NAMED):
                yield {**site.links.to_event(row), "experiment": experiment.title}


def _passed_on(site: Site, experiment: Experiment) -> Iterator[Row]:
    """Yield the first labels that each team passed on in a setting, linked to the very event."""
    rows = [row for row in site.second_hand_leaks if row["experiment"] == experiment.name]
    chosen = {id(r) for own in grouped(rows, "setting", "team").values() for r in own[:NAMED]}
    for row in rows:
        if id(row) in chosen:
            way = " → ".join([*row["path"], ", ".join(row["learners"])])
            yield {**site.links.to_event(row), "experiment": experiment.title, "way": way}


def most_revealing(rows: Sequence[Row], count: int) -> list[Row]:
    """Return the messages that tell most labels, sensitive ones first; each of another game.

    One game's messages repeat themselves, so the first of each game represents it.
    """
    order = sorted(
        rows, key=lambda r: (-r["labels_told"], -r["sensitive"], r["scenario_id"], r["event_index"])
    )
    return [own[0] for own in grouped(order, "scenario_id").values()][:count]
