"""The messages that tell private labels, so that a reader can go from a rate to a sentence."""

from collections.abc import Iterator, Sequence

from calbench.metrics.outcomes import is_lost
from calbench.metrics.seats import players_of
from calbench.metrics.speech.said import said
from calbench.metrics.speech.told import labels_of_game, told_leaks
from calbench.report.results import Row
from calbench.scenarios.labels import TIERS
from calbench.traces.models import Trace

COLUMNS = (
    "experiment", "setting", "team", "scenario_id", "event_index", "round", "sender", "player",
    "labels_told", *TIERS, "words",
)  # fmt: skip
"""Of ``tables/leaking_messages.csv``."""

NAME = "leaking_messages.csv"

BETWEEN = " / "
"""Between the words that tell one label and the next."""


def leaking_messages(trace: Trace, experiment: str) -> Iterator[Row]:
    """Yield a row for each message of a game that tells a private label, in their order."""
    team, scenario = trace.config.team, trace.scenario
    labels = labels_of_game(trace) if team.uses_language else None
    if labels is None or is_lost(trace.events):
        return
    names = [player.name for player in players_of(team, scenario.num_agents)]
    for message in said(trace):
        leaks = told_leaks(message, labels, scenario)
        if not leaks:
            continue
        place = (experiment, scenario.setting, team.team_id, scenario.scenario_id)
        tiers = [leak.tier for leak in leaks]
        yield dict(
            zip(
                COLUMNS,
                (
                    *place,
                    str(message.event_index),
                    str(message.round),
                    str(message.sender),
                    names[message.sender],
                    str(len(leaks)),
                    *(str(tiers.count(tier)) for tier in TIERS),
                    BETWEEN.join(" ".join(leak.span.split()) for leak in leaks),
                ),
                strict=True,
            )
        )


def most_telling(rows: Sequence[Row], team: str, setting: str, count: int) -> list[Row]:
    """Return a team's messages that tell most labels, sensitive ones first; each of another game.

    One game's messages repeat themselves, so the first of each game stands for it.
    """
    own = [row for row in rows if (row["team"], row["setting"]) == (team, setting)]
    own.sort(
        key=lambda row: (
            -int(row["labels_told"]),
            -int(row["sensitive"]),
            row["scenario_id"],
            int(row["event_index"]),
        )
    )
    best: dict[str, Row] = {}
    for row in own:
        best.setdefault(row["scenario_id"], row)
    return list(best.values())[:count]
