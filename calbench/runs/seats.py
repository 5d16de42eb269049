"""The code of a run's seats: noted in its folder, and compared before games are added to others.

Of each team the note has a digest of what CalBench plays it with, and one for each module of a
player from elsewhere (:func:`closure`). Prompts are not in it, because a game's id has
their digest. Recorded replies hold with any code: their key is the request.

What a module of the user's own runs is found without importing any of it: its closure is what it
imports, and what that imports, within its distribution. For a loose file it is what lies below the
folder in which it was found, and is of no distribution. Imports inside functions count; data files,
and modules that are imported by a name computed at run time, do not.
"""

import ast
import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder, all_suffixes
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from calbench.code import PACKAGE, file_digest, files_below, files_digest, first_digest
from calbench.console import say, warn
from calbench.engine.jobs import Job, unfinished
from calbench.errors import FileError, OutputError
from calbench.extensions import module_of
from calbench.files import first_problem, printable, read_bytes, shorten, write_atomically
from calbench.folders import replaced
from calbench.protocols.registry import is_outside
from calbench.scenarios.labels import LABEL_BANKS
from calbench.traces.catalog import CODE_NOTE, TRACES_FOLDER, Catalog, trace_paths
from calbench.traces.models import Team
from calbench.traces.storage import read_trace
from calbench.traces.store import open_store

ENDINGS = (*(f"/__init__{suffix}" for suffix in all_suffixes()), *all_suffixes())
"""Endings of a module's file, behind the module's name."""


def closure(module: str) -> Mapping[str, Path]:
    """Return the files of a module and of all that it imports of its own, by the modules' names.

    Args:
        module: its dotted name; looked for as an import would be, then in the current folder.

    Returns:
        The files; none if the module cannot be found.
    """
    own = module.partition(".")[0]
    places = _places(own)
    found: dict[str, Path] = {}
    left, seen = [module], {""}
    while left:
        parts = left.pop().split(".")
        for name in (".".join(parts[: end + 1]) for end in range(len(parts))):
            if name in seen or not all(map(str.isidentifier, parts)):
                continue
            seen.add(name)
            file = _file(name, own, places)
            if file is not None and _is_own(parts[0], own):
                found[name] = file
                left += _imports(name, file)
    return found if module in found else {}


def _places(top: str) -> list[Path]:
    """Return where a top-level module is: its folder, several, or its file without the ending."""
    try:
        spec = find_spec(top) or PathFinder.find_spec(top, [str(Path.cwd())])
    except (ImportError, ValueError):  # ValueError: a module that has no place
        return []
    if spec is None or not (spec.submodule_search_locations or spec.has_location):
        return []
    folders = spec.submodule_search_locations
    return [Path(str(spec.origin)).parent / top] if folders is None else [*map(Path, folders)]


def _file(name: str, own: str, places: list[Path]) -> Path | None:
    """Return the file of a module: beside, or below, the top-level module it is looked for from."""
    top, *rest = name.split(".")
    for place in places:
        base = (place if top == own else place.parent / top).joinpath(*rest)
        for ending in ENDINGS:
            if (file := Path(f"{base}{ending}")).is_file():
                return file
    return None


def _is_own(top: str, own: str) -> bool:
    """Whether a module that was found is of the same distribution, or like it of none."""
    if top in {own, PACKAGE.name}:
        return top != PACKAGE.name
    return _distributions().get(top) == _distributions().get(own)


_distributions = cache(packages_distributions)
"""Returns the distributions of every top-level module, which takes a third of a second."""


def _imports(name: str, file: Path) -> Iterator[str]:
    """Yield what may be modules that a file imports; of a name in a module, nobody knows before."""
    if file.suffix != ".py":
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return  # it is no code of this Python, and cannot be imported
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            whole = ".".join([*above, *([node.module] if node.module else [])])
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)


PLAYING = (
    *("agents", "domain", "engine", "llm", "oracle", "pool", "protocols", "scenarios", "traces"),
    *("code.py", "console.py", "documents.py", "endings.py", "errors.py"),
    *("extensions.py", "files.py", "terminal.py", "tree.py"),
)
"""What of the package is imported to play a game, as a test proves, with the data beside it."""

MOST_BYTES = 2**24
"""Greatest size of a note that is read [C]: that of 50,000 teams."""

AT_ONCE = 50
"""Games that are held to be put into other shards [C]."""

Code = Mapping[str, str]
"""Digests by module, that of CalBench by the package's name; empty where there is no such code."""


