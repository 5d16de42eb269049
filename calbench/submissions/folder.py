"""The folder of a submission: what is in it, and that nothing else is.

``submission.json`` says who hands in what, and lists every other file with its SHA-256; its own
SHA-256 is the submission's id. Beside it are ``environment.json``, the games as shards in
``traces``, replies as JSON Lines in ``replies`` and, if wished, the source of own code in ``code``.

A folder is a stranger's: before anything in it is unpacked or parsed, there is no link, pipe or
file of another name in it, and sizes are within bounds.
"""

import re
from collections.abc import Iterator
from datetime import date
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.code import files_digest
from calbench.domain.canonical import first_difference
from calbench.errors import FileError
from calbench.files import check_no_link, first_problem, opened, printable, read_bytes
from calbench.llm.completion import AddressKind
from calbench.llm.replies.record import Digest
from calbench.scenarios.models import ID_PATTERN
from calbench.traces.catalog import TRACES_FOLDER
from calbench.traces.shards import read_shard, shards_of

SUBMISSION, ENVIRONMENT = "submission.json", "environment.json"
"""Files of a submission."""

REPLIES_FOLDER, SOURCE_FOLDER = "replies", "code"
"""Folders of a submission beside that of its traces."""

# e.g. whole "traces/00000.jsonl.zst", "replies/threads-f.jsonl", "code/mine/mine/mine.py";
# not "traces/imap/s.json", "code/mine/mine.py", "tables/leaderboard.csv"
PLACES = re.compile(
    rf"{ENVIRONMENT}|{TRACES_FOLDER}/[0-9]{{5}}\.jsonl\.zst"
    rf"|{REPLIES_FOLDER}/(index\.json|(messages|threads|replies)-[0-9a-f]\.jsonl)"
    rf"|{SOURCE_FOLDER}/[\w.]{{1,200}}/[\w.]{{1,200}}/\w{{1,99}}\.py"
)
"""Where the listed files of a submission are."""

MOST_FILES = 2_000
"""Files of a submission [C]: 49 of replies, shards of 10,000 games each, and source."""

MOST_BYTES = 2**30
"""Bytes of all files together [C]: a full board of ten models takes a hundredth."""

MOST_UNPACKED = 2**33
"""Bytes of all games together, unpacked [C]: 20,000 games of 400 kB."""

MOST_RATIO = 1_000
"""Most bytes of games for each byte of a shard [C]: our own have 20 to 60; a bomb has 10,000."""

MOST_DOCUMENT = 2**22
"""Bytes of ``submission.json`` and of ``environment.json`` [C]."""

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
_Name = Annotated[str, Field(pattern=ID_PATTERN, max_length=64)]
_Short = Annotated[str, Field(max_length=300)]
_Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$")]


class Part(BaseModel):
    """The scenarios of one setting that were played: those of a published suite, or the first ones.

    Attributes:
        suite: its name.
        digest: of the setting's scenarios in that suite, in their order.
        subset: how many in the order in which subsets grow; absent: all.
    """

    model_config = _STRICT

    suite: _Name
    digest: Digest
    subset: Annotated[int, Field(ge=1)] | None = None


class Seated(BaseModel):
    """A player of a submission: what asked, and which model was asked, apart.

    Attributes:
        team: in which it sits.
        player: its name on the record.
        kind: protocol, degenerate, scripted, model or custom.
        framework: prompts of CalBench, or the class of own code; ``CalBench`` for its own players.
        model: as its provider calls it, provider first; absent where no model is known to answer.
        address: the kind of address it was asked at; absent if replies do not say, or differ.
    """

    model_config = _STRICT

    team: _Name
    player: _Name
    kind: _Short
    framework: _Short
    model: _Short | None = None
    address: AddressKind | None = None


class Environment(BaseModel):
    """Versions of what played: no host, user or path is among it."""

    model_config = _STRICT

    python: _Version
    system: _Version
    machine: _Version
    packages: Annotated[dict[_Version, _Version], Field(max_length=50)]


class Authorship(BaseModel):
    """What the author of a submission says of it; nothing proves it.

    Attributes:
        schema_version: of the folder.
        name: of the submission, and of its folder.
        contact: a handle by which its author can be asked.
        date: of the day on which it was prepared.
        says_model: the model that own code asks.
    """

    model_config = _STRICT

    schema_version: Literal[1] = 1
    name: _Name
    contact: Annotated[str, Field(pattern=r"^[!-~]{2,100}$")]
    date: date
    says_model: Annotated[str, Field(pattern=r"^[!-~]{1,200}$")] | None = None


