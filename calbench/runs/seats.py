"""The code of a run's seats: noted in its folder, and compared before games are added to others.

Of each team the note has a digest of what CalBench plays it with, and one for each module of a
player from elsewhere (:mod:`calbench.runs.closure`). Prompts are not in it, because a game's id has
their digest. Recorded replies hold with any code: their key is the request.
"""

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from calbench.code import PACKAGE, files_below, files_digest
from calbench.console import say, warn
from calbench.engine.jobs import Job, unfinished
from calbench.errors import FileError, OutputError
from calbench.extensions import module_of
from calbench.files import first_problem, read_bytes, write_atomically
from calbench.folders import replaced
from calbench.protocols.registry import is_outside
from calbench.runs.closure import closure
from calbench.scenarios.labels import LABEL_BANKS
from calbench.traces.models import Team
from calbench.traces.paths import CODE_NOTE, TRACES_FOLDER, holds_traces, trace_paths
from calbench.traces.storage import read_trace
from calbench.traces.store import open_store

PLAYING = (
    *("agents", "domain", "engine", "llm", "oracle", "pool", "protocols", "scenarios", "traces"),
    *("bars.py", "code.py", "console.py", "endings.py", "errors.py", "extensions.py", "files.py"),
    "tree.py",
)
"""What of the package is imported to play a game, as a test proves, with the data beside it."""

PAGE = "see evaluate.html#code of the site"

AT_ONCE = 50
"""Games that are held to be put into other shards [C]."""

Code = Mapping[str, str]
"""Digests by module, that of CalBench by the package's name; empty where there is no such code."""


