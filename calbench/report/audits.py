"""The page of the audits of language: who tells what, how often, and in which sentence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from calbench.report import numbers, sections
from calbench.report.audit_messages import most_revealing
from calbench.report.audit_tables import own_slot_table, patterns_table, rate_cell, sample_table
from calbench.report.escape import html_text
from calbench.report.links import GameLinks
from calbench.report.results import ExperimentResults, Row
from calbench.report.special import titled
from calbench.scenarios.labels import TIERS

METHOD = "../method.html"

NAMED = 3
"""Messages of a team and setting that the page names [C]."""

SAMPLE = "audit_sample.csv"
"""Precision and recall of the extractors; stands beside the folders of experiments."""


@dataclass(frozen=True)
class Audits:
    """The experiments in which somebody spoke in words.

    Attributes:
        experiments: those with rows in the audits' tables, in the order of the page.
        messages: rows of ``leaking_messages.csv``: what leaked in the games that can be browsed.
        links: to these games.
        sample: the table of the labelled sample, if there is one.
    """

    experiments: Sequence[ExperimentResults]
    messages: Sequence[Row]
    links: GameLinks
    sample: Path

    @staticmethod
    def of(
        experiments: Sequence[ExperimentResults], messages: Sequence[Row], links: GameLinks
    ) -> "Audits":
        """Choose the experiments that have something to show."""
        found = [each for each in experiments if each.optional("audit_patterns.csv")]
        folder = found[0].tables.parent if found else Path()
        return Audits(found, messages, links, folder / SAMPLE)

    def write(self, tables: Path) -> None:
        """Bring the sample's table."""
        if self.sample.is_file():
            (tables / SAMPLE).write_bytes(self.sample.read_bytes())


def parts(audits: Audits) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    names = [f"{e.name}/audit_{t}.csv" for e in audits.experiments for t in TABLES]
    made = ["leaking_messages.csv", *([SAMPLE] if audits.sample.is_file() else [])]
    return {
        "beside-cost": lambda: _each(audits, _beside_cost),
        "tiers": lambda: _each(audits, _tiers),
        "messages": lambda: _messages(audits),
        "patterns": lambda: _each(audits, _patterns),
        "own-slot": lambda: _each(audits, _own_slot),
        "honesty": lambda: _each(audits, _honesty),
        "sample": lambda: sample_table(audits.sample),
        "downloads": lambda: sections.table_links([*made, *names]),
    }


TABLES = ("patterns", "own_slot", "leaks", "honesty")


def _each(audits: Audits, shown: Callable[[ExperimentResults], str]) -> str:
    return "\n\n".join(shown(results) for results in audits.experiments)


def _heads(row: Row) -> list[str]:
    """Return team, setting and player of a row; the player only where it is not the team."""
    player = row["player"] if row["player"] != row["team"] else ""
    return [
        f'<th scope="row">{html_text(row["team"])}</th>',
        numbers.word_cell(row["setting"]),
        numbers.word_cell(player or "all"),
    ]


HEADERS = (
    numbers.plain_header("Team"),
    numbers.word_header("Setting"),
    numbers.word_header("Who of it"),
)


def _told_apart(rows: Sequence[Row]) -> Iterator[Row]:
    """Leave out players who are their whole team: their rows repeat the team's."""
    players: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row["player"]:
            players.setdefault((row["setting"], row["team"]), set()).add(row["player"])
    for row in rows:
        if not row["player"] or len(players[row["setting"], row["team"]]) > 1:
            yield row


def _beside_cost(results: ExperimentResults) -> str:
    """Return cost and both kinds of leak of every team (leaderboard.csv, audit_leaks.csv)."""
    leaks = {
        (row["setting"], row["team"]): row
        for row in results.table("audit_leaks.csv")
        if not row["player"] and row["tier"] == "all"
    }
    names = ("adjusted_excess_cost", "excess_vps")
    return numbers.table(
        f"{titled(results)}: what each team paid, and what it gave away",
        [
            *HEADERS[:2],
            *(numbers.measure_header(name, METHOD) for name in names),
            numbers.plain_header("Messages that tell a label, share of 1"),
            numbers.plain_header("Labels told"),
            numbers.plain_header("Labels held"),
        ],
        [
            [
                f'<th scope="row">{html_text(row["team"])}</th>',
                numbers.word_cell(row["setting"]),
                *(numbers.estimate_cell(row, name) for name in names),
                rate_cell(found),
                *(numbers.number_cell(found[name]) for name in ("labels_told", "labels_held")),
            ]
            for row in results.table("leaderboard.csv")
            if (found := leaks.get((row["setting"], row["team"]))) is not None
        ],
    )


