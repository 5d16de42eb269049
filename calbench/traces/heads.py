"""What traces are about: read without their events, which are most of a file."""

import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from calbench.domain.canonical import canonical_json, digest
from calbench.scenarios.bounds import MOST_AGENTS
from calbench.traces.catalog import Catalog
from calbench.traces.outlines import before_events
from calbench.traces.storage import parsed_trace


@dataclass(frozen=True, slots=True)
class TraceHead:
    """What a trace is about, read without its events.

    Attributes:
        scenario_digest: SHA-256 of the scenario, without oracle and difficulty, which are
            derived.
        lineup: the team as JSON without its id. All rotations of a team have the same.
        rules: the rest of the game's configuration as JSON, without the replicate.
        replicate: which of the team's games on the scenario, from 0.
    """

    setting: str
    team_id: str
    scenario_id: str
    scenario_digest: str
    lineup: str
    rules: str
    replicate: int = 0

    def shared(self) -> Self:
        """Return the same with interned texts, because many games repeat them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {name: sys.intern(text) for name, text in values.items() if name != "replicate"}
        return type(self)(**texts, replicate=self.replicate)


def read_head(path: Path) -> TraceHead:
    """Read what a trace is about; the rest of the file is not checked.

    Raises:
        FileError: naming the file and the field that does not fit.
    """
    return head_of(path, Catalog().read(path))


def head_of(path: Path, data: bytes) -> TraceHead:
    """Return what the bytes of a trace are about.

    Args:
        path: of the trace, for messages.
        data: the whole document.

    Raises:
        FileError: as :func:`read_head`.
    """
    document, _ = before_events(path, data)
    try:
        scenario = {
            key: value
            for key, value in document["scenario"].items()
            if key not in ("oracle", "difficulty")
        }
        config = document["config"]
        rules = {key: config[key] for key in config if key not in ("team", "replicate")}
        head = TraceHead(
            setting=str(scenario["setting"]),
            team_id=str(config["team"]["team_id"]),
            scenario_id=str(scenario["scenario_id"]),
            scenario_digest=digest(scenario),
            lineup=_lineup(config["team"]),
            rules=canonical_json(rules),
            replicate=int(config.get("replicate", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        parsed_trace(path, data)  # says what is wrong
        raise
    return head


def _lineup(team: dict[str, Any]) -> str:
    """Return a team as JSON without its id; if it rotates, in the first of its rotations."""
    seats = team["seats"]
    texts = [canonical_json(seat) for seat in seats]
    is_moved = team.get("rotation") and len(texts) <= MOST_AGENTS  # more never all sit
    turns = range(len(texts)) if is_moved else range(1)
    first = min(turns, key=lambda turn: texts[turn:] + texts[:turn])
    rest = {key: value for key, value in team.items() if key != "team_id"}
    return canonical_json(rest | {"seats": [*seats[first:], *seats[:first]]})
