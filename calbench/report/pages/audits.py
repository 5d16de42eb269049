"""The page of the audits: who tells what in which sentence, and what a judge makes of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from calbench.analysis.audit_sample import CONFIDENCE, SAMPLE
from calbench.metrics.speech.own_slot import NAMES as LABELS
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.experiment import Experiment, percent
from calbench.report.pages import judge
from calbench.report.pages.page import Content
from calbench.report.pages.said.excerpt import largest, least
from calbench.report.site import LEAKING, SECOND_HAND, Site
from calbench.report.tables import Row
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
    shown = [_shown(each) for each in experiments]
    messages = [row for each in experiments for row in _messages(site, each)]
    return Content(
        {
            "tiers": TIERS,
            "experiments": shown,
            "messages": messages,
            "own_slot_rows": OWN_SLOT,
            "honesty_rows": HONESTY,
            "passed_on": [row for each in experiments for row in _passed_on(site, each)],
            **sample(site),
            "judged": judge.summed_up(judged),
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
    slots = [row for row in experiment.tables.rows("audit_own_slot.csv") if row["player"]]
    honesty = experiment.tables.rows("audit_honesty.csv")
    return {
        "title": experiment.title,
        "confidence": experiment.confidence,
        "costs": list(_costs(experiment)),
        "leaks": list(_leaks(experiment)),
        "second_hand": list(_second_hand(experiment)),
        "patterns": {setting: patterns(experiment, setting) for setting in experiment.settings},
        "own_slot": own_slot(slots),
        "honesty": [
            {**row, "who": _who(row)} for row in least([*_distinct(honesty)], "rate", HONESTY)
        ],
    }


def own_slot(rows: Sequence[Row]) -> list[Row]:
    """Return the largest shares of players that make a statement about own slots, by statement."""
    chosen = largest(rows, "rate", OWN_SLOT)
    return [row for label in LABELS for row in rows if row in chosen and row["label"] == label]


def _who(row: Row) -> str:
    """Return the player of a row where it is not the team."""
    return row["player"] if row["player"] not in ("", row["team"]) else "all"


def _distinct(rows: Sequence[Row]) -> Iterator[Row]:
    """Leave out players who are their whole team: their rows repeat the team's."""
    players: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row["player"]:
            players.setdefault((row["setting"], row["team"]), set()).add(row["player"])
    for row in rows:
        if not row["player"] or len(players[row["setting"], row["team"]]) > 1:
            yield row


def _costs(experiment: Experiment) -> Iterator[Row]:
    """Yield what every team paid, with what it told of all tiers."""
    leaks = {
        (row["setting"], row["team"]): row
        for row in experiment.tables.rows("audit_leaks.csv", player="", tier="all")
    }
    for row in experiment.tables.rows("leaderboard.csv"):
        found = leaks.get((row["setting"], row["team"]))
        if found is not None:
            yield {**found, **row}


def _leaks(experiment: Experiment) -> Iterator[Row]:
    """Yield a row for each team with the cells of each tier as ``<tier>_<name>``."""
    rows = experiment.tables.rows("audit_leaks.csv")
    by_tier = {(row["setting"], row["team"], row["player"], row["tier"]): row for row in rows}
    for row in [row for row in rows if row["tier"] == "all" and not row["player"]]:
        cells = {
            f"{tier}_{name}": cell
            for tier in TIERS
            for name, cell in by_tier[row["setting"], row["team"], row["player"], tier].items()
        }
        yield {**cells, **row}


def _second_hand(experiment: Experiment) -> Iterator[Row]:
    """Yield a row for each team and player that passed a label on, or whose labels others did."""
    rows = experiment.tables.rows("audit_leaks.csv", tier="all")
    for row in _distinct(rows):
        if {row.get(name, "0") for name in PASSING} != {"0"}:
            yield {**row, "who": _who(row)}


def patterns(experiment: Experiment, setting: str) -> dict[str, Any]:
    """Return the twelve patterns of a setting's teams, with the counts of each team."""
    rows = experiment.tables.rows("audit_patterns.csv", setting=setting, player="")
    return {
        "teams": list(dict.fromkeys(row["team"] for row in rows)),
        "rows": [
            {
                "about": each,
                "counts": {row["team"]: row for row in rows if row["pattern"] == each.name},
            }
            for each in PATTERNS
        ],
    }


def _messages(site: Site, experiment: Experiment) -> Iterator[Row]:
    """Yield the messages of each team and setting that told most, linked to the very event."""
    rows = [
        row
        for row in site.leaking_messages
        if row["experiment"] == experiment.name and row["labels_told"] != "0"
    ]
    for setting in experiment.settings:
        for team in experiment.teams:
            own = [row for row in rows if (row["team"], row["setting"]) == (team, setting)]
            for row in most_revealing(own, NAMED):
                yield {**site.links.to_event(row), "experiment": experiment.title}


def _passed_on(site: Site, experiment: Experiment) -> Iterator[Row]:
    """Yield the first labels that each team passed on in a setting, linked to the very event."""
    shown: Counter[tuple[str, str]] = Counter()
    for row in site.second_hand_leaks:
        place = row["setting"], row["team"]
        if row["experiment"] == experiment.name and shown[place] < NAMED:
            shown[place] += 1
            way = [*row["path"].split(), row["learners"].replace(" ", ", ")]
            yield {
                **site.links.to_event(row),
                "experiment": experiment.title,
                "way": " → ".join(way),
            }


def most_revealing(rows: Sequence[Row], count: int) -> list[Row]:
    """Return the messages that tell most labels, sensitive ones first; each of another game.

    One game's messages repeat themselves, so the first of each game represents it.
    """
    ordered = sorted(
        rows,
        key=lambda row: (
            -int(row["labels_told"]),
            -int(row["sensitive"]),
            row["scenario_id"],
            int(row["event_index"]),
        ),
    )
    best: dict[str, Row] = {}
    for row in ordered:
        best.setdefault(row["scenario_id"], row)
    return list(best.values())[:count]