class _Note(BaseModel):
    """What a run's folder says: by team, the code that played its games."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = 1
    teams: dict[str, dict[str, str]]


def package_digest(package: Path = PACKAGE, label_banks: Path = LABEL_BANKS) -> str:
    """Return the digest of the part of the package that plays, and of the banks of labels.

    Code counts as this process first read it, since it goes on playing; banks as they are now.
    """
    files = files_below(package).items()
    playing = {name: path for name, path in files if name.partition("/")[0] in PLAYING}
    banks = {f"label bank {name}": path for name, path in files_below(label_banks).items()}
    now = frozenset(banks.values())
    return files_digest(
        {**playing, **banks}, lambda path: (file_digest if path in now else first_digest)(path)
    )


def own_digest(module: str) -> str:
    """Return the digest of the code that a module runs of its own; empty if it is not here.

    What is read first counts as long as the process lives, as what is imported first does.
    """
    files = {f"{name} {path.name}": path for name, path in closure(module).items()}
    return files_digest(files, first_digest) if files else ""


def code_of(modules: Iterable[str]) -> Code:
    """Return the code of some modules as it is here; none of them is imported."""
    return {
        module: package_digest() if module == PACKAGE.name else own_digest(module)
        for module in set(modules)
    }


def modules_of(team: Team) -> set[str]:
    """Return the modules whose code plays a team, the package among them."""
    found = {PACKAGE.name}
    for seat in team.seats:
        path, module = str(seat.settings.get("agent")), None
        if seat.kind == "custom":
            module = path.partition(":")[0] if ":" in path else module_of("agent", path)
        elif is_outside(seat.settings):
            module = module_of("protocol", seat.player)
        if module is not None and module.partition(".")[0] != PACKAGE.name:
            found.add(module)
    return found


def read_note(out: Path) -> Mapping[str, Code]:
    """Return the code that a run's folder notes, by team; none without a note.

    Raises:
        FileError: what is there is no such note.
    """
    path = out / CODE_NOTE
    if not os.path.lexists(path):
        return {}
    try:
        return _Note.model_validate_json(read_bytes(path, MOST_BYTES, is_found=True)).teams
    except ValidationError as error:
        raise FileError(
            f"{path}: is no note of a run's code ({first_problem(error)}); move it away, or choose "
            "another folder"
        ) from error


def count_codes(paths: Iterable[Path]) -> Counter[str]:
    """Count the games of runs by their code, ``other`` than is here or ``unknown``.

    Args:
        paths: of traces; those that are in no run are not counted.

    Raises:
        FileError: a run has another file in the place of its note.
    """
    counts: Counter[str] = Counter()
    teams = Counter((path.absolute().parents[1], path.parent.name) for path in paths)
    folders = dict.fromkeys(traces for traces, _ in teams if traces.name == TRACES_FOLDER)
    noted_by_run = {traces: read_note(traces.parent) for traces in folders}
    notes = {
        (traces, team): noted_by_run[traces].get(team, {})
        for traces, team in teams
        if traces in noted_by_run
    }
    now = code_of(chain.from_iterable(notes.values()))
    for place, noted in notes.items():
        is_other = any(now[module] not in {"", digest} for module, digest in noted.items())
        is_unknown = not noted or any(not now[module] for module in noted)
        counts["other" if is_other else "unknown" if is_unknown else "same"] += teams[place]
    return counts


@dataclass(frozen=True, slots=True)
class SeatCode:
    """The code of a run's teams, and that which its folder ``out`` notes, both by team."""

    out: Path
    now: Mapping[str, Code]
    noted: Mapping[str, Code]

    @classmethod
    def of(cls, out: Path, teams: Sequence[Team]) -> "SeatCode":
        """Compare the code of teams with the note of a folder.

        Raises:
            FileError: the folder has another file in the place of the note.
        """
        modules = {team.team_id: modules_of(team) for team in teams}
        code = code_of(chain.from_iterable(modules.values()))
        now = {team: {name: code[name] for name in names} for team, names in modules.items()}
        return cls(out, now, read_note(out))

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
        if changed := sorted(team for team, modules in strange.items() if modules):
            modules = ", ".join(
                sorted({shorten(printable(m)) for t in changed for m in strange[t]})
            )
            raise self._refused(f"games of {_shown(changed)} are of other code ({modules})")
        missing = unfinished(jobs)
        unknown = "games of {} are of unknown code, see evaluate.html#code of the site"
        if begun := sorted(strange.keys() & {job.team_id for job in missing}):
            raise self._refused(unknown.format(_shown(begun)))
        if strange:
            warn(f"{self.out}: {unknown.format(_shown(sorted(strange)))}")
        return missing

    def begin(self, missing: Sequence[Job]) -> None:
        """Set aside what is of other code of the teams that are about to play, and note theirs."""
        teams = {job.team_id for job in missing}
        if aside := teams & self._strange().keys():
            say(f"games of other code are in {_set_aside(self.out / TRACES_FOLDER, aside)}")
        note = {**self.noted, **{team: self.now[team] for team in teams}}
        if note != self.noted:
            text = _Note(teams={t: dict(note[t]) for t in sorted(note)}).model_dump_json(indent=1)
            write_atomically(self.out / CODE_NOTE, f"{text}\n".encode())

    def _strange(self) -> dict[str, list[str]]:
        """Return the teams with games of other code, and its modules; none where it is unknown."""
        found = {}
        for team, now in self.now.items():
            noted = self.noted.get(team, {})
            names = {*now, *noted} if noted else ()
            changed = [name for name in names if not now.get(name) or noted.get(name) != now[name]]
            if (changed or not noted) and Catalog().holds_traces(self.out / TRACES_FOLDER / team):
                found[team] = changed
        return found

    def _refused(self, what: str) -> OutputError:
        return OutputError(
            f"{self.out}: {what}; nothing was written: choose another folder, e.g. "
            f"out={self.out}-2, or play these teams anew with fresh=true, which sets their games "
            "aside and asks for no recorded reply again"
        )


def _shown(teams: Sequence[str]) -> str:
    """Return the names of teams, or of many of them the first ones."""
    return ", ".join(teams[:3]) + (f" and {len(teams) - 3} more teams" if len(teams) > 3 else "")


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
