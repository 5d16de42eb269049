"""How near many games at once come to the time that their dependent calls alone would take.

``python -m tests.benchmarks.many_games MODE GAMES PROCESSES`` plays through LiteLLM against a
stub server in a process of its own, whose replies take 200 ms, and prints what is reached.
Processes share the games, and in mode ``record`` one store.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from calbench.agents.base import CallSite, Completer
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.engine.drivers import run_async
from calbench.engine.jobs import Job, plan_jobs
from calbench.engine.seating import seat_agents
from calbench.llm.client import Source, open_completer
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.model import Endpoint
from calbench.llm.transport import Transport
from calbench.runs.play import load_suites
from tests.cli.recording import spoken
from tests.llm.asking import prices
from tests.llm.stub_server import chat

DELAY_S = 0.2

PRICES = prices(1.0, 1.0)

ONE_BY_ONE = frozenset({Phase.CHEAP_TALK, Phase.VOLUNTARY})
"""Phases in which each agent waits for the one before; in the others all are asked at once."""


@dataclass(frozen=True)
class Reached:
    """Calls made, the longest chain of calls that each wait for the one before, and times."""

    calls: int
    longest_chain: int
    wall_s: float
    cpu_s: float

    @property
    def of_ideal(self) -> float:
        return self.longest_chain * DELAY_S / self.wall_s

    @property
    def cpu_ms_per_call(self) -> float:
        return 1000 * self.cpu_s / self.calls


@dataclass(frozen=True)
class Chain:
    """Counts the steps of one game in which somebody was asked."""

    completer: Completer
    steps: set[CallSite]

    async def complete(self, request: Request, site: CallSite) -> Completion:
        step = site if site.phase in ONE_BY_ONE else site._replace(agent_id=AgentId(0))
        self.steps.add(step)
        return await self.completer.complete(request, site)


class Canned:
    """A transport in process: what was asked once is answered from memory, after a while."""

    def __init__(self) -> None:
        self.delay_s = 0.0
        self._replies: dict[tuple[ChatMessage, ...], Completion] = {}

    async def __call__(self, request: Request, _: Endpoint) -> Completion:
        if request.messages not in self._replies:
            self._replies[request.messages] = await spoken(request)
        await asyncio.sleep(self.delay_s)
        return self._replies[request.messages]


def games(count: int, url: str) -> tuple[RunSpec, list[Job]]:
    """Compose games of models that are asked at an address."""
    spec = compose(
        [
            "teams=[my-model]",
            "model.name=stub",
            f"model.api_base={url}",
            "model.concurrency=1024",
            f"suite.num_scenarios={count}",
            f"suite.num_candidates={count}",
            "out=nowhere",
        ]
    )
    return spec, plan_jobs(load_suites(spec.suites), spec.game_configs, Path())


async def play(spec: RunSpec, jobs: list[Job], source: Source) -> Reached:
    """Play all games at once; nothing is written but replies."""
    chains = []

    async def game(job: Job, completer: Completer) -> None:
        chain = Chain(completer, set())
        chains.append(chain)
        await run_async(job.scenario, job.config, seat_agents(job.scenario, job.config, chain))

    start, cpu = time.perf_counter(), time.process_time()
    async with open_completer(spec.models, source) as completer:
        await asyncio.gather(*(game(job, completer) for job in jobs))
    wall_s, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    return Reached(source.totals.calls, max(len(chain.steps) for chain in chains), wall_s, cpu_s)


def source_of(mode: str, store: Path, transport: Transport) -> Source:
    if mode == "live":
        return Source(mode="live", prices=PRICES, transport=transport)
    return Source(mode="record", store=store, prices=PRICES, transport=transport)


# --- through LiteLLM ---------------------------------------------------------------------


async def serve() -> None:
    """Answer requests as a scripted speaker does, each after a while; say the port first."""
    replies: dict[bytes, bytes] = {}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            body = await reader.readexactly(length)
            if body not in replies:
                replies[body] = await reply_to(body)
            await asyncio.sleep(DELAY_S)
            writer.write(replies[body])
            await writer.drain()

    async def until_hung_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await answer(reader, writer)
        writer.close()

    server = await asyncio.start_server(until_hung_up, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def reply_to(body: bytes) -> bytes:
    messages = (ChatMessage(**message) for message in json.loads(body)["messages"])
    completion = await spoken(Request(spec=ModelSpec(model="stub"), messages=tuple(messages)))
    data = json.dumps(chat(completion.text)).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(data)}"
    return f"{head}\r\n\r\n".encode() + data


def share(mode: str, count: int, part: int, parts: int, url: str, store: str) -> None:
    """Play every so many-th game, once to make everything warm and once to measure."""
    spec, jobs = games(count, url)
    mine = jobs[part::parts]
    asyncio.run(play(spec, mine, source_of("live", Path(store), ask_litellm)))
    print("ready", flush=True)
    sys.stdin.readline()
    reached = asyncio.run(play(spec, mine, source_of(mode, Path(store), ask_litellm)))
    print(json.dumps(asdict(reached)), flush=True)


def started(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.many_games", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def said(process: "subprocess.Popen[str]", what: str = "") -> str:
    assert process.stdout is not None
    return next(line for line in process.stdout if line.startswith(what))


def tell(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def through_litellm(mode: str, count: int, parts: int) -> Reached:
    server = started("serve")
    with tempfile.TemporaryDirectory() as folder:
        try:
            url = f"http://127.0.0.1:{int(said(server))}/v1"
            players = [
                started("share", mode, count, part, parts, url, f"{folder}/r.sqlite")
                for part in range(parts)
            ]
            for player in players:
                said(player, "ready")
            for player in players:
                tell(player)
            reached = [Reached(**json.loads(said(player, "{"))) for player in players]
            for player in players:
                player.wait()
        finally:
            server.kill()
            server.wait()
    return Reached(
        sum(each.calls for each in reached),
        max(each.longest_chain for each in reached),
        max(each.wall_s for each in reached),
        sum(each.cpu_s for each in reached),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            asyncio.run(serve())
        case ["share", mode, count, part, parts, url, store]:
            share(mode, int(count), int(part), int(parts), url, store)
        case [mode, count, parts]:
            found = through_litellm(mode, int(count), int(parts))
            print(
                f"{mode}: {count} games in {parts} processes: {found.calls} calls in "
                f"{found.wall_s:.1f} s, {found.calls / found.wall_s:.0f} a second, "
                f"{found.of_ideal:.0%} of the ideal; {found.cpu_ms_per_call:.1f} ms of processor "
                "time a call"
            )
        case _:
            print(__doc__)
