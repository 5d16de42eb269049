"""Names by which the teams of several runs are told apart: that of a run behind that of a team."""

import json
import re
from pathlib import Path

from calbench.runs.fragments import STORE
from calbench.traces.catalog import raw_trace
from calbench.traces.paths import TRACES_FOLDER

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


def renamed_trace(path: Path, team: str) -> bytes:
    """Return a trace as bytes, with another name for its team.

    Raises:
        FileError: it cannot be read.
    """
    document = json.loads(raw_trace(path))  # whole numbers of any size stay whole
    document["config"]["team"]["team_id"] = team
    return json.dumps(document, separators=(",", ":")).encode("ascii")