class _Note(BaseModel):
    """What a run's folder says: by team, the code that played its games."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = 1
    teams: dict[str, dict[str, str]]


class CodeCounts(NamedTuple):
    """How many games were played by other code than is here, and of how many nobody here knows."""

    other: int
    unknown: int


@cache
def package_digest(package: Path = PACKAGE, label_banks: Path = LABEL_BANKS) -> str:
    """Return the digest of the part of the package that plays, and of the banks of labels."""
    banks = {f"label bank {name}": path for name, path in files_below(label_banks).items()}
    return files_digest({**files_below(package, PLAYING), **banks})


@cache
def own_digest(module: str) -> str:
    """Return the digest of the code that a module runs of its own; empty if it is not here.

    What is read first counts as long as the process lives, as what is imported first does.
    """
    files = {f"{name} {path.name}": path for name, path in closure(module).items()}
    return files_digest(files) if files else ""


def code_of(modules: Iterable[str]) -> Code:
    """Return the code of some modules as it is here; none of them is imported."""
    return {
        module: package_digest() if module == PACKAGE.name else own_digest(module)
        for module in modules
    }


def modules_of(team: Team) -> list[str]:
    """Return the modules whose code plays a team, the package first."""
    found = []
    for seat in team.seats:
        path, module = str(seat.settings.get("agent")), None
        if seat.kind == "custom":
            module = path.partition(":")[0] if ":" in path else module_of("agent", path)
        elif is_outside(seat.settings):
            module = module_of("protocol", seat.player)
        if module is not None and module.partition(".")[0] != PACKAGE.name:
            found.append(module)
    return [PACKAGE.name, *sorted(set(found))]


def read_note(out: Path) -> Mapping[str, Code]:
    """Return the code that a run's folder notes, by team; none without a note.

    Raises:
        FileError: what is there is no such note.
    """
    path = out / CODE_NOTE
    if not path.exists():
        return {}
    try:
        return _Note.model_validate_json(read_bytes(path)).teams
    except ValidationError as error:
        raise FileError(f"{path}: is no note of a run's code ({first_problem(error)})") from error


def count_codes(paths: Iterable[Path]) -> CodeCounts:
    """Count the games of runs that are not of the code that is here, and no others.

    Args:
        paths: of traces.
    """
    other = unknown = 0
    teams = Counter((path.absolute().parents[1], path.parent.name) for path in paths)
    for (traces, team), count in teams.items():
        if traces.name != TRACES_FOLDER:
            continue
        noted = _noted(traces.parent).get(team, {})
        now = code_of(noted)
        if any(now[module] not in {"", digest} for module, digest in noted.items()):
            other += count
        elif not noted or "" in now.values():
            unknown += count
    return CodeCounts(other, unknown)


def _noted(out: Path) -> Mapping[str, Code]:
    try:
        return read_note(out)
    except FileError:
        return {}


def _changed(noted: Code, now: Code) -> list[str]:
    """Return the modules whose code is another one, or cannot be told."""
    return [name for name in {**noted, **now} if not now.get(name) or noted.get(name) != now[name]]


@dataclass(frozen=True, slots=True)
class SeatCode:
    """The code of a run's teams, beside that of the games in its folder.

    Attributes:
        out: the folder.
        now: the code that is here, by team.
        noted: the code that the folder notes.
    """

    out: Path
    now: Mapping[str, Code]
    noted: Mapping[str, Code]

    @classmethod
    def of(cls, out: Path, teams: Sequence[Team]) -> "SeatCode":
        """Compare the code of teams with the note of a folder.

        Raises:
            OutputError: the folder has a file in the place of the note.
        """
        try:
            noted = read_note(out)
        except FileError as error:
            raise OutputError(
                f"{error}; nothing was written: choose another folder, e.g. out={out}-2"
            ) from error
        return cls(out, {team.team_id: code_of(modules_of(team)) for team in teams}, noted)

    def missing(self, jobs: Sequence[Job], *, is_fresh: bool) -> list[Job]:
        """Return the games that still have to be played.

        Args:
            jobs: all of the run.
            is_fresh: whether those of a team whose games are of other code are among them.

        Raises:
            OutputError: there are games of other code, or other files in the place of games.
        """
        strange = self._strange()
        if is_fresh:
            if not strange:
                say("fresh=true: no game there is of other code")
            left = {job.path for job in unfinished([j for j in jobs if j.team_id not in strange])}
            return [job for job in jobs if job.team_id in strange or job.path in left]
        changed = {team: names for team, names in strange.items() if names}
        if changed:
            modules = ", ".join(sorted({name for names in changed.values() for name in names}))
            raise self._refused(f"games of {_shown(changed)} are of other code ({modules})")
        missing = unfinished(jobs)
        if strange:
            begun = {team: None for team in strange if any(job.team_id == team for job in missing)}
            if begun:
                raise self._refused(f"games of {_shown(begun)} are of unknown code, {PAGE}")
            warn(f"{self.out}: games of {_shown(strange)} are of unknown code, {PAGE}")
        return missing

    def _strange(self) -> dict[str, list[str]]:
        """Return the teams with games of other code, with its modules; with none if unknown."""
        found = {}
        for team, now in self.now.items():
            noted = self.noted.get(team)
            changed = [] if noted is None else _changed(noted, now)
            if (noted is None or changed) and holds_traces(self.out / TRACES_FOLDER / team):
                found[team] = changed
        return found

    def _refused(self, what: str) -> OutputError:
        return OutputError(
            f"{self.out}: {what}; nothing was written: choose another folder, e.g. "
            f"out={self.out}-2, or play these teams anew with fresh=true, which sets their games "
            "aside and asks for no recorded reply again"
        )

    def begin(self, missing: Sequence[Job]) -> None:
        """Set aside what is of other code of the teams that are about to play, and note theirs."""
        teams = {job.team_id for job in missing}
        if aside := teams & set(self._strange()):
            say(f"games of other code are in {_set_aside(self.out / TRACES_FOLDER, aside)}")
        note = {**self.noted, **{team: self.now[team] for team in sorted(teams)}}
        if note != self.noted:
            text = _Note(teams={t: dict(code) for t, code in note.items()}).model_dump_json(
                indent=1
            )
            write_atomically(self.out / CODE_NOTE, f"{text}\n".encode())


def _shown(teams: Iterable[str]) -> str:
    """Return the names of teams, or of many of them the first ones."""
    names = sorted(teams)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more teams" if len(names) > 3 else "")


def _set_aside(traces: Path, teams: Collection[str]) -> Path:
    """Move the games of some teams into a new folder beside that of the traces, and return it.

    Of shards the new folder has all, and the games of other teams are written into new ones.
    """
    number = 1
    while (aside := traces.with_name(f"{traces.name}-before-{number}")).exists():
        number += 1
    games = list(trace_paths(traces))
    if all(path.is_file() for path in games if path.parent.name in teams):
        aside.mkdir()
        for team in teams:
            (traces / team).rename(aside / team)
        return aside
    shutil.copytree(traces, aside)
    kept = [path.relative_to(traces) for path in games if path.parent.name not in teams]
    with replaced(traces, is_marked=False) as beside:
        store = open_store(beside, "shards")
        for start in range(0, len(kept), AT_ONCE):
            some = kept[start : start + AT_ONCE]
            store.commit(
                store.prepare([(beside / name, read_trace(aside / name)) for name in some])
            )
    return aside
