"""Everything that is published as one folder, the same to the byte wherever it is made.

Nothing in it depends on the clock, the machine or the place; its date is that of ``CITATION.cff``.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from calbench.bundle.descriptions import crate, descriptions, read_about, write_cards
from calbench.bundle.files import Entry, entries, sizes, write_json, write_manifest
from calbench.bundle.tables import datapackage, write_tables
from calbench.console import progress
from calbench.errors import ConfigError, OutputError
from calbench.files import first_problem, read_bytes
from calbench.folders import is_own, replaced, scratch_folder
from calbench.report.downloads import write_archive, write_gzip
from calbench.report.role import Role
from calbench.traces.shards import SHARD_GLOB, write_published

REPRO, SBOM = "run `dvc repro`", "run `make sbom`"

NEEDED: Mapping[str, str] = {
    "CITATION.cff": "start in a checkout",
    "LICENSE": "start in a checkout",
    "requirements.lock": "start in a checkout",
    "site/notebooks/bundle.ipynb": "start in a checkout",
    "data/cohorts": "start in a checkout",
    "build/parts/publish.json": REPRO,
    "data/suites": REPRO,
    "data/traces": REPRO,
    "data/tables/summary": REPRO,
    "build/site/index.html": REPRO,
    "build/site/schemas": REPRO,
    "build/sbom.json": SBOM,
}
"""What a bundle is made of, and what to do where it is missing."""

PARTS: Mapping[str, str] = {
    "locks": "locked versions of all libraries, with the hashes of their files",
    "replies": "recorded replies of models, as JSON Lines in an archive for each cohort",
    "schemas": "JSON Schemas of scenarios and games",
    "site": "the site; open `site/index.html`",
    "suites": "scenarios, as JSON Lines for each experiment",
    "tables": "all tables, as Parquet and as CSV",
    "traces": "all games, in shards for each experiment",
}
"""What is in each folder of a bundle."""


def write_bundle(top: Path, out: Path) -> list[Entry]:
    """Write the bundle of what was computed, whole or not at all; return its files.

    Args:
        top: of a checkout in which the pipeline ran.
        out: a new or an empty folder, or an earlier bundle, which is replaced.

    Raises:
        ConfigError: something that it is made of is missing.
        FileError: a table or another file cannot be read.
        OutputError: the folder holds other files, or cannot be written.
    """
    for name, remedy in NEEDED.items():
        if not (top / name).exists():
            raise ConfigError(f"{top / name}: is missing; {remedy}, then bundle again")
    _check_out(out)
    roles = _roles(top / "build" / "parts" / "publish.json")
    try:
        with (
            scratch_folder("bundle") as scratch,
            replaced(out, check=partial(_check_out, out)) as beside,
        ):
            _copy(top, roles, beside)
            return write_manifest(beside, _describe(top, roles, scratch, beside))
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{out}: cannot be written ({reason}); choose another folder") from error


def _check_out(out: Path) -> None:
    if not is_own(out):
        raise OutputError(f"{out}: holds other files; choose another folder with out=")


class _Part(BaseModel):
    role: Role


def _roles(path: Path) -> dict[str, Role]:
    """Return what each experiment is for, in the order of the site."""
    try:
        found = TypeAdapter(dict[str, _Part]).validate_json(read_bytes(path))
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}; {REPRO}") from error
    return {name: part.role for name, part in found.items()}


def _copy(top: Path, roles: Mapping[str, Role], out: Path) -> None:
    """Write what is published as it is, or packed."""
    shutil.copytree(top / "build" / "site", out / "site", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(top / "build" / "site" / "schemas", out / "schemas")
    for name in ("locks", "suites", "traces", "replies"):
        (out / name).mkdir()
    for lock in sorted(top.glob("requirements*.lock")):
        shutil.copyfile(lock, out / "locks" / lock.name)
    for name in ("CITATION.cff", "LICENSE", "build/sbom.json", "site/notebooks/bundle.ipynb"):
        shutil.copyfile(top / name, out / Path(name).name)
    with progress("games of experiments", len(roles)) as tick:
        for name in roles:
            write_gzip(
                top / "data" / "suites" / f"{name}.jsonl", out / "suites" / f"{name}.jsonl.gz"
            )
            (out / "traces" / name).mkdir()
            for shard in _shards(top / "data" / "traces" / name):
                write_published(shard, out / "traces" / name / shard.name)
            tick(name)
    for cohort in sorted((top / "data" / "cohorts").iterdir()):
        if cohort.is_dir():
            write_archive(cohort, out / "replies" / f"{cohort.name}.tar.zst", cohort.name)


def _shards(folder: Path) -> Iterator[Path]:
    found = sorted(folder.glob(SHARD_GLOB))
    if not found:
        raise ConfigError(f"{folder}: has no games; {REPRO}")
    yield from found


def _describe(top: Path, roles: Mapping[str, Role], scratch: Path, out: Path) -> Sequence[Entry]:
    """Write the tables, and what describes all that is there; return what was described."""
    about = read_about(top / "CITATION.cff")
    tables = write_tables(top / "data", roles, scratch, out)
    write_json(out / "datapackage.json", datapackage(tables, about))
    for name, described in descriptions(about, tables).items():
        write_json(out / name, described)
    found = entries(out, [file for each in tables for file in (each.csv, each.parquet)])
    written = sizes(found)
    folders = {name: written[name] for name in PARTS}
    write_cards(about, tables, PARTS, folders, out)
    found = entries(out, found)
    write_json(out / "ro-crate-metadata.json", crate(about, found, PARTS))
    return found