class Submission(Authorship):
    """What ``submission.json`` says: its author's words, and what follows from the other files.

    Attributes:
        suites: what was played, by setting.
        settings: digest of line-up and rules of every team.
        players: of all teams.
        code: digests of the code that played, by team and module, as the run noted them.
        numbers: by team, setting and measure.
        files: SHA-256 of every other file, by its path in the folder.
    """

    suites: dict[_Name, Part]
    settings: Digest
    players: tuple[Seated, ...]
    code: dict[_Name, dict[_Short, Digest]]
    numbers: dict[_Name, dict[_Name, dict[_Name, float]]]
    files: Annotated[dict[_Short, Digest], Field(max_length=MOST_FILES)]


def document_bytes(document: BaseModel) -> bytes:
    """Return the exact bytes of a document of a submission."""
    return f"{document.model_dump_json(indent=1)}\n".encode()


def files_of(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their names in it, if all of it is plain and within bounds.

    Raises:
        FileError: naming a link, a pipe, a file with several names, or what is too much.
    """
    found: dict[str, Path] = {}
    size = 0
    for path in _walked(folder):
        status = path.lstat()
        shown = printable(str(path))
        if not path.is_file():
            raise FileError(f"{shown}: is a pipe or a device; a submission holds files alone")
        if status.st_nlink > 1:
            raise FileError(f"{shown}: is a hard link, one file under several names; copy it")
        found[path.relative_to(folder).as_posix()] = path
        size += status.st_size
        if len(found) > MOST_FILES + 1 or size > MOST_BYTES:
            raise FileError(
                f"{printable(str(folder))}: holds more than {MOST_FILES} files or {MOST_BYTES} "
                "bytes; hand in several submissions"
            )
    return found


def _walked(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and below it, but folders; no link is followed."""
    for path in sorted(folder.iterdir()):
        check_no_link(path)
        if path.is_dir():
            yield from _walked(path)
        else:
            yield path


def read_submission(folder: Path) -> tuple[Submission, str, Environment]:
    """Return what a submission says of itself, its id, and what played it.

    Its files are those that it lists.

    Raises:
        FileError: naming the first file that is not what it says.
    """
    files = files_of(folder)
    submission, data = _document(Submission, files.pop(SUBMISSION, folder / SUBMISSION))
    for name in sorted({*files, *submission.files}):
        place = printable(str(folder / name))
        if name not in files:
            raise FileError(f"{place}: is listed in {SUBMISSION}, and is missing")
        if name not in submission.files:
            raise FileError(f"{place}: is not listed in {SUBMISSION}")
        if not PLACES.fullmatch(name):
            raise FileError(f"{place}: is no file of a submission")
        if digest_of(files[name]) != submission.files[name]:
            raise FileError(f"{place}: its SHA-256 is not the one in {SUBMISSION}; it was changed")
    environment, _ = _document(Environment, folder / ENVIRONMENT)
    check_shards(folder / TRACES_FOLDER)
    return submission, sha256(data).hexdigest(), environment


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file that was found in a folder."""
    with opened(path, MOST_BYTES, is_found=True) as file:
        return file_digest(file, "sha256").hexdigest()


Kind = TypeVar("Kind", bound=BaseModel)


def _document(kind: type[Kind], path: Path) -> tuple[Kind, bytes]:
    data = read_bytes(path, MOST_DOCUMENT, is_found=True)
    shown = printable(str(path))
    try:
        document = kind.model_validate_json(data)
    except ValidationError as error:
        raise FileError(f"{shown}: {first_problem(error, kind)}") from error
    if data != (written := document_bytes(document)):
        raise FileError(f"{shown}: not as calbench writes it: {first_difference(data, written)}")
    return document, data


def check_shards(folder: Path) -> None:
    """Refuse shards with a game twice, with what a stopped writer left, or that unpack to too much.

    Raises:
        FileError: naming the shard; nothing of it was unpacked.
    """
    names: set[str] = set()
    unpacked = 0
    for shard in map(read_shard, shards_of(folder)):
        games = [game for frame in shard.frames for game in frame.head.games]
        size = sum(game.length for game in games)
        unpacked += size
        shown = printable(str(shard.path))
        if shard.tail:
            raise FileError(f"{shown}: has {shard.tail} bytes behind its games")
        if unpacked > MOST_UNPACKED or size > MOST_RATIO * shard.size:
            raise FileError(
                f"{shown}: {shard.size} bytes would unpack to {size}; no games of ours do that"
            )
        for game in games:
            if game.name in names:
                raise FileError(f"{shown}: holds {game.name} twice")
            names.add(game.name)
    if not names:
        raise FileError(f"{printable(str(folder))}: holds no games (*.jsonl.zst)")


def source_digest(folder: Path, module: str) -> str | None:
    """Return the digest of a module's source in a submission, as a run notes it; absent: none."""
    above = folder / SOURCE_FOLDER / module
    if not above.is_dir():
        return None
    return files_digest({f"{path.parent.name} {path.name}": path for path in above.glob("*/*.py")})
