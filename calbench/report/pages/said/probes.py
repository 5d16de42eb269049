"""What probing agents learn that they would not have learnt otherwise, in a sentence."""

from collections.abc import Iterator, Sequence

from calbench.report.columns import DIGITS, decimal
from calbench.report.sentence import Sentence, cell, joined, names, said
from calbench.report.tables import Row

LABELS = "labels_to_prober"
DIFFERENT = "different"


def findings(title: str, rows: Sequence[Row]) -> list[Sentence]:
    """Return what the probing agent of each team learnt with and without the probe, by setting.

    Args:
        title: of the experiment.
        rows: of its ``probe_effects.csv``.
    """
    told = [row for row in rows if row["measure"] == LABELS and row["probed"] and row["without"]]
    return [
        *_different(title, [row for row in told if row["verdict"] == DIFFERENT]),
        *_others(title, [row for row in told if row["verdict"] != DIFFERENT]),
    ]


def _different(title: str, rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield how many labels the probing agent learnt where it learnt significantly more or less."""
    if not rows:
        return
    of_settings = [
        said(
            "{changes} in the setting {setting}",
            changes=joined([_change(row) for row in rows if row["setting"] == setting]),
            setting=setting,
        )
        for setting in dict.fromkeys(row["setting"] for row in rows)
    ]
    yield said(
        "{title}: told to probe, the agent learnt {changes}, in private labels per game; "
        "{each} significant.",
        title=title,
        changes=joined(of_settings, last=", and "),
        each="the difference is" if len(rows) == 1 else "each difference is",
    )


def _others(title: str, rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield of whom it did not, those apart who told nothing either way."""
    silent = [row for row in rows if not decimal(row["probed"]) and not decimal(row["without"])]
    rest = [row for row in rows if row not in silent]
    if silent:
        yield said(
            "{title}: the agent learnt no label from {who}{where}, probing or not.",
            title=title,
            who=names(row["team_without"] for row in silent),
            where=_where(silent),
        )
    if rest:
        yield said(
            "{title}: from {who} the probing agent did not learn significantly more or fewer "
            "labels{where}.",
            title=title,
            who=names(row["team_without"] for row in rest),
            where=_where(rest),
        )


def _where(rows: Sequence[Row]) -> Sentence:
    """Return the setting of rows, if they are of one."""
    if len({row["setting"] for row in rows}) > 1:
        return ()
    return said(" in the setting {setting}", setting=rows[0]["setting"])


def _change(row: Row) -> Sentence:
    return said(
        "from {team} {probed} instead of {without}",
        team=names([row["team_without"]]),
        probed=cell(row["probed"], DIGITS),
        without=cell(row["without"], DIGITS),
    )
