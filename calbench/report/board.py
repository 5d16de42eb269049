"""What the leaderboard shows: every team of every comparable set of games, and the oracle.

Teams stand in one view if they played the same scenarios over the same channels. Each row holds
the cells of the tables word for word, and beside them ranks and ties by :mod:`.ties`. All of it
is offered for download as ``tables/leaderboard.csv``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from calbench.analysis.measures import MEASURES
from calbench.report.language_tables import kind_by_team
from calbench.report.numbers import decimal
from calbench.report.results import ExperimentResults, Row
from calbench.report.setting import SettingResults
from calbench.report.ties import standings
from calbench.scenarios.models import Scenario, ScheduleEntry

REFERENCE = "reference"
"""Kind of the oracle's row: it plays no game."""

ORACLE = "oracle"

DEGENERATE = "degenerate baseline"

CHANNEL_WORDS: Mapping[str, str] = {
    "dm": "private messages",
    "participant_groupchat": "to all participants",
    "all_agent_groupchat": "to all agents",
}
"""Channels as pages call them."""

USAGE = ("calls", "input_tokens", "cached_tokens", "output_tokens", "price_usd")
"""Columns of ``usage.csv`` that add up over the players of a team."""

PRICE_PER_GAME = "price_usd_per_game"

PARTS = ("", "_low", "_high", "_n", "_rank_low", "_rank_high", "_ranked", "_ties")
"""What stands of each measure."""

COLUMNS = (
    "experiment", "setting", "channel", "team", "kind", "games", "games_lost", "scenarios",
    "vps_kind",
    *(f"{measure.name}{part}" for measure in MEASURES for part in PARTS),
    *USAGE, PRICE_PER_GAME,
)  # fmt: skip
"""Of ``tables/leaderboard.csv``. ``_n`` are agent-games; ``_ties`` letters of tie groups."""


@dataclass(frozen=True)
class View:
    """Rows that may stand beside each other.

    Attributes:
        setting: of the scenarios.
        channel: in words.
        experiments: whose teams these are.
        rows: by column of :data:`COLUMNS`, the oracle's last.
    """

    setting: str
    channel: str
    experiments: tuple[str, ...]
    rows: tuple[Row, ...]


def build_views(experiments: Sequence[ExperimentResults]) -> tuple[View, ...]:
    """Return what can be chosen on the leaderboard.

    Args:
        experiments: whose teams to show, the first ones first.

    Raises:
        FileError: a table, suite or trace does not fit.
    """
    groups: dict[tuple[str, str, frozenset[str]], list[SettingResults]] = {}
    for results in experiments:
        channel = _channel(results)
        kinds = kind_by_team(results)
        for setting in results.settings:
            each = SettingResults(results, setting, kinds)
            digests = frozenset(scenario.play_digest for scenario in _scenarios(each))
            groups.setdefault((setting, channel, digests), []).append(each)
    taken: set[tuple[str, str]] = set()
    views = []
    for (setting, channel, _), members in groups.items():
        names = tuple(each.results.name for each in members)
        shown = channel if (setting, channel) not in taken else f"{channel}, {names[0]}"
        taken.add((setting, shown))
        letters = dict.fromkeys((measure.name for measure in MEASURES), 0)
        rows = [row for each in members for row in team_rows(each, shown, letters)]
        oracle = oracle_row(setting, shown, _scenarios(members[0]))
        views.append(View(setting, shown, names, (*rows, *([oracle] if oracle else []))))
    return tuple(views)


def _scenarios(each: SettingResults) -> list[Scenario]:
    return [s for s in each.results.scenarios if s.setting == each.setting]


def _channel(results: ExperimentResults) -> str:
    """Return how players of an experiment could talk, by the first of its traces."""
    for team in results.teams:
        trace = next(results.traces_of(team), None)
        if trace is not None:
            return " and ".join(CHANNEL_WORDS.get(name, name) for name in trace.config.channels)
    return "channel not recorded"


