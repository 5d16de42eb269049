"""Names by which the teams of several runs are told apart: that of a run behind that of a team."""

import re
from pathlib import Path

from calbench.runs.source import STORE
from calbench.traces.catalog import TRACES_FOLDER
from calbench.traces.storage import parsed_trace, trace_bytes

LONGEST = 64
"""Most characters of the name of a team."""

LONGEST_RUN = 24
"""Most characters of the name of a run, which may be behind that of a team [C]."""


def run_name(path: Path) -> str:
    """Return the name of a run, that of its folder, with the letters that names may have."""
    whole = path.resolve()
    folder = whole.parent.name if whole.name in {TRACES_FOLDER, STORE} else whole.name
    return re.sub(r"[^A-Za-z0-9_-]+", "-", folder).strip("-_")[:LONGEST_RUN] or "run"


def team_of_run(team: str, run: str) -> str:
    """Return the name of a team with that of its run behind it: ``my-model.run-a``."""
    return f"{team[: LONGEST - len(run) - 1]}.{run}"


def renamed_trace(path: Path, data: bytes, team: str) -> bytes:
    """Return the bytes of a trace with another name for its team.

    Args:
        path: of the trace, for messages.
        data: its bytes.
        team: the name.

    Raises:
        FileError: it is no trace.
    """
    trace = parsed_trace(path, data)
    config = trace.config.updated(team=trace.config.team.model_copy(update={"team_id": team}))
    return trace_bytes(trace.model_copy(update={"config": config}))
