"""``calbench prove``: whether the computed results are the published ones.

Checksums of ``dvc.lock`` are not used: every file is read.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from calbench.analysis.versions import versions
from calbench.cli.words import Status, Words
from calbench.console import progress, tell, verdict
from calbench.errors import ConfigError, FileError
from calbench.facts.frames import header_of
from calbench.files import read_bytes
from calbench.release.copies import Copies, row_key
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
    experiment_of,
    game_digests,
    read_games,
    read_manifest,
)
from calbench.release.values import Values, value_differences

FIRST = "run `dvc repro` first"


NOT_COPIED = "only the checksum of this file is published"


@dataclass(slots=True)
class Proof:
    """Result of a comparison.

    Attributes:
        identical: number of tables, games and suites that are identical to the byte, and of
            identical ones among all other files below the folder of tables.
        differences: all differences.
        unchecked: published experiments and files that were not computed.
    """

    identical: dict[str, int] = field(default_factory=dict)
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
            "identical": self.identical,
            "differences": [each.as_data() for each in self.differences],
            "unchecked": self.unchecked,
        }


def prove(data: Path, release: Path, paths: Sequence[Path] = ()) -> Proof:
    """Compare everything below a folder of data, or below some paths in it, with a release.

    Raises:
        ConfigError: nothing was computed, or a path does not exist.
        FileError: the release is broken.
    """
    published = read_manifest(release)
    comparing = _Comparing(data, Copies(release), published.contents, _wanted(data, paths))
    proof = comparing.proof
    suites = _same(*comparing.compared(SUITES, published.suites, published.suites))
    listing = read_games(release)
    listed, now = comparing.compared(TRACES, listing)
    games = _same(listed, now)
    proof.differences += _listing_differences(listing, now, published)
    every = published.tables | published.files
    listed, now = comparing.compared(TABLES, every, published.tables)
    tables = _same({name: d for name, d in listed.items() if not name.endswith(".json")}, now)
    files = _same(listed, now) - tables
    proof.identical = {"tables": tables, "games": games, "suites": suites, "files": files}
    if not (any(proof.identical.values()) or proof.differences):
        if paths and not proof.unchecked:
            raise ConfigError(f"{paths[0]}: nothing of this name was computed or published")
        raise ConfigError(f"{data}: nothing was computed yet; {FIRST}")
    proof.differences += _version_differences(published)
    return proof


def _wanted(data: Path, paths: Sequence[Path]) -> Sequence[Path]:
    """Return paths as they are below a folder, without ``..``, and with links: it may be one."""
    found = []
    for path in paths:
        try:
            normal = [Path(normpath(each.absolute())) for each in (path, data)]
            found.append(normal[0].relative_to(normal[1]))
        except ValueError as error:
            raise ConfigError(f"{path}: is not below {data}") from error
    return found


@dataclass(frozen=True, slots=True)
class _Comparing:
    """Compares files below ``data`` with a release, and notes in ``proof`` what differs.

    Attributes:
        copies: of suites and tables, in the release.
        values: of published Parquet files.
        wanted: paths below ``data``, of which alone files are compared; none: all are.
        broken: what is wrong with copies in the release.
    """

    data: Path
    copies: Copies
    values: Mapping[str, Values]
    wanted: Sequence[Path]
    proof: Proof = field(default_factory=Proof)
    broken: set[str] = field(default_factory=set)

    def _is_wanted(self, name: str) -> bool:
        path = PurePosixPath(name)
        return not self.wanted or any(path.is_relative_to(each) for each in self.wanted)

    def compared(
        self, folder: str, listed: Digests, copied: Container[str] = ()
    ) -> tuple[Digests, Digests]:
        """Compare a folder; return the digests of what was published and computed in it.

        Args:
            folder: below ``data``.
            listed: digest, or its first digits, by file, as published.
            copied: files of which the release has copies.
        """
        found = game_digests if folder == TRACES else digests
        published, now = self._on_both_sides(
            folder,
            {name: d for name, d in listed.items() if self._is_wanted(f"{folder}/{name}")},
            found(self.data / folder, lambda name: self._is_wanted(f"{folder}/{name}")),
        )
        alone, differing = file_differences(folder, published, now)
        differences = self.proof.differences
        differences += alone
        with progress(f"compared {folder}", sum(name in copied for name in published)) as tick:
            for name, expected in published.items():
                file = f"{folder}/{name}"
                if name in copied:
                    differences += self._explained(folder, name, expected, name in differing)
                    tick()
                elif name in differing and name in self.values:
                    differences += value_differences(file, self.values[name], self.data / file)
                elif name in differing:
                    note = NOT_COPIED if copied else ""
                    differences.append(Difference(file, "other bytes", note=note))
        return published, now

    def _on_both_sides(
        self, folder: str, published: Digests, now: Digests
    ) -> tuple[Digests, Digests]:
        """Return the files of experiments that were published and computed; note the others.

        Missing files of an experiment that was partly computed are differences.
        """
        known, computed = ({*map(experiment_of, files)} for files in (published, now))
        self.proof.unchecked += [f"{folder}/{name}" for name in sorted(known - computed)]
        self.proof.differences += [
            Difference(f"{folder}/{name}", "not published") for name in sorted(computed - known)
        ]
        both = known & computed
        one, other = (
            {name: d for name, d in files.items() if experiment_of(name) in both}
            for files in (published, now)
        )
        return one, other

    def _explained(
        self, folder: str, name: str, expected: str, is_other: bool
    ) -> Iterator[Difference]:
        """Yield the differences of a file of which the release has a copy, or of the copy."""
        file = f"{folder}/{name}"
        try:
            copy = (self.copies.suite if folder == SUITES else self.copies.table)(name)
        except FileError as error:
            if str(error) not in self.broken:  # an archive, once for all of its tables
                self.broken.add(str(error))
                yield Difference(file, "release", note=str(error))
            if is_other:
                yield Difference(file, "other bytes")
            return
        if is_other and folder == SUITES:
            yield from suite_differences(file, copy, read_bytes(self.data / file))
        elif is_other:
            now = read_bytes(self.data / file)
            shared = set(header_of(copy)) & set(header_of(now))
            yield from table_differences(file, copy, now, row_key(name, shared))
        elif digest(copy) != expected:
            note = "its copy in the release does not agree with manifest.json"
            yield Difference(file, "release", note=note)


def _listing_differences(games: Digests, now: Digests, manifest: Manifest) -> Iterator[Difference]:
    """Yield experiments whose games agree with the list, but not with ``manifest.json``."""
    listed, computed = by_experiment(games), by_experiment(now)
    for experiment in sorted(listed.keys() | manifest.traces.keys()):
        ours, theirs = computed.get(experiment, {}), listed.get(experiment, {})
        is_same = _same(theirs, ours) == len(theirs) == len(ours)
        if is_same and manifest.traces.get(experiment) != all_games(ours):
            note = "the list of its games does not agree with manifest.json"
            yield Difference(f"{TRACES}/{experiment}", "release", note=note)


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
    proof = prove(DATA, RELEASE, words.paths)
    if as_json:
        print(orjson.dumps(proof.as_data(), option=orjson.OPT_INDENT_2).decode())
    else:
        for difference in proof.differences[:SHOWN]:
            tell(str(difference))
        if len(proof.differences) > SHOWN:
            tell(f"... and {len(proof.differences) - SHOWN} more; --json has all")
        for name in proof.unchecked:
            tell(f"{name}: not computed, so not compared")
        if proof.is_identical:
            tell(f"Open {SITE}" if SITE.is_file() else "The site is not built: run `dvc repro`")
    verdict(_verdict(proof), is_good=proof.is_identical, is_beside=as_json)
    return Status.DONE if proof.is_identical else Status.DIFFERENT


def _verdict(proof: Proof) -> str:
    """Return how much is identical, and how much is not."""
    same = "{tables} tables, {games} games, {suites} suites and {files} other files"
    same = same.format_map(proof.identical)
    if proof.is_identical:
        return f"Identical with what is published: {same}"
    parts = [f"{len(proof.differences)} differences"] if proof.differences else []
    parts += [f"{len(proof.unchecked)} not computed"] if proof.unchecked else []
    return f"Not identical: {', '.join(parts)}. Identical: {same}"
