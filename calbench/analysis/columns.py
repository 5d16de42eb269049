"""A column and what it means, and the columns that several tables share."""

from dataclasses import dataclass
from typing import Literal

from calbench.analysis.measures import MEASURES

Kind = Literal["text", "integer", "number", "truth", "list"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: as in the header.
        kind: of its cells; an empty cell is absent, never zero.
        unit: of numbers, else empty.
        meaning: in words.
        denominator: over what a mean runs, else empty.
        origin: [P] the paper, [R] the public release, [F] fitted to the paper's numbers,
            [C] our choice; empty for identifiers.
    """

    name: str
    kind: Kind
    unit: str
    meaning: str
    denominator: str = ""
    origin: str = ""


SETTING = Column("setting", "text", "", "setting of the scenario")
TEAM = Column("team", "text", "", "team id")
SCENARIO = Column("scenario_id", "text", "", "scenario id, unique in its suite file")
AGENT = Column("agent_id", "integer", "", "agent, from 0")
TRACE_PATH = Column(
    "trace_path", "text", "", "file of the game, relative to the folder of traces", origin="P"
)
GAME_ID = Column("game_id", "text", "", "UUIDv5 of what defines the game", origin="P")
ROUND = Column("round", "integer", "", "number of the round, from 0", origin="P")
TARGET = Column("target_agent", "integer", "", "whose calendar the belief is about", origin="P")
OBSERVER = Column("observer_agent", "integer", "", "who holds the belief", origin="P")
SLOTS = "slot-equivalents"
COST = "accounting cost"


def estimated(name: str, unit: str, meaning: str, denominator: str, origin: str) -> list[Column]:
    """Return the columns of an estimate: its mean, and the ends of its interval."""
    interval = "of the expanded percentile interval by bootstrap over scenarios"
    return [
        Column(name, "number", unit, meaning, denominator, origin),
        Column(f"{name}_low", "number", unit, f"lower end {interval}", denominator, "C"),
        Column(f"{name}_high", "number", unit, f"upper end {interval}", denominator, "C"),
    ]


MEASURE_COLUMNS = tuple(
    column
    for measure in MEASURES
    for column in estimated(
        measure.name,
        measure.unit,
        f"mean of: {measure.definition}",
        measure.denominator,
        measure.origin,
    )
)
"""Every headline measure, with its interval."""

VPS_KIND = Column(
    "vps_kind",
    "text",
    "",
    "how V was measured: protocol (typed messages by their semantics), reflection (language, by "
    "what others report to have learnt), mixed; empty: not measured",
    origin="P",
)
PLAYER = Column("player", "text", "", "who takes the seat")
PLAYER_KIND = Column(
    "kind", "text", "", "of player: protocol, degenerate, scripted, model or custom", origin="C"
)
ROW_VERSION = Column(
    "metrics_version", "integer", "", "version of the metrics that computed the row", origin="C"
)
