"""Makes the folder of a submission from a run."""

import platform
from collections.abc import Callable, Collection, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from shutil import copyfile

from pydantic import ValidationError

from calbench.code import LIBRARIES, PACKAGE, PACKAGE_VERSION, versions_of
from calbench.console import progress
from calbench.errors import ConfigError, FileError
from calbench.files import STORE, check_no_link, first_problem, printable, shorten
from calbench.folders import check_new, replaced
from calbench.runs.folder import job_folders
from calbench.runs.seats import closure, modules_of, read_note
from calbench.submissions.check import derived
from calbench.submissions.examine import Examined, examine, parts_of, write_replies
from calbench.submissions.folder import (
    ENVIRONMENT,
    PLACES,
    REPLIES_FOLDER,
    SOURCE_FOLDER,
    SUBMISSION,
    Authorship,
    Environment,
    Kind,
    Submission,
    digest_of,
    document_bytes,
    files_of,
    source_digest,
)
from calbench.traces.catalog import TRACES_FOLDER, trace_paths
from calbench.traces.store import write_packed_games

ASKING = ("litellm", "ortools", "pydantic")
"""Libraries beside those that compute, whose versions an environment names if they are here."""

ALLOWED = {
    "name": "name (that of out): 1 to 64 letters of ASCII, digits and signs of ._-, no sign first",
    "contact": "contact: 2 to 100 letters, digits and signs of ASCII, without spaces",
    "date": "date: a day as 2026-11-28",
    "says_model": "model: 1 to 200 letters, digits and signs of ASCII, without spaces",
}
"""What an author may say, by the key of a submission, in words of the command."""


def prepare(
    run: Path,
    out: Path,
    said: Mapping[str, str],
    teams: Collection[str] = (),
    replies: Path | None = None,
    *,
    with_source: bool = False,
) -> str:
    """Write a submission of the games of a run into a new folder; return its id.

    Args:
        run: its folder.
        out: the new folder, whose name becomes that of the submission unless ``said`` has one.
        said: ``contact``, and if wished ``name``, ``date`` and ``says_model``.
        teams: whose games are handed in; none: all.
        replies: recorded replies of the models; absent: those in the run's folder, if any are.
        with_source: whether the source of own code goes with it.

    Raises:
        ConfigError: what is said does not fit.
        FileError: what would be refused by the check; nothing was written.
        OutputError: the folder is not new, or cannot be written.
    """
    check_new(out)
    said = {"name": out.resolve().name, "date": f"{date.today()}", **said}  # noqa: DTZ011
    author = _read(Authorship.model_validate_strings, said)
    paths = _games(run, teams)
    if replies is None:
        check_no_link(run / STORE)
        replies = run / STORE if (run / STORE).is_file() else None
    found = examine(paths, replies)
    parts = parts_of(found)
    if found.problems:
        raise FileError(f"{run}: {found.problems[0]}; nothing was written")
    code = {team: note for team, note in read_note(run).items() if team in found.configs}
    follows = {**derived(found, parts, paths), "code": code}
    with replaced(out, is_marked=False, check=partial(check_new, out)) as beside:
        with progress("packed", len(paths)) as tick:
            write_packed_games(paths, beside / TRACES_FOLDER, tick)
        if replies is not None and found.teams_by_key:
            write_replies(replies, found, beside / REPLIES_FOLDER)
        if with_source:
            _write_source(found, code, beside)
        (beside / ENVIRONMENT).write_bytes(document_bytes(environment()))
        found_files = files_of(beside).items()
        names = {name: digest_of(path) for name, path in found_files if PLACES.fullmatch(name)}
        made = _read(Submission.model_validate, {**author.model_dump(), **follows, "files": names})
        (beside / SUBMISSION).write_bytes(document_bytes(made))
    return digest_of(out / SUBMISSION)


def _games(run: Path, teams: Collection[str]) -> list[Path]:
    """Return the traces of a run, those of some teams alone if any are named."""
    if jobs := job_folders(run):
        raise ConfigError(f"{run}: is a sweep, or a folder of runs; name one, e.g. {jobs[0]}")
    paths = [path for path in trace_paths(run) if not teams or path.parent.name in teams]
    if unknown := sorted({*teams} - {path.parent.name for path in paths}):
        raise ConfigError(f"teams: {run} has no games of {printable(unknown[0])}")
    return paths


def _read(read: Callable[[Mapping[str, object]], Kind], values: Mapping[str, object]) -> Kind:
    try:
        return read(values)
    except ValidationError as error:
        key, problem = str(error.errors()[0]["loc"][0]), first_problem(error)
        if key in ALLOWED:
            problem = f"{ALLOWED[key]}, got {shorten(ascii(values.get(key, '')))}"
        raise ConfigError(problem) from error


def environment() -> Environment:
    """Return the versions of what plays here; no name of this machine is among them."""
    packages = {"calbench": PACKAGE_VERSION, **versions_of((*LIBRARIES, *ASKING))}
    return Environment(
        python=platform.python_version(),
        system=platform.system() or "unknown",
        machine=platform.machine() or "unknown",
        packages=dict(sorted(packages.items())),
    )


def _write_source(found: Examined, code: Mapping[str, Mapping[str, str]], folder: Path) -> None:
    """Write the source of own code, if it is still what played.

    Raises:
        FileError: it is not here, or is another.
    """
    for team, config in found.configs.items():
        for module in sorted(modules_of(config.team) - {PACKAGE.name}):
            if not (files := closure(module)):
                raise FileError(f"{module}: is not found here; run this in the folder of its file")
            for name, path in files.items():
                into = folder / SOURCE_FOLDER / module / name / path.name
                into.parent.mkdir(parents=True, exist_ok=True)
                copyfile(path, into)
            if source_digest(folder, module) != code.get(team, {}).get(module, ""):
                raise FileError(
                    f"{module}: its source is not that which played {team}, or is no Python; "
                    "play the games again, or hand them in without it"
                )
