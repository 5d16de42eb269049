"""Teams that were ranked with each other: the first pool of the leaderboard that has several."""

from collections.abc import Sequence
from dataclasses import dataclass

from calbench.analysis.measures import MIXED
from calbench.report.columns import COST, VPS, decimal
from calbench.report.kind import MODEL, PROTOCOL, SCRIPTED, kind_of
from calbench.report.sentence import Sentence, said, teams
from calbench.report.site import Site
from calbench.report.tables import Row


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found.

    Attributes:
        title: in a few words.
        sentence: with its numbers.
        links: to the game or the table behind it; those to pages that a site lacks are not shown.
    """

    title: Sentence
    sentence: Sentence
    links: Sentence


NOUNS = {PROTOCOL: "protocols", SCRIPTED: "scripted speakers", MODEL: "recorded models"}


@dataclass(frozen=True)
class Contest:
    """Ranked teams of one experiment, setting and channel, at least two.

    Attributes:
        rows: theirs, with a number of the headline measure each.
    """

    rows: tuple[Row, ...]

    @property
    def noun(self) -> str:
        """What the teams are."""
        kinds = {kind_of(row["kind"]) for row in self.rows}
        return NOUNS.get(kinds.pop(), "teams") if len(kinds) == 1 else "teams"

    @property
    def setting(self) -> str:
        """The setting that they played."""
        return self.rows[0]["setting"]

    @property
    def leaders(self) -> list[Row]:
        """Those that pay least."""
        return least(self.rows, COST)

    @property
    def undecided(self) -> list[Row]:
        """Those that pay more than the leaders, and are not shown to: nobody ranks above them."""
        best = [row["team"] for row in self.leaders]
        return [
            row for row in self.rows if row["team"] not in best and row[f"{COST}_rank_low"] == "1"
        ]

    @property
    def instruments(self) -> set[str]:
        """How their loss of privacy was measured."""
        return {row["vps_kind"] for row in self.rows if row[VPS]}

    def others(self, opening: str) -> Sentence:
        """Return a sentence about the undecided; nothing if there are none."""
        if not self.undecided:
            return ()
        return said(
            "{opening}{who} {are} not significantly different.",
            opening=opening,
            who=teams(self.undecided),
            are="are" if len(self.undecided) > 1 else "is",
        )


def contest(site: Site, noun: str = "") -> Contest | None:
    """Return the first contest of the leaderboard, or the first of players of one kind."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in site.summary.optional("leaderboard.csv"):
        if row[f"{COST}_rank_low"] and row[COST]:
            key = row["experiment"], row["setting"], row["channel"]
            groups.setdefault(key, []).append(compared(row))
    found = (Contest(tuple(rows)) for rows in groups.values() if len(rows) > 1)
    return next((each for each in found if noun in {"", each.noun}), None)


def compared(row: Row) -> Row:
    """Return a row without its VPS if several instruments measured it: that compares with none."""
    return {**row, VPS: ""} if row["vps_kind"] == MIXED else row


def least(rows: Sequence[Row], measure: str) -> list[Row]:
    """Return the rows with the smallest number of a measure, ties included."""
    counted = [row for row in rows if row[measure]]
    best = min((decimal(row[measure]) for row in counted), default=None)
    return [row for row in counted if decimal(row[measure]) == best]


def greatest(rows: Sequence[Row], measure: str) -> list[Row]:
    """Return the rows with the greatest number of a measure, ties included."""
    counted = [row for row in rows if row[measure]]
    best = max((decimal(row[measure]) for row in counted), default=None)
    return [row for row in counted if decimal(row[measure]) == best]
