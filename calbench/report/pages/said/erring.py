"""What mistakes cost, and whether every detector found them, in a sentence."""

from collections.abc import Iterator, Mapping, Sequence

from calbench.report.sentence import Sentence, joined, measured, names, said, text
from calbench.report.tables import Row

STANDARD = "candid"
"""The speaker that makes none of the mistakes."""

SHOWN = {
    "adjusted_excess_cost": "adjusted excess cost per meeting",
    "coordination": "coordination, in percent",
    "excess_vps": "excess VPS",
}
"""Measures in which erring teams are compared with it."""


def findings(
    cases: Sequence[Row], leaderboard: Sequence[Row], comparisons: Sequence[Row]
) -> list[Sentence]:
    """Return whether each mistake was found, and how erring teams differ from one that does not.

    Args:
        cases: one of everything that detectors look for.
        leaderboard: of all settings.
        comparisons: pairs of its teams.
    """
    board = {(row["setting"], row["team"]): row for row in leaderboard}
    found = [*_found(cases)]
    for setting in dict.fromkeys(row["setting"] for row in leaderboard):
        pieces = [
            piece for measure in SHOWN for piece in _differ(setting, measure, board, comparisons)
        ]
        if pieces:
            found.append(
                said(
                    "In the setting {setting}, these differ significantly from {standard}: "
                    "{words}.",
                    setting=setting,
                    standard=names([STANDARD]),
                    words=joined(pieces, last="; ", between="; "),
                )
            )
    return found


def _found(cases: Sequence[Row]) -> Iterator[Sentence]:
    missing = [row for row in cases if row["plain"] in ("", "0")]
    if cases and not missing:
        yield text(
            "Every mistake that the detectors of this site look for was found in these games."
        )
    elif cases:
        listed = joined([text(row["name"].replace("_", " ")) for row in missing])
        yield said("The detectors found no plain case of {missing}.", missing=listed)


def _differ(
    setting: str,
    measure: str,
    board: Mapping[tuple[str, str], Row],
    comparisons: Sequence[Row],
) -> Iterator[Sentence]:
    """Yield the teams that differ significantly from the standard by a measure."""
    own = board.get((setting, STANDARD))
    pairs = [
        {row["team_a"], row["team_b"]} - {STANDARD}
        for row in comparisons
        if (row["setting"], row["measure"], row["verdict"]) == (setting, measure, "different")
        and STANDARD in (row["team_a"], row["team_b"])
    ]
    teams = [team for team in board if team[0] == setting and {team[1]} in pairs]
    if own is None or not own.get(measure) or not teams:
        return
    yield said(
        "in {measure}, {others}, against {value}",
        measure=SHOWN[measure],
        value=measured(own, measure),
        others=joined(
            [
                said(
                    "{team} ({value})",
                    team=names([team[1]]),
                    value=measured(board[team], measure),
                )
                for team in teams
            ]
        ),
    )
