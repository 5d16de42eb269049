"""Facts that are kept beside tables, so that a game is measured only once.

They are derived: the folder may be deleted at any time, and is never needed. A game is taken from
them only if its trace has the same bytes, and if settings, facts, metrics and code are the same.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Annotated

import orjson
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.console import say, warn
from calbench.domain.canonical import digest
from calbench.errors import FileError, OutputError
from calbench.facts.fact import Fact
from calbench.facts.frames import arrow_schema, parquet_writer, read_arrow
from calbench.facts.storage import Facts
from calbench.files import first_problem, read_bytes, write_atomically, written_atomically
from calbench.metrics.measure import METRICS_VERSION, MeasureSpec

MANIFEST = "facts.json"
"""Says what the folder is, and what is in it."""

TRACES = "traces.parquet"
"""SHA-256 of the trace of each game, in the order of the games."""

ABOUT = (
    "Measurements of games, kept so that calbench measures only new games. Made from the traces "
    "alone; may be deleted at any time."
)

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Measuring(BaseModel):
    """What facts depend on beside the traces.

    Attributes:
        metrics_version: of the metrics.
        measure: settings of the metrics.
        code: SHA-256 of the code that measures.
        facts: names and types of the columns of each fact, by its name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    metrics_version: int
    measure: MeasureSpec
    code: Digest
    facts: Mapping[str, Mapping[str, str]]


class Manifest(BaseModel):
    """Contents of :data:`MANIFEST`.

    Attributes:
        about: what the folder is, for whoever finds it.
        measuring: what the facts depend on beside the traces.
        files: SHA-256 of each file, by name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    about: str = ABOUT
    measuring: Measuring
    files: Mapping[str, Digest]

    @property
    def digest(self) -> str:
        """SHA-256 of all of it: equal ones have equal facts."""
        return digest(self.model_dump(mode="json"))


@dataclass(frozen=True)
class KeptFacts:
    """Facts on disk.

    Attributes:
        facts: of games.
        traces: SHA-256 of the trace of each game, in the order of the games.
        digest: of their manifest.
    """

    facts: Facts
    traces: Sequence[str]
    digest: str


def measuring(measure: MeasureSpec, code: str, facts: Sequence[Fact]) -> Measuring:
    """Return what facts depend on beside the traces.

    Args:
        measure: settings of the metrics.
        code: SHA-256 of the code that measures.
        facts: what is measured.
    """
    columns = {
        fact.name: {field.name: str(field.type) for field in arrow_schema(fact.columns)}
        for fact in facts
    }
    return Measuring(metrics_version=METRICS_VERSION, measure=measure, code=code, facts=columns)


def keep(folder: Path, how: Measuring, traces: Sequence[str]) -> KeptFacts:
    """Note of facts what they were measured from: then they are kept.

    Args:
        folder: of the facts, which are written.
        how: what they depend on beside the traces.
        traces: SHA-256 of the trace of each game, in the order of the games.

    Raises:
        OutputError: the folder cannot be written.
    """
    schema = pa.schema([("sha256", "string")])
    with (
        written_atomically(folder / TRACES, is_synced=False) as beside,
        parquet_writer(beside, schema) as writer,
    ):
        writer.write_table(pa.table([pa.array(traces, "string")], schema=schema))
    names = _files(how)
    try:
        for path in _others(folder, names):
            path.unlink()
        files = {name: _sha256(folder / name) for name in names}
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"{folder}: cannot be written ({reason}); choose another folder"
        ) from error
    manifest = Manifest(measuring=how, files=files)
    data = orjson.dumps(manifest.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    write_atomically(folder / MANIFEST, data + b"\n")
    return KeptFacts(Facts(folder), traces, manifest.digest)


def read_kept(folder: Path, how: Measuring) -> KeptFacts | None:
    """Return the facts of a folder, if they are whole and what would be measured now.

    If they are not, one line says so, and there are none.
    """
    if not (folder / MANIFEST).is_file():
        return None
    try:
        manifest = _read_manifest(folder / MANIFEST)
        if manifest.measuring != how:
            say(f"{folder}: facts of other settings or another version; all games are measured")
            return None
        _check_files(folder, manifest, _files(how))
        traces = read_arrow(folder / TRACES).column("sha256").to_pylist()
    except FileError as error:
        warn(f"{error}: the facts kept there are not used; all games are measured")
        return None
    return KeptFacts(Facts(folder), traces, manifest.digest)


def _read_manifest(path: Path) -> Manifest:
    """Read what a folder says about itself.

    Raises:
        FileError: naming the file and what does not fit.
    """
    try:
        return Manifest.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise FileError(f"{path}: {first_problem(error)}") from error


def _check_files(folder: Path, manifest: Manifest, names: Collection[str]) -> None:
    """Check that the files are those that were written, and that there are no others.

    Raises:
        FileError: naming one that is not.
    """
    for name in names:
        if _sha256_of(folder / name) != manifest.files.get(name):
            raise FileError(f"{folder / name}: not the file that was written")
    for path in _others(folder, names):
        raise FileError(f"{path}: not one of ours")


def _files(how: Measuring) -> list[str]:
    return [*(f"{name}.parquet" for name in how.facts), TRACES]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, sha256).hexdigest()


def _sha256_of(path: Path) -> str | None:
    """Return the SHA-256 of a regular file that can be read."""
    try:
        return _sha256(path) if path.is_file() else None
    except OSError:
        return None


def remove_half_written(folder: Path) -> None:
    """Remove what a killed process was writing into a folder of facts."""
    for path in folder.glob(".*.part"):
        with suppress(OSError):
            path.unlink()


def _others(folder: Path, names: Collection[str]) -> list[Path]:
    """Return files that would be taken for facts."""
    return sorted(path for path in folder.glob("*.parquet") if path.name not in names)
