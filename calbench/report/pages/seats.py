"""Pages of a single seat: agents that probe, and one assistant among fixed partners."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calbench.analysis.tables.focal import FOCAL
from calbench.analysis.tables.speech import PROBED
from calbench.analysis.verdicts import DIFFERENT
from calbench.report.experiment import Experiment, confidence_of, level_of
from calbench.report.pages import audits
from calbench.report.pages.board.comparisons import would_be_found
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

EFFECTS = "probe_effects.csv"
LABELS = "probe_labels.csv"
FOCAL_EFFECTS, FOCAL_GAMES = "focal_effects.csv", "focal_games.csv"

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

OVERVIEW = ("adjusted_excess_cost", "coordination", "bits", "labels_told", "bits_learnt",
            "others_adjusted_excess_cost")  # fmt: skip
"""Measures of the table over all players, from the user's cost to that of the others."""

NAMED = 3
"""Games of a pair that the page names [C]."""


def probes(site: Site) -> Content | None:
    """Return what probing changed in every experiment with teams that probe, and teams beside them.

    No page if there is none.
    """
    return _content(site, _shown, (EFFECTS, LABELS, "leaderboard.csv", "audit_patterns.csv"))


def focal(site: Site) -> Content | None:
    """Return what players did in one seat, of every experiment with teams that differ in one.

    No page if there is none.
    """
    overview = {name: FOCAL[name].title for name in OVERVIEW}
    return _content(site, _focal, (FOCAL_EFFECTS, FOCAL_GAMES), overview=overview)


def _content(
    site: Site, show: Callable[[Site, Experiment], Row], tables: Sequence[str], **more: Any
) -> Content | None:
    """Return what the experiments show that have rows in the first of some tables."""
    shown = [each for each in site.experiments if each.tables.optional(tables[0])]
    if not shown:
        return None
    return Content(
        {
            "experiments": [show(site, each) for each in shown],
            "confidence": confidence_of(shown),
            "level": level_of(shown),
            "files": [f"{each.name}/{name}" for each in shown for name in tables],
            **more,
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
        "is_scripted": _is_scripted(experiment),
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


def _focal(site: Site, experiment: Experiment) -> dict[str, Any]:
    """Return the players of an experiment beside the first player of their seat."""
    pairs = list(_pairs(site, experiment))
    return {
        "title": experiment.title,
        "name": experiment.name,
        "pairs": pairs,
        "rows": [_overview(pair["rows"]) for pair in pairs],
    }


def _pairs(site: Site, experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Yield each team beside the first one that differs from it in one seat."""
    games = grouped(experiment.tables.optional(FOCAL_GAMES), "setting", "team", "base")
    seen = set()
    for (setting, team, base), rows in grouped(
        experiment.tables.rows(FOCAL_EFFECTS), "setting", "team", "base"
    ).items():
        if (setting, team) not in seen:
            seen.add((setting, team))
            own = games.get((setting, team, base), [])
            yield {
                "team": team,
                "base": base,
                "player": rows[0]["player"],
                "base_player": rows[0]["base_player"],
                "rows": [_judged(row) for row in rows],
                "games": [_with_games(site, experiment, row) for row in _deciding(own)],
            }


def _judged(row: Row) -> Row:
    remark = f", {row['remark']}" if row["remark"] else ""
    return {
        **row,
        "named": FOCAL[row["measure"]].title,
        "said": f"{row['verdict']}{remark}{would_be_found(row)}",
    }


def _overview(rows: list[Row]) -> Row:
    """Return a pair's row of the table over all players: differences, and which are shown."""
    different = [row["named"].lower() for row in rows if row["verdict"] == DIFFERENT]
    return {
        **{name: rows[0][name] for name in ("setting", "player", "base_player", "scenarios")},
        **{row["measure"]: row["difference"] for row in rows},
        "shown": ", ".join(different) or "nothing",
    }


def _deciding(games: list[Row]) -> list[Row]:
    """Return the games that differ most in what the user paid, then in what was told."""

    def size(row: Row) -> tuple[float, ...]:
        gaps = (_gap(row, name) for name in ("adjusted_excess_cost", "labels_told", "bits"))
        return tuple(-abs(gap) for gap in gaps)

    return sorted(games, key=lambda row: (*size(row), row["scenario_id"]))[:NAMED]


def _gap(row: Mapping[str, Any], name: str) -> float:
    one, other = row[name], row[f"{name}_without"]
    return 0.0 if one is None or other is None else float(one - other)


def _with_games(site: Site, experiment: Experiment, row: Row) -> Row:
    """Return a game with links to both teams' games, where the trace browser has them."""
    games = [
        (team, address)
        for team in (row["base"], row["team"])
        if (address := site.links.address(experiment.name, team, row["scenario_id"]))
    ]
    return {**row, "games": games}
