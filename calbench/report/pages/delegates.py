"""The page on assistants of several sizes: does a larger model place more, pay less, tell less?"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from calbench.metrics.speech.cases import EXAMPLE_REPEATED, OTHER_SLOT, UNAGREED
from calbench.report.experiment import Experiment, Setting, confidence_of
from calbench.report.pages.language import channel_of, recorded
from calbench.report.pages.page import Content
from calbench.report.site import Site, settings_of
from calbench.report.tables import Row

FAILURES: Mapping[str, str] = {
    EXAMPLE_REPEATED: "A message repeats the example of its prompt, with some slot",
    OTHER_SLOT: "A batch is in another slot than its author agreed to last",
    UNAGREED: "A meeting is placed in a slot to which nobody agreed in words",
    "unilateral_displacement": "A placed meeting is moved, not by all its participants to one slot",
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
    suites = settings_of(shown)
    players = {row["player"] for each in suites for row in each.rows("players.csv")}
    models = [row for row in site.published.optional("models.csv") if players & {*row["players"]}]
    heard = list(_by_suite(suites))
    played = [
        _played(site, each, models) for channels in heard for each in next(iter(channels.values()))
    ]
    return Content(
        {
            **recorded(site, shown),
            "played": played,
            "asked_again": any(each["asked"] for each in played),
            "heard": [row for channels in heard for row in _heard(site, channels)],
            "confidence": confidence_of(shown),
            "models": models,
            "failures": list(_failures(site, shown)),
            "leaks": [
                {**row, "title": each.experiment.title}
                for each in suites
                for row in each.rows("audit_leaks.csv", player="", tier="all")
            ],
        }
    )


def _played(site: Site, setting: Setting, models: Sequence[Row]) -> dict[str, Any]:
    """Return what is shown of one suite: models in every seat, then models among others.

    A model that was asked in several ways, by other prompts, stands among the sizes as it is called
    first, and beside itself in all ways. Where no model has every seat, teams without one stand
    beside those that seat one.
    """
    sizes = site.parameters
    counted = site.with_kinds(setting.counted)
    alone = [row for row in counted if _is_alone(setting, row["team"])]
    among = [row for row in counted if row not in alone]
    rows = _by_size(setting, alone, sizes)
    asked = _asked([row["team"] for row in rows], models)
    again = {name for names in asked for name in names[1:]}
    once = [row for row in rows if row["team"] not in again]
    teams = [row["team"] for row in once]
    sized, others = ([each for each in teams if (each in sizes) is own] for own in (True, False))
    seated = [row["team"] for row in among]
    return {
        "setting": setting,
        "title": setting.experiment.title,
        "rows": once if sized else [],
        "pairs": _pairs(setting, teams, sized),
        "asked": [
            {
                "rows": [row for row in rows if row["team"] in names],
                "pairs": _pairs(setting, names, names),
            }
            for names in asked
        ],
        "among": among if sized else [*among, *alone],
        "among_pairs": _among_pairs(setting, seated, others),
        "meetings": list(_meetings(setting, seated)),
        "examples": list(_examples(site, setting, sized or seated)),
    }


def _by_suite(suites: Sequence[Setting]) -> Iterator[dict[str, list[Setting]]]:
    """Yield the settings of each suite by their channel, the first first."""
    found: dict[str, dict[str, list[Setting]]] = {}
    for each in suites:
        channels = found.setdefault(each.suite_digest, {})
        channels.setdefault(channel_of(each.experiment), []).append(each)
    yield from found.values()


def _heard(site: Site, channels: Mapping[str, Sequence[Setting]]) -> Iterator[Row]:
    """Yield the rows of models that played one suite in several channels, by channel."""
    settings = [settings[0] for settings in channels.values()]
    boards = [{row["team"] for row in each.leaderboard} for each in settings]
    teams = site.parameters.keys() & boards[0].intersection(*boards[1:])
    for each in settings if len(settings) > 1 else ():
        rows = [row for row in site.with_kinds(each.counted) if row["team"] in teams]
        for row in _by_size(each, rows, site.parameters):
            yield {**row, "title": each.experiment.title}


def _by_size(
    setting: Setting, alone: Sequence[Row], sizes: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return rows of teams by the parameters of their model, the largest first and none last."""
    counts = _placed(setting, sizes)
    rows = [
        {
            "unagreed": None,
            "moved_away": None,
            **counts.get(row["team"], {}),
            **row,
            "parameters": sizes.get(row["team"]),
        }
        for row in alone
    ]
    return sorted(rows, key=lambda row: (row["parameters"] is None, -(row["parameters"] or 0)))


