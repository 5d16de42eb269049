"""Our side of the paper's tables, each from the CSV it names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.language_tables import vps_words
from calbench.report.results import ExperimentResults, Row, Summary, confidence_of
from calbench.report.special import titled

METHOD = "../method.html"


@dataclass(frozen=True)
class Ours:
    """The experiments whose players stand beside the paper's models."""

    experiments: Sequence[ExperimentResults]
    summary: Summary

    def rows(self, table: str) -> Iterator[tuple[ExperimentResults, Row]]:
        """Yield the rows of a table of every experiment that has it."""
        for results in self.experiments:
            for row in results.optional(table):
                yield results, row

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings that players have rows for."""
        return tuple(dict.fromkeys(row["setting"] for _, row in self.rows("players.csv")))

    @cached_property
    def scheduled(self) -> list[Row]:
        """Mean number of an agent's meetings that were scheduled, by player."""
        return self.summary.table("scheduled_by_player.csv")

    @property
    def confidence(self) -> str:
        """Of their intervals, as pages say it."""
        return confidence_of(self.experiments)


def _heads(results: ExperimentResults, row: Row) -> list[str]:
    return [
        numbers.team_header(row["player"], row["kind"]),
        numbers.word_cell(row["teams"].replace(" ", ", ")),
        numbers.word_cell(titled(results)),
    ]


HEADERS = (
    numbers.plain_header("Player"),
    *(numbers.word_header(text) for text in ("Sat in", "Experiment")),
)


