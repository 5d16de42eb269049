"""What messages tell beside slots, with the message itself."""

from decimal import Decimal

from calbench.analysis.measures import MIXED
from calbench.analysis.summary.told import distinct
from calbench.files import shorten
from calbench.report.columns import VPS, decimal
from calbench.report.experiment import Experiment
from calbench.report.findings.contest import Finding, greatest
from calbench.report.kind import MODEL, SCRIPTED, kind_of
from calbench.report.sentence import Sentence, cell, link, measured, said, teams, text
from calbench.report.site import Site
from calbench.report.tables import Row

LEAKS = "audit_leaks.csv"
FEATURED = "featured_games.csv"
RULE = "sensitive_leak"

KINDS = {SCRIPTED: "The scripted team ", MODEL: "The recorded model "}

LONGEST = 48
"""Characters of a label in a link [C]."""


def labels_told(site: Site) -> Finding | None:
    """Say who tells private labels, and who tells none at the same loss of slots."""
    for experiment in site.ranked:
        for setting in experiment.settings:
            rows = [
                row
                for row in experiment.tables.optional(LEAKS, setting=setting, tier="all")
                if not row["player"]
            ]
            telling = greatest([row for row in rows if row["labels_told"] not in {"", "0"}], "rate")
            if telling:
                return _finding(site, experiment, telling[0], rows)
    return None


def _finding(site: Site, experiment: Experiment, row: Row, rows: list[Row]) -> Finding:
    board = {
        each["team"]: each
        for each in experiment.tables.optional("leaderboard.csv", setting=row["setting"])
    }
    told, same = _others(row, rows, board)
    sentence = said(
        "{kind}{who} tells a private label in {leaking} of {messages} messages{games}.{others}",
        kind=KINDS.get(kind_of(site.kind_by_team.get(row["team"], "")), ""),
        who=teams([row]),
        leaking=cell(row["leaking_messages"]),
        messages=cell(row["messages"]),
        games=_games(board.get(row["team"], {})),
        others=told,
    )
    title = (
        "Words tell reasons that a measure of slots does not see"
        if same
        else "Words tell private reasons"
    )
    links = (
        *_leak(site, experiment.name, row),
        *link("What messages reveal", "results/audits.html"),
    )
    return Finding(text(title), sentence, links)


def _games(row: Row) -> Sentence:
    if not row.get("games"):
        return ()
    return said(" ({games} {setting} games)", games=cell(row["games"]), setting=row["setting"])


def _others(row: Row, rows: list[Row], board: dict[str, Row]) -> tuple[Sentence, bool]:
    """Return who told none, and whether some of them have the same excess VPS."""
    silent = [each for each in rows if each["labels_told"] == "0" and each["messages"] != "0"]
    if not silent:
        return (), False
    loss = _loss(board.get(row["team"], {}))
    same = [each for each in silent if loss and _loss(board.get(each["team"], {})) == loss]
    if not same:
        return said(" {who} told none.", who=teams(silent)), False
    found = said(
        " {who} {tell} none, at the same excess VPS of {loss}: that measure is of slots, not of "
        "reasons.",
        who=teams(same),
        tell="tell" if len(same) > 1 else "tells",
        loss=measured(board[row["team"]], VPS),
    )
    return found, True


def _loss(row: Row) -> tuple[str, str] | None:
    """Return excess VPS and its instrument; nothing where it can be compared with no other."""
    if not row.get(VPS) or row["vps_kind"] in {"", MIXED}:
        return None
    return row[VPS], row["vps_kind"]


def _leak(site: Site, experiment: str, row: Row) -> Sentence:
    """Return the way to a message of these games that told a label, the chosen one if it is."""
    featured = [
        {**each, "words": each["label"]}
        for each in site.summary.optional(FEATURED, rule=RULE)
        if each["label"]
    ]
    found = [
        each
        for each in (*featured, *_most_sensitive(site.leaking_messages))
        if site.links.has(each["experiment"], each["team"], each["scenario_id"])
    ]
    own = [
        each
        for each in found
        if (each["experiment"], each["setting"], each["team"])
        == (experiment, row["setting"], row["team"])
    ]
    for each in (*own, *found):
        if address := site.links.to_event(each)["address"]:
            label = shorten(distinct(each["words"])[0], LONGEST)
            return link(f"Show me a leak: “{label}”", address)
    return ()


def _most_sensitive(rows: list[Row]) -> list[Row]:
    told = [row for row in rows if row["words"]]
    return sorted(told, key=_order)


def _order(row: Row) -> tuple[Decimal, int]:
    """Return what messages are sorted by: labels that are part of another's words do not count."""
    told = len(distinct(row["words"]))
    return -min(decimal(row["sensitive"]), Decimal(told)), -told