def _tiers(results: ExperimentResults) -> str:
    """Return what was told of each tier (audit_leaks.csv)."""
    rows = results.table("audit_leaks.csv")
    by_tier = {(r["setting"], r["team"], r["player"], r["tier"]): r for r in rows}
    return numbers.table(
        f"{titled(results)}: messages that tell a label of each tier, share of 1 with its "
        f"{results.confidence} interval; labels told of labels held",
        [
            *HEADERS,
            numbers.plain_header("Messages"),
            *(
                numbers.plain_header(text)
                for tier in TIERS
                for text in (f"{tier}: messages", f"{tier}: labels")
            ),
        ],
        [
            [
                *_heads(row),
                numbers.number_cell(row["messages"]),
                *(
                    cell
                    for tier in TIERS
                    for found in [by_tier[row["setting"], row["team"], row["player"], tier]]
                    for cell in (
                        rate_cell(found),
                        numbers.part_cell(found["labels_told"], found["labels_held"]),
                    )
                ),
            ]
            for row in _told_apart(rows)
            if row["tier"] == "all"
        ],
    )


def _messages(audits: Audits) -> str:
    """Return the messages that tell most, linked to the very event (leaking_messages.csv)."""
    rows = [
        [
            f'<th scope="row">{html_text(row["team"])}</th>',
            numbers.word_cell(row["words"]),
            f'<td class="cb-word">{_link(audits.links, row)}</td>',
            *(numbers.word_cell(text) for text in (row["setting"], titled(results))),
            *(numbers.number_cell(row[name]) for name in ("sender", "labels_told", *TIERS)),
        ]
        for results in audits.experiments
        for rows_here in [[r for r in audits.messages if r["experiment"] == results.name]]
        for setting in results.settings
        for team in results.teams
        for row in most_revealing(rows_here, team, setting, NAMED)
    ]
    if not rows:
        return "<p>No message of a game that can be browsed told a private label.</p>"
    return numbers.table(
        "Messages that tell most private labels, each of another game",
        [
            numbers.plain_header("Team"),
            *(numbers.word_header(text) for text in ("Words that tell", "The sentence")),
            *(numbers.word_header(text) for text in ("Setting", "Experiment")),
            *(numbers.plain_header(text) for text in ("Sender", "Labels told", *TIERS)),
        ],
        rows,
    )


def _link(links: GameLinks, row: Row) -> str:
    return links.game(row["experiment"], row["team"], row["scenario_id"], row["event_index"])


def _patterns(results: ExperimentResults) -> str:
    """Return the twelve patterns of every team, setting by setting (audit_patterns.csv)."""
    return "\n\n".join(
        patterns_table(
            results,
            setting,
            f"{titled(results)}, {setting}: count, and below it rate",
        )
        for setting in results.settings
    )


def _own_slot(results: ExperimentResults) -> str:
    """Return how often players speak of their own slots, with tests (audit_own_slot.csv)."""
    players = [row for row in results.table("audit_own_slot.csv") if row["player"]]
    return own_slot_table(
        players,
        f"{titled(results)}: messages with each label, share of 1 with its "
        f"{results.confidence} interval",
    )


def _honesty(results: ExperimentResults) -> str:
    """Return how many claims of availability were true (audit_honesty.csv)."""
    return numbers.table(
        f"{titled(results)}: claims about the speaker's own slots, and the share that was true",
        [
            *HEADERS,
            numbers.word_header("Claimed"),
            *(numbers.plain_header(text) for text in ("Claims", "True", "Share of 1")),
        ],
        [
            [
                *_heads(row),
                numbers.word_cell(row["claim"]),
                *(numbers.number_cell(row[name]) for name in ("claims", "true_claims")),
                rate_cell(row),
            ]
            for row in _told_apart(results.table("audit_honesty.csv"))
        ],
    )