def _estimate(row: Row, name: str, digits: int = 2) -> str:
    """Return a mean with its interval, where there is one."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if not low or not high:
        return numbers.number_cell(row[name], digits)
    return numbers.range_cell(row[name], low, high, digits)


def table1(ours: Ours, setting: str) -> str:
    """Return the columns of Table 1 (players.csv, scheduled_by_player.csv)."""
    scheduled = {
        (row["experiment"], row["player"], row["teams"]): row
        for row in ours.scheduled
        if row["setting"] == setting
    }
    return numbers.table(
        f"Ours, {setting}: mean and {ours.confidence} interval over scenarios",
        [
            *HEADERS,
            *(numbers.plain_header(text) for text in ("Agent-games", "Scheduled meetings")),
            *(numbers.measure_header(name, METHOD) for name in numbers.HEADLINE),
            numbers.word_header("VPS by"),
        ],
        [
            [
                *_heads(results, row),
                numbers.number_cell(row["agent_games"]),
                numbers.number_cell(found["scheduled"], 2),
                *(numbers.estimate_cell(row, name) for name in numbers.HEADLINE),
                numbers.word_cell(vps_words(row)),
            ]
            for results, row in ours.rows("players.csv")
            if row["setting"] == setting
            for found in [scheduled[results.name, row["player"], row["teams"]]]
        ],
    )


def table11(ours: Ours) -> str:
    """Return regret where all meetings came about (completion_regret.csv)."""
    return numbers.table(
        "Ours: regret of seats that got all their meetings, mean or share of 1 with "
        f"{ours.confidence} interval",
        [
            *HEADERS,
            numbers.word_header("Setting"),
            *(numbers.plain_header(text) for text in ("Seats", "Full seats", "Mean excess")),
            *(numbers.plain_header(text) for text in ("Regret not 0", "Regret above 0")),
        ],
        [
            [
                *_heads(results, row),
                numbers.word_cell(row["setting"]),
                *(numbers.number_cell(row[name]) for name in ("seats", "full_seats")),
                *(_estimate(row, n, 3) for n in ("mean_excess", "nonzero_regret")),
                _estimate(row, "positive_regret", 3),
            ]
            for results, row in ours.rows("completion_regret.csv")
        ],
    )


QUANTITIES: Mapping[str, str] = {"vps": "VPS of the round", "excess_cost": "excess cost"}


def table12(ours: Ours) -> str:
    """Return what speaking first goes with (first_speaker.csv)."""
    return numbers.table(
        f"Ours: agent-meetings as first speaker and otherwise, mean and {ours.confidence} interval",
        [
            *HEADERS,
            *(numbers.word_header(text) for text in ("Setting", "Quantity")),
            *(numbers.plain_header(text) for text in ("First", "Later", "Pairs", "Difference")),
            *(numbers.plain_header(text) for text in ("p", "p adjusted")),
        ],
        [
            [
                *_heads(results, row),
                numbers.word_cell(row["setting"]),
                numbers.word_cell(QUANTITIES.get(row["quantity"], row["quantity"])),
                *(_estimate(row, name) for name in ("first_mean", "subsequent_mean")),
                numbers.number_cell(row["pairs"]),
                _estimate(row, "difference"),
                *(numbers.number_cell(row[name], 4) for name in ("p", "p_adjusted")),
            ]
            for results, row in ours.rows("first_speaker.csv")
        ],
    )


def table14(ours: Ours) -> str:
    """Return what the audit of messages rests on (audit_patterns.csv)."""
    rows: dict[tuple[str, str, str], tuple[ExperimentResults, Row]] = {}
    for results, row in ours.rows("audit_patterns.csv"):
        if not row["player"]:
            rows.setdefault((results.name, row["setting"], row["team"]), (results, row))
    return numbers.table(
        "Ours: what the audits rest on",
        [
            numbers.plain_header("Team"),
            *(numbers.word_header(text) for text in ("Experiment", "Setting")),
            *(numbers.plain_header(text) for text in ("Games", "Messages")),
        ],
        [
            [
                f'<th scope="row">{html_text(row["team"])}</th>',
                numbers.word_cell(titled(results)),
                numbers.word_cell(row["setting"]),
                *(numbers.number_cell(row[name]) for name in ("games", "messages")),
            ]
            for results, row in rows.values()
        ],
    )


def figure9(ours: Ours) -> str:
    """Return how often earlier meetings were moved (prior_moves.csv)."""
    return numbers.table(
        "Ours: earlier meetings that an agent moved in a game, mean and "
        f"{ours.confidence} interval",
        [
            *HEADERS,
            numbers.word_header("Setting"),
            numbers.plain_header("Agent-games"),
            *(numbers.plain_header(text) for text in ("Meetings moved", "Left-over copies moved")),
        ],
        [
            [
                *_heads(results, row),
                numbers.word_cell(row["setting"]),
                numbers.number_cell(row["agent_games"]),
                *(_estimate(row, name, 3) for name in ("meetings_moved", "copies_moved")),
            ]
            for results, row in ours.rows("prior_moves.csv")
        ],
    )


def talk(ours: Ours) -> str:
    """Return messages by place of the meeting and role (messages_by_meeting.csv)."""
    found = list(ours.rows("messages_by_meeting.csv"))
    places = sorted({row["meeting_index"] for _, row in found}, key=int)
    lines: dict[tuple[str, ...], tuple[ExperimentResults, Row, dict[str, Row]]] = {}
    for results, row in found:
        key = tuple(row[name] for name in ("setting", "player", "teams", "role"))
        entry = lines.setdefault((results.name, *key), (results, row, {}))
        entry[2][row["meeting_index"]] = row
    return numbers.table(
        "Ours: messages that an agent sent in a meeting's round, mean and "
        f"{ours.confidence} interval",
        [
            *HEADERS,
            *(numbers.word_header(text) for text in ("Setting", "Role")),
            *(numbers.plain_header(f"meeting {place}") for place in places),
        ],
        [
            [
                *_heads(results, row),
                *(numbers.word_cell(row[name]) for name in ("setting", "role")),
                *(
                    _estimate(by_place[place], "messages")
                    if place in by_place
                    else numbers.number_cell("")
                    for place in places
                ),
            ]
            for results, row, by_place in lines.values()
        ],
    )


def usage(ours: Ours) -> str:
    """Return what was asked of models, and its price (usage.csv)."""
    counts = (
        "games", "calls", "input_tokens", "cached_tokens", "output_tokens", "games_excluded",
    )  # fmt: skip
    return numbers.table(
        "Ours: calls, tokens and price, reflections included",
        [
            numbers.plain_header("Player"),
            *(numbers.word_header(text) for text in ("Team", "Setting")),
            *(numbers.plain_header(name.replace("_", " ").capitalize()) for name in counts),
            *(numbers.plain_header(text) for text in ("US$", "US$ a game")),
        ],
        [
            [
                f'<th scope="row">{html_text(row["player"])}</th>',
                *(numbers.word_cell(row[name]) for name in ("team", "setting")),
                *(numbers.number_cell(row[name]) for name in counts),
                *(
                    numbers.number_cell(row[name], 2)
                    for name in ("price_usd", "price_usd_per_game")
                ),
            ]
            for _, row in ours.rows("usage.csv")
        ],
    )
