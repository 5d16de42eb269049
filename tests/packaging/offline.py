"""Runs a command where there is no network but the loopback, and counts what looked for another.

``python -m tests.packaging.offline COMMAND...`` is what :func:`offline` starts in a network
namespace of Linux. The kernel counts what any program of the command sends, in whatever language:
packets without a way out, and questions to a name server of this machine, where none answers.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from tests.cli.runs import REPO, Ended, environment

SET_FLAGS, UP = 0x8914, 0x1 | 0x40
"""``SIOCSIFFLAGS`` of Linux, and the flags of an interface that is up and runs."""

UNSHARE = ("unshare", *(() if os.name == "nt" or os.geteuid() == 0 else ("-r",)), "-n")
"""Starts a program in a network of its own; only root needs no user namespace for it."""

COUNT = "attempts to leave this machine: "


def is_possible() -> bool:
    """Whether this machine gives a process a network of its own."""
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def offline(*words: str | Path, cwd: Path = REPO) -> tuple[Ended, int]:
    """Run a command without a network; return how it ended, and how often it looked for one."""
    command = [
        *UNSHARE,
        sys.executable,
        "-m",
        "tests.packaging.offline",
        str(cwd),
        *map(str, words),
    ]
    done = subprocess.run(
        command, cwd=REPO, env=environment(), capture_output=True, text=True, check=False
    )
    said, _, count = done.stderr.rpartition(COUNT)
    assert count, done.stderr
    return Ended(done.returncode, done.stdout, said), int(count)


def attempts() -> int:
    """Return how often this network was asked for what it does not have."""
    found = 0
    for name, wanted in (("snmp", ("OutNoRoutes", "NoPorts")), ("snmp6", ("Ip6OutNoRoutes",))):
        path = Path("/proc/self/net") / name
        lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        pairs = (
            list(zip(lines[::2], lines[1::2], strict=True))
            if name == "snmp"
            else [tuple(zip(*lines, strict=True))]
        )
        found += sum(
            int(value)
            for names, values in pairs
            for key, value in zip(names, values, strict=True)
            if key in wanted
        )
    return found


def main(cwd: str, *words: str) -> int:
    """Let a command have the loopback alone; return its status."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
    status = subprocess.call(words, cwd=cwd)
    print(f"{COUNT}{attempts()}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