def _asked(teams: Collection[str], models: Sequence[Row]) -> list[list[str]]:
    """Return the teams of each model that was asked in several ways, as it is called first."""
    named = [[name for name in model["players"] if name in teams] for model in models]
    return [names for names in named if len(names) > 1]


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
        if row["difference"] is not None  # bits of models are not known
        and {row["team_a"], row["team_b"]} <= places.keys()
        and not {row["team_a"], row["team_b"]}.isdisjoint(models)
    ]
    found.sort(key=lambda row: sorted([places[row["team_a"]], places[row["team_b"]]]))
    return {
        name: rows
        for name in COMPARED
        if (rows := [row for row in found if row["measure"] == name])
    }


def _among_pairs(
    setting: Setting, seated: Sequence[str], others: Sequence[str]
) -> dict[str, list[Row]]:
    """Return the differences of teams that seat one model to those without, and to its like.

    Two with other partners are not compared: it would be their partners that differ.
    """
    players = setting.rows("players.csv")
    partners = {
        team: {row["player"] for row in players if team in row["teams"] and row["kind"] != "model"}
        for team in seated
    }
    found = _pairs(setting, [*seated, *others], seated)
    return {
        measure: [
            row
            for row in rows
            if not partners.keys() >= {row["team_a"], row["team_b"]}
            or partners[row["team_a"]] == partners[row["team_b"]]
        ]
        for measure, rows in found.items()
    }


def _placed(setting: Setting, models: Collection[str]) -> Mapping[str, Row]:
    """Return how many meetings of models came about, without agreement, and not to stay."""
    cases = setting.rows("audit_cases.csv", kind="failure")
    found = {row["team"]: row["found"] for row in cases if row["name"] == UNAGREED}
    own = {row["scenario_id"] for row in setting.rows("games.csv")}
    left: dict[str, set[tuple[str, str]]] = {team: set() for team in models}
    for row in setting.experiment.tables.optional("meetings.csv"):
        if row["team"] in models and row["scenario_id"] in own:
            left[row["team"]] |= {(row["scenario_id"], each) for each in row["broken_meetings"]}
    return {
        row["team"]: {
            "placed": row["scheduled"],
            "unagreed": found.get(row["team"], 0),
            "moved_away": len(left[row["team"]]),
        }
        for row in setting.rows("outcomes.csv")
        if row["team"] in models
    }


def _meetings(setting: Setting, teams: Sequence[str]) -> Iterator[Row]:
    """Yield how many meetings came about of those with a team's one model, and of the others."""
    whole = {row["team"]: row for row in setting.rows("outcomes.csv")}
    for team in teams:
        own = [
            row
            for row in setting.rows("agent_games.csv")
            if row["team"] == team and row["kind"] == "model"
        ]
        placed, asked = (sum(row[name] for row in own) for name in ("scheduled", "assigned"))
        yield {
            "team": team,
            "placed": placed,
            "asked": asked,
            "placed_without": whole[team]["scheduled"] - placed,
            "asked_without": whole[team]["meetings"] - asked,
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


def _examples(site: Site, setting: Setting, teams: Collection[str]) -> Iterator[Row]:
    """Yield the best, the typical and the worst game of every one of some teams."""
    for row in setting.rows("typical_games.csv"):
        if row["team"] in teams:
            place = setting.experiment.name, row["team"], row["scenario_id"]
            yield {**row, "address": site.links.address(*place)}
