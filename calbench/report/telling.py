"""The typed messages that gave most of a calendar away, so that a VPS leads to its message."""

from collections.abc import Sequence
from functools import lru_cache

from calbench.analysis.cells import cell
from calbench.report import numbers
from calbench.report.links import GameLinks
from calbench.report.numbers import decimal
from calbench.report.results import Row
from calbench.report.setting import SettingResults

EVIDENCE = "privacy/belief_evidence.csv"
PAIRS = "privacy/pair_round_vps.csv"

COLUMNS = (
    "experiment", "setting", "team", "scenario_id", "event_index", "target_agent", "source", "vps",
)  # fmt: skip
"""Of ``tables/telling_messages.csv``."""

NAMED = 3
"""Messages of a team that are named, each of another game [C]."""

DIGITS = 4
"""Decimals of a VPS [C]."""


Message = tuple[str, str, str]
"""Index of its event, whose calendar it told of, and its kind."""


def rows(each: SettingResults) -> list[Row]:
    """Return the most telling message of a game, for a few games of each team.

    Over a game the steps of all messages add up to its VPS.
    """
    best: dict[str, list[tuple[float, str, Message]]] = {}
    for (team, scenario), steps in _steps(each).items():
        message = min(steps, key=lambda told: (-steps[told], int(told[0])))
        if steps[message] > 0:
            best.setdefault(team, []).append((-steps[message], scenario, message))
    return [
        _row(each, team, scenario, message, -size)
        for team in each.results.teams
        for size, scenario, message in sorted(best.get(team, ()))[:NAMED]
    ]


def _row(each: SettingResults, team: str, scenario: str, message: Message, step: float) -> Row:
    place = (each.results.name, each.setting, team, scenario)
    return dict(zip(COLUMNS, (*place, *message, cell(step, DIGITS)), strict=True))


def _steps(each: SettingResults) -> dict[tuple[str, str], dict[Message, float]]:
    """Return how far each message moved all beliefs from the prior, by team and scenario."""
    results = each.results
    own = {s.scenario_id for s in results.scenarios if s.setting == each.setting}
    pairs = results.optional(PAIRS)
    prior = _number(pairs[0]["prior"]) if pairs else 0.0
    steps: dict[tuple[str, str], dict[Message, float]] = {}
    for row in results.optional(EVIDENCE):
        team, _, file = row["trace_path"].rpartition("/")
        scenario = file.removesuffix(".json")
        if scenario in own:
            before, after = _number(row["belief_before"]), _number(row["belief_after"])
            found = steps.setdefault((team, scenario), {})
            message = row["event_index"], row["target_agent"], row["source"]
            found[message] = found.get(message, 0.0) + abs(after - prior) - abs(before - prior)
    return {
        game: {message: round(step, DIGITS) for message, step in found.items()}
        for game, found in steps.items()
    }


@lru_cache(maxsize=65536)
def _number(text: str) -> float:
    """Read a number; few different ones stand in many rows."""
    return float(decimal(text))


def table(found: Sequence[Row], each: SettingResults, links: GameLinks) -> str:
    """Return the most telling messages, linked to their events (telling_messages.csv)."""
    place = (each.results.name, each.setting)
    own = [row for row in found if (row["experiment"], row["setting"]) == place]
    if not own:
        return ""
    return numbers.table(
        "Messages that gave most away, each of another game, over all who saw them",
        [
            numbers.plain_header("Team"),
            *(numbers.word_header(text) for text in ("The message", "Kind")),
            *(numbers.plain_header(text) for text in ("Whose calendar", "VPS")),
        ],
        [
            [
                each.team_header(row),
                f'<td class="cb-word">{_link(links, row)}</td>',
                numbers.word_cell(row["source"].replace("_", " ")),
                numbers.number_cell(row["target_agent"]),
                numbers.number_cell(row["vps"], 2),
            ]
            for row in own
        ],
    )


def _link(links: GameLinks, row: Row) -> str:
    return links.game(row["experiment"], row["team"], row["scenario_id"], row["event_index"])
