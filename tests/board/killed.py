"""A run that records replies and kills itself at one of its requests.

``python -m tests.board.killed OUT REQUESTS [override ...]``
"""

import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.transport import Transport
from calbench.runs.play import execute
from tests.cli.recording import recording, spoken
from tests.cli.runs import REPO


def killed(out: Path, requests: int, *overrides: str) -> Path:
    """Start a run that dies when it has made so many requests; return its folder."""
    command = [sys.executable, "-m", "tests.board.killed", str(out), str(requests), *overrides]
    ended = subprocess.run(command, cwd=REPO, stderr=subprocess.DEVNULL, check=False)
    assert ended.returncode == -signal.SIGKILL
    return out


def dying(most: int) -> Transport:
    asked = count()

    async def ask(request: Request, _endpoint: Endpoint) -> Completion:
        if next(asked) >= most:
            os.kill(os.getpid(), signal.SIGKILL)
        return await spoken(request)

    return ask


if __name__ == "__main__":
    execute(recording(sys.argv[1], *sys.argv[3:]), dying(int(sys.argv[2])))
