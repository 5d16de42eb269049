"""``calbench prove``: whether the computed results are the published ones.

Checksums of ``dvc.lock`` are not used: every file is read.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson

from calbench.cli.words import Status, Words
from calbench.console import progress, tell, verdict
from calbench.errors import ConfigError, FileError
from calbench.facts.frames import header_of
from calbench.files import read_bytes
from calbench.release.copies import read_suite_copy, read_table_copy, row_key
from calbench.release.differences import (
    Difference,
    file_differences,
    suite_differences,
    table_differences,
)
from calbench.release.manifest import (
    SUITES,
    TABLES,
    TRACES,
    Digests,
    Manifest,
    all_games,
    by_experiment,
    digest,
    digests,
    game_digests,
    read_games,
    read_manifest,
    versions,
)
from calbench.release.values import Values, value_differences

FIRST = "run `dvc repro` first"


class Folders(NamedTuple):
    """The folders that are compared."""

    data: Path
    release: Path


@dataclass(slots=True)
class Proof:
    """Result of a comparison.

    Attributes:
        tables: number of files identical to the byte.
        games: likewise.
        suites: likewise.
        files: likewise; all others below the folder of tables.
        differences: all differences.
        unchecked: published experiments and files that were not computed.
    """

    tables: int = 0
    games: int = 0
    suites: int = 0
    files: int = 0
    differences: list[Difference] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    @property
    def is_identical(self) -> bool:
        """Whether everything published was computed and is identical."""
        return not self.differences and not self.unchecked

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "is_identical": self.is_identical,
            "identical": {name: getattr(self, name) for name in (*COUNTED, "files")},
            "differences": [each.as_data() for each in self.differences],
            "unchecked": self.unchecked,
        }


NOT_COPIED = "only the checksum of this file is published"

COUNTED = ("tables", "games", "suites")

IsWanted = Callable[[str], bool]
"""Whether a path below ``data`` is compared."""


def prove(folders: Folders, paths: Sequence[Path] = ()) -> Proof:
    """Compare everything below ``data``, or below some paths, with the release.

    Raises:
        ConfigError: nothing was computed, or a path does not exist.
        FileError: the release is broken.
    """
    published = read_manifest(folders.release)
    is_wanted = _filter(folders.data, paths)
    proof = Proof()
    compared = partial(_compared, proof, folders, is_wanted, published.contents)
    proof.suites = _same(*compared(SUITES, published.suites, published.suites))
    games = read_games(folders.release)
    listed, now = compared(TRACES, games)
    proof.games = _same(listed, now)
    proof.differences += _listing_differences(games, now, published)
    listed, now = compared(TABLES, published.tables | published.files, published.tables)
    tables = {name: found for name, found in listed.items() if not name.endswith(".json")}
    proof.tables = _same(tables, now)
    proof.files = _same(listed, now) - proof.tables
    if not (proof.tables or proof.games or proof.suites or proof.files or proof.differences):
        if paths and not proof.unchecked:
            raise ConfigError(f"{paths[0]}: nothing of this name was computed or published")
        raise ConfigError(f"{folders.data}: nothing was computed yet; {FIRST}")
    proof.differences += _version_differences(published)
    return proof


def _filter(data: Path, paths: Sequence[Path]) -> IsWanted:
    wanted = []
    for path in paths:
        try:
            wanted.append(_normal(path).relative_to(_normal(data)))
        except ValueError as error:
            raise ConfigError(f"{path}: is not below {data}") from error
    return lambda name: not wanted or any(PurePosixPath(name).is_relative_to(w) for w in wanted)


def _normal(path: Path) -> Path:
    """Return a path without ``..``, and with links: a folder of data may be one."""
    return Path(normpath(path.absolute()))


def _compared(
    proof: Proof,
    folders: Folders,
    is_wanted: IsWanted,
    values: Mapping[str, Values],
    folder: str,
    listed: Digests,
    copied: Container[str] = (),
) -> tuple[Digests, Digests]:
    """Compare a folder; return the digests of what was published and computed in it.

    Args:
        proof: where differences are noted.
        folders: where published and computed files are.
        is_wanted: says of a path whether it is compared.
        values: of published Parquet files.
        folder: below ``data``.
        listed: digest, or its first digits, by file, as published.
        copied: files of which the release has copies.
    """
    found = game_digests if folder == TRACES else digests
    published, now = _on_both_sides(
        proof,
        folder,
        {name: found for name, found in listed.items() if is_wanted(f"{folder}/{name}")},
        found(folders.data / folder, lambda name: is_wanted(f"{folder}/{name}")),
    )
    alone, differing = file_differences(folder, published, now)
    proof.differences += alone
    with progress(f"compared {folder}", sum(name in copied for name in published)) as tick:
        for name, expected in published.items():
            if name in copied:
                proof.differences += _explained(
                    folders, folder, name, expected, is_other=name in differing
                )
                tick()
            elif name in differing and name in values:
                path = folders.data / folder / name
                proof.differences += value_differences(f"{folder}/{name}", values[name], path)
            elif name in differing:
                note = NOT_COPIED if copied else ""
                proof.differences.append(Difference(f"{folder}/{name}", "other bytes", note=note))
    return published, now


def _listing_differences(games: Digests, now: Digests, manifest: Manifest) -> Iterator[Difference]:
    """Yield experiments whose games agree with the list, but not with ``manifest.json``."""
    listed, computed = by_experiment(games), by_experiment(now)
    for experiment in sorted(listed.keys() | manifest.traces.keys()):
        ours, theirs = computed.get(experiment, {}), listed.get(experiment, {})
        is_same = _same(theirs, ours) == len(theirs) == len(ours)
        if is_same and manifest.traces.get(experiment) != all_games(ours):
            note = "the list of its games does not agree with manifest.json"
            yield Difference(f"{TRACES}/{experiment}", "release", note=note)


def _on_both_sides(
    proof: Proof, folder: str, published: Digests, now: Digests
) -> tuple[Digests, Digests]:
    """Return the files of experiments that were published and computed; note the others.

    Missing files of an experiment that was partly computed are differences.
    """
    known, computed = ({name.partition("/")[0] for name in files} for files in (published, now))
    proof.unchecked += [f"{folder}/{name}" for name in sorted(known - computed)]
    proof.differences += [
        Difference(f"{folder}/{name}", "not published") for name in sorted(computed - known)
    ]
    both = known & computed
    kept = [{n: d for n, d in f.items() if n.partition("/")[0] in both} for f in (published, now)]
    return kept[0], kept[1]


def _explained(
    folders: Folders, folder: str, name: str, expected: str, *, is_other: bool
) -> Iterator[Difference]:
    """Yield the differences of a file of which the release has a copy, or of the copy."""
    file = f"{folder}/{name}"
    try:
        read_copy = read_suite_copy if folder == SUITES else read_table_copy
        copy = read_copy(folders.release, name)
    except FileError as error:
        yield Difference(file, "release", note=str(error))
        return
    if is_other and folder == SUITES:
        yield from suite_differences(file, copy, read_bytes(folders.data / file))
    elif is_other:
        now = read_bytes(folders.data / file)
        shared = set(header_of(copy)) & set(header_of(now))
        yield from table_differences(file, copy, now, row_key(name, shared))
    elif digest(copy) != expected:
        note = "its copy in the release does not agree with manifest.json"
        yield Difference(file, "release", note=note)


def _same(published: Mapping[str, str], now: Mapping[str, str]) -> int:
    return sum(name in now and now[name].startswith(d) for name, d in published.items())


def _version_differences(manifest: Manifest) -> list[Difference]:
    now = versions()
    return [
        Difference(
            "release/manifest.json",
            "version",
            column=name,
            published=str(manifest.versions.get(name, "")),
            now=str(now.get(name, "")),
        )
        for name in sorted(manifest.versions.keys() | now.keys())
        if manifest.versions.get(name) != now.get(name)
    ]


DATA = Path("data")
RELEASE = DATA / "release"
SITE = Path("build/site/index.html")

SHOWN = 20
"""Differences that are printed [C]; ``--json`` has all."""


def main(words: Words, *, as_json: bool) -> int:
    """Compare everything, or what is below some paths; print the differences."""
    if not RELEASE.is_dir():
        raise ConfigError(
            f"{RELEASE}: there is no such folder; start in a checkout, after `dvc repro`"
        )
    proof = prove(Folders(DATA, RELEASE), words.paths)
    if as_json:
        print(orjson.dumps(proof.as_data(), option=orjson.OPT_INDENT_2).decode())
    else:
        _tell(proof)
    verdict(_verdict(proof), is_good=proof.is_identical, is_beside=as_json)
    return Status.DONE if proof.is_identical else Status.DIFFERENT


def _tell(proof: Proof) -> None:
    for difference in proof.differences[:SHOWN]:
        tell(str(difference))
    if len(proof.differences) > SHOWN:
        tell(f"... and {len(proof.differences) - SHOWN} more; --json has all")
    for name in proof.unchecked:
        tell(f"{name}: not computed, so not compared")
    if proof.is_identical:
        tell(f"Open {SITE}" if SITE.is_file() else "The site is not built: run `dvc repro`")


def _verdict(proof: Proof) -> str:
    """Return how much is identical, and how much is not."""
    same = (
        f"{proof.tables} tables, {proof.games} games, {proof.suites} suites and {proof.files} "
        "other files"
    )
    if proof.is_identical:
        return f"Identical with what is published: {same}"
    parts = [f"{len(proof.differences)} differences"] if proof.differences else []
    parts += [f"{len(proof.unchecked)} not computed"] if proof.unchecked else []
    return f"Not identical: {', '.join(parts)}. Identical: {same}"
