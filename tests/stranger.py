"""Another user of this machine, who knows Dask and our ports: ``python -m tests.stranger``."""

import asyncio
import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runs import REPO, environment

NOBODY = 65_534
"""User and group with no rights of their own, on Linux."""

CONNECTIONS = 50
"""To each port."""

PATIENCE_S = 5.0
"""How long one waits for an answer; a port that closes the connection is not waited for [C]."""

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

needs_root = pytest.mark.skipif(not IS_ROOT, reason="root alone can be another user")


@contextmanager
def nobody(folder: Path) -> Iterator[None]:
    """Be somebody who may do nothing in a folder: nobody where we are root, who may everything."""
    mode = folder.stat().st_mode
    folder.chmod(0o000)
    if IS_ROOT:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if IS_ROOT:
            os.seteuid(0)
        folder.chmod(mode)


Ask = Callable[[int, Path], Awaitable[str]]
"""Asks something of a port; a call makes a folder. Returns what came of it."""


def attacked(ports: Collection[int], folder: Path) -> Counter[str]:
    """Let another user try each port; return the calls that ran, the pages shown, and the rest."""
    folder.mkdir()
    command = [sys.executable, "-m", "tests.stranger", str(folder), *map(str, ports)]
    done = subprocess.run(
        command, cwd=REPO, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = Counter[str](json.loads(done.stdout))
    assert found.total() == CONNECTIONS * len(ports)
    return found + Counter({"calls": sum(1 for _ in folder.iterdir())})


async def page(port: int, _: Path, target: str = "/") -> str:
    """Ask for a page by HTTP."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    said = await reader.read(12)
    writer.close()
    return "pages" if said.startswith(b"HTTP") and not said.endswith(b" 404") else "no page"


def callers() -> list[Ask]:
    """Return how a stranger has calls run by Dask: in the open, and with certificates of his."""
    try:
        from distributed import Security
        from distributed.core import connect
    except ImportError:
        return []
    own = Security.temporary().get_connection_args("client")

    def caller(address: str, operation: str, options: dict[str, Any]) -> Ask:
        async def call(port: int, marker: Path) -> str:
            comm = await connect(f"{address}://127.0.0.1:{port}", timeout=PATIENCE_S / 5, **options)
            function, arguments = pickle.dumps(os.mkdir), pickle.dumps((str(marker),))
            what = {"op": operation, "function": function, "args": arguments, "reply": True}
            await comm.write(what)
            await comm.read()
            return "answered"

        return call

    # A worker runs what it is told by one name, a scheduler by the other.
    names = ("run", "run_function")
    return [caller(*kind, {}) for kind in (("tcp", name) for name in names)] + [
        caller("tls", name, own) for name in names
    ]


async def tried(ports: Collection[int], folder: Path, asks: list[Ask]) -> Counter[str]:
    """Open all connections to one port at once, one port after the other."""

    async def one(port: int, number: int) -> str:
        ask = asks[number % len(asks)]
        try:
            return await asyncio.wait_for(ask(port, folder / f"{port}-{number}"), PATIENCE_S)
        except (OSError, ValueError):  # the second is tornado's, where no TLS is spoken
            return "refused"

    found = Counter[str]()
    for port in ports:
        found.update(await asyncio.gather(*(one(port, number) for number in range(CONNECTIONS))))
    return found


def main(folder: str, *ports: str) -> None:
    """Load what is needed, be nobody, and try."""
    asks = [*callers(), page]
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    print(json.dumps(asyncio.run(tried([*map(int, ports)], Path(folder), asks))))


if __name__ == "__main__":
    main(*sys.argv[1:])
