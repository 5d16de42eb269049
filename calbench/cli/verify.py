"""``calbench verify``: replay traces and recompute every number they hold."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from calbench.cli.status import Status
from calbench.console import alert, progress, verdict
from calbench.errors import FileError
from calbench.llm.client import open_recorded
from calbench.runs.seats import count_codes
from calbench.runs.verification import UnprovenError, Verified, verify_file
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.storage import TraceReader


@dataclass(slots=True)
class Report:
    """What came of some traces: by file, what holds and how much of it was checked, or why not.

    ``codes`` counts the games of runs by their code; no trace is wrong for being of another one.
    """

    codes: Counter[str]
    proven: dict[Path, Verified] = field(default_factory=dict)
    failures: dict[Path, UnprovenError] = field(default_factory=dict)

    @property
    def total(self) -> Verified:
        """How much was checked of all traces that hold."""
        return sum(self.proven.values(), Verified())

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "traces": len(self.proven) + len(self.failures),
            "held": len(self.proven),
            **self.total.as_data(),
            "of_other_code": self.codes["other"],
            "of_unknown_code": self.codes["unknown"],
            "failures": [
                {"path": str(path), "level": error.level, "problem": error.problem}
                for path, error in self.failures.items()
            ],
            "files": [{"path": str(path), **one.as_data()} for path, one in self.proven.items()],
        }

    def __str__(self) -> str:
        """Say it in one line: how many hold, and what of them is the trace's word alone."""
        count, total = len(self.proven) + len(self.failures), self.total
        parts = {
            "replies checked": total.replies_checked,
            "replies not checked": total.replies_not_checked,
            "turns of players from elsewhere not checked": total.turns_not_checked,
            "prompts not checked": total.prompts_not_checked,
            "reasons of halts not checked": total.halts_not_checked,
            "games of other code": self.codes["other"],
            "games of unknown code": self.codes["unknown"],
        }
        said = [f"{number} {what}" for what, number in parts.items() if number]
        return "; ".join([f"{len(self.proven)} of {count} traces hold", *said])


def main(names: Sequence[Path], *, replies: Path | None = None, as_json: bool = False) -> int:
    """Verify every trace that is named; say which fail."""
    for name in names:
        if not name.exists() and not Catalog().holds_traces(name):
            raise FileError(f"{name}: cannot be read (No such file or directory)")
    paths = [path for name in names for path in trace_paths(name)]
    report, reader = Report(count_codes(paths)), TraceReader()
    opened = nullcontext() if replies is None else open_recorded(replies)
    with opened as store, progress("verified", len(paths)) as tick:
        for path in paths:
            try:
                report.proven[path] = verify_file(path, store, reader)
            except UnprovenError as error:
                report.failures[path] = error
                alert(f"error: {error}")
            tick()
    if as_json:
        print(orjson.dumps(report.as_data(), option=orjson.OPT_INDENT_2).decode())
    verdict(str(report), is_good=not report.failures, is_beside=as_json)
    return Status.DIFFERENT if report.failures else Status.DONE
