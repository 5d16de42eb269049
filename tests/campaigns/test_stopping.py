"""Ctrl-C at a drawn call, while others wait for whatever calls wait for: nothing more is sent."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE

import pytest

from calbench.agents.base import Completer
from calbench.config.spec import RunSpec
from calbench.console import noting_interrupt
from calbench.errors import StoppedError
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.replies.store import ReplyStore
from calbench.llm.transport import AttemptError
from calbench.runs.play import execute
from calbench.runs.source import ModelAudit, reply_source
from tests.cli.recording import PRICED, answering, recording, spoken
from tests.cli.runs import REPO, environment, files
from tests.conftest import Figures
from tests.effort import GUARD_S, attacks
from tests.llm.asking import request

pytestmark = pytest.mark.heavy

LIMITERS: dict[str, Sequence[str]] = {
    "none": ("model.concurrency=64",),
    "few at once": ("model.concurrency=2",),
    "calls a minute": ("model.requests_per_minute=3000",),
    "tokens a minute": ("model.tokens_per_minute=20000000",),
    "money": (*PRICED[:2], "budget.max_usd=5", "model.concurrency=64"),
    "retries": ("model.max_attempts=20",),
    "a wait that was asked for": ("model.max_attempts=20",),
}


class Counting:
    """A provider that counts, and is interrupted by the user at a call, of which it answers all."""

    def __init__(self, limiter: str, chance: random.Random, at: int) -> None:
        self.limiter, self.chance, self.at = limiter, chance, at
        self.asked = self.late = self.answered = 0

    async def __call__(self, asked: Request, _: Endpoint) -> Completion:
        self.asked += 1
        if self.asked == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        self.late += self.asked > self.at
        await asyncio.sleep(0.3 if self.asked == self.at else self.chance.uniform(0.0, 0.02))
        if self.chance.random() < 0.2 and self.limiter in {"retries", "a wait that was asked for"}:
            wait = None if self.limiter == "retries" else 0.05
            raise AttemptError("RateLimitError", status=429, retry_after_s=wait, is_free=True)
        self.answered += 1
        return await spoken(asked)


def play(spec: RunSpec, provider: Counting) -> str:
    with pytest.raises(StoppedError) as caught:
        execute(spec, provider)
    return str(caught.value)


def audit(spec: RunSpec, provider: Counting) -> str:
    source = reply_source(spec, transport=provider)
    assert source is not None
    model = next(iter(spec.models.values()))

    async def ask(number: int, completer: Completer) -> None:
        site = type("Site", (), {"player": model.player})()
        await completer.complete(request(f"judge {number}", model=model.spec.model), site)

    with noting_interrupt(lambda: "ended") as is_stopping, pytest.raises(StoppedError) as caught:
        ModelAudit(range(300), "things", ask, spec, is_stopping).run(source, "judged")
    return str(caught.value)


def test_after_ctrl_c_nothing_is_sent_and_nothing_is_lost(
    tmp_path: Path, figures: Figures, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes: Counter[str] = Counter()
    for number in range(attacks(50)):
        chance = random.Random(f"stopping-{number}")
        limiter = list(LIMITERS)[number % len(LIMITERS)]
        provider = Counting(limiter, chance, at=chance.randint(1, 120))
        out, work = tmp_path / str(number), chance.choice([play, play, audit])
        at_once = f"games_at_once={chance.choice([1, 4, 64])}"
        spec = recording(str(out), *LIMITERS[limiter], at_once, "suite.num_scenarios=2")
        said = work(spec, provider)
        name = f"attack {number}: {limiter}, {work.__name__}, at call {provider.at}"
        assert said.startswith("Stopped: "), name
        assert provider.late == 0, name
        (line,) = [each for each in capsys.readouterr().err.splitlines() if "Stopping: " in each]
        assert "under way, no other is sent" in line, name
        with ReplyStore.open(out / "replies.sqlite") as store:
            assert store.count() == provider.answered, name
        outcomes[limiter] += 1
    figures("interrupts", outcomes)


HANGING = """
import asyncio, sys
from itertools import count
from calbench.runs.play import execute
from tests.cli.recording import recording, spoken

calls = count()

async def ask(request, _endpoint):
    if next(calls) >= int(sys.argv[2]):
        print("hangs", flush=True)
        await asyncio.sleep(86_400)
    return await spoken(request)

execute(recording(sys.argv[1]), ask)
"""
"""Plays a run whose provider answers so many calls and none after them."""


@pytest.mark.parametrize("answered", [1, pytest.param(40, marks=pytest.mark.slow)])
def test_second_ctrl_c_waits_for_no_call_and_loses_none(answered: int, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-c", HANGING, str(out), str(answered)]
    with subprocess.Popen(
        command, cwd=REPO, env=environment(), stdout=PIPE, stderr=PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "hangs\n"
        process.send_signal(signal.SIGINT)
        assert any("Stopping: " in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(GUARD_S) == 128 + signal.SIGINT
        assert "the same command resumes" in process.stderr.read()
    with ReplyStore.open(out / "replies.sqlite") as store:
        assert store.count() == answered
    resumed, whole = (
        execute(recording(str(folder)), answering) for folder in (out, tmp_path / "whole")
    )
    assert resumed.totals.calls == whole.totals.calls - answered
    assert files(out / "traces") == files(tmp_path / "whole" / "traces")