def team_rows(each: SettingResults, channel: str, letters: dict[str, int]) -> Iterator[Row]:
    """Yield the rows of a setting's teams.

    Args:
        each: the setting.
        channel: in words.
        letters: by measure, how many letters of tie groups the view has used; counted on here,
            since teams of two experiments were not compared and can share no group.
    """
    teams = [row["team"] for row in each.leaderboard if is_ranked(each.kind_by_team, row["team"])]
    comparisons = each.rows("comparisons.csv")
    stands = {}
    for name, used in letters.items():
        stands[name] = standings(teams, comparisons, name, used)
        letters[name] += len({x for found in stands[name].values() for x in found.groups})
    lost = {row["team"]: row["games_lost"] for row in each.rows("outcomes.csv")}
    for row in each.leaderboard:
        team = row["team"]
        cells = {name: row[name] for name in COLUMNS if name in row}
        for measure in MEASURES:
            name = measure.name
            if row[name]:
                cells[f"{name}_n"] = str(each.agent_games.get((team, name), ""))
            standing = stands[name].get(team) if row[name] else None
            if standing is not None:
                cells[f"{name}_rank_low"] = str(standing.low)
                cells[f"{name}_rank_high"] = str(standing.high)
                cells[f"{name}_ranked"] = str(standing.ranked)
                cells[f"{name}_ties"] = " ".join(standing.groups)
        yield {
            **dict.fromkeys(COLUMNS, ""),
            **cells,
            "experiment": each.results.name,
            "channel": channel,
            "kind": each.kind_by_team.get(team, ""),
            "games_lost": lost.get(team, ""),
            **usage(each.rows("usage.csv"), team, row["games"]),
        }


def is_ranked(kinds: Mapping[str, str], team: str) -> bool:
    """Return whether a team competes; a degenerate baseline does not."""
    return kinds.get(team) != DEGENERATE


def usage(rows: Sequence[Row], team: str, games: str) -> Row:
    """Return what a team asked of models, over its players (usage.csv); empty if nothing."""
    own = [row for row in rows if row["team"] == team]
    if not own:
        return {}
    total = {name: str(sum((decimal(row[name]) for row in own), Decimal())) for name in USAGE}
    if len(own) == 1:
        return {**total, PRICE_PER_GAME: own[0][PRICE_PER_GAME]}
    per_game = decimal(total["price_usd"]) / decimal(games) if games != "0" else None
    return {**total, PRICE_PER_GAME: "" if per_game is None else f"{per_game:.6f}"}


def oracle_row(setting: str, channel: str, scenarios: Sequence[Scenario]) -> Row | None:
    """Return what the measures make of the best complete schedules; ``None`` if there are none.

    The oracle pays what the oracle pays, so its excess is 0 by definition. It is handed all
    calendars and says nothing, so messages and privacy loss do not apply to it.
    """
    best = [(s, s.oracle.best) for s in scenarios if s.oracle is not None and s.oracle.best]
    seats = [
        (100 * placed, assigned)
        for scenario, schedule in best
        for agent in range(scenario.num_agents)
        for placed, assigned in [_placed(scenario, schedule, agent)]
    ]
    if not any(assigned for _, assigned in seats):
        return None
    excess = [
        [paid - least for paid, least in zip(schedule.cost_by_agent, least_costs, strict=True)]
        for _, schedule in best
        for least_costs in [schedule.cost_by_agent]
    ]
    gaps = [abs(each - Fraction(sum(game), len(game))) for game in excess for each in game]
    flat = [Fraction(each) for game in excess for each in game]
    met = [each for each, (_, assigned) in zip(flat, seats, strict=True) if assigned]
    values = {
        "coordination": [Fraction(placed, assigned) for placed, assigned in seats if assigned],
        "excess_cost": flat,
        "excess_cost_per_meeting": met,
        "adjusted_excess_cost": met,
        "fairness": gaps,
    }
    return {
        **dict.fromkeys(COLUMNS, ""),
        **{name: f"{float(sum(each) / len(each)):.4f}" for name, each in values.items()},
        **{f"{name}_n": str(len(each)) for name, each in values.items()},
        "setting": setting,
        "channel": channel,
        "team": ORACLE,
        "kind": REFERENCE,
        "scenarios": str(len(best)),
    }


def _placed(scenario: Scenario, schedule: ScheduleEntry, agent: int) -> tuple[int, int]:
    """Return how many of an agent's meetings a schedule holds, and how many it has."""
    own = [meeting for meeting in scenario.meetings if agent in meeting.participants]
    return sum(str(meeting.meeting_id) in schedule.slots for meeting in own), len(own)
