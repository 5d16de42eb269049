"""A seat over MCP, with the library's own client and a server in another process."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from calbench import load_suite, read_trace, verify
from calbench.errors import ConfigError
from calbench.types import Observation
from tests.cli.runs import REPO
from tests.factories import make_scenario, suite_file
from tests.integrations.outsider import chosen

pytest.importorskip("mcp", reason="needs requirements-mcp.lock")
pytest.importorskip("mcp.server.lowlevel")

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from calbench.integrations.seats import Seat

pytestmark = pytest.mark.heavy


async def played(suite: Path, out: Path, partner: str = "imap") -> dict[str, Any]:
    """Play a game as the agent that also plays over HTTP; return all that it was sent."""
    arguments = ["-m", "calbench.integrations.mcp", "--suite", str(suite), "--out", str(out)]
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    command = [*arguments, "--partner", partner]
    server = StdioServerParameters(command=sys.executable, args=command, env=env)
    sent: dict[str, Any] = {"seen": [], "outcomes": []}
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as me:

        async def call(tool: str, **arguments: Any) -> Any:
            return json.loads((await me.call_tool(tool, arguments)).content[0].text)

        sent["hello"] = (await me.initialize()).model_dump(mode="json")
        sent["tools"] = (await me.list_tools()).model_dump(mode="json")["tools"]
        sent["resources"] = (await me.list_resources()).model_dump(mode="json")["resources"]
        shown = (await me.read_resource(sent["resources"][0]["uri"])).contents[0].text
        seen = json.loads(shown)
        for _ in range(200):
            sent["seen"].append(seen)
            if seen["is_over"]:
                break
            sent["outcomes"].append(await call("get_observation"))
            sent["outcomes"].append(await call("list_peers"))
            sent["outcomes"] += [await call(tool, **of) for tool, of in chosen(seen)]
            seen = await call("end_turn")
        sent["late"] = await call("read_inbox")
    return sent


def test_agent_that_plays_over_http_plays_a_game_that_verifies(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "mcp.json"
    sent = asyncio.run(played(suite, out))
    assert [tool["name"] for tool in sent["tools"]] == [
        "get_observation", "schedule", "reschedule", "list_peers", "read_inbox", "send", "end_turn",
    ]  # fmt: skip
    assert [each["uri"] for each in sent["resources"]] == ["calbench://observation"]
    assert sent["seen"][-1]["is_over"]
    assert {each["status"] for each in sent["outcomes"]} == {"ok", "accepted"}
    assert sent["late"]["code"] == "late"
    verify(out)
    trace = read_trace(out)
    assert [seat.player for seat in trace.config.team.seats] == ["mcp", "imap", "imap"]


SECRETS = ("E.E3...", ".E..E2.")
"""The calendars of the others in two scenarios that agent 0 cannot tell apart."""


def test_assistant_reaches_its_observation_and_nothing_else(tmp_path: Path) -> None:
    """All that it is sent, in two games that differ only in others' calendars; then what it saw."""
    dumps = []
    for number, secret in enumerate(SECRETS):
        path = tmp_path / f"{number}.jsonl"
        suite_file(path, make_scenario(["..E2.B.", secret, "......"], [(0, 1), (0, 2)]))
        dumps.append(asyncio.run(played(path, tmp_path / f"{number}.json", "silent")))
    assert dumps[0] == dumps[1]
    assert len(dumps[0]["seen"]) > 4
    shown = {*Observation._fields}
    assert all(set(seen) == {*shown, "is_over"} for seen in dumps[0]["seen"])
    read = [each["data"] for each in dumps[0]["outcomes"] if each["resolves"] == "read_only"]
    assert all(set(seen) == shown for seen in read[::2])
    assert all(peers == [1, 2] for peers in read[1::2])


def test_two_free_seats_are_refused(suite: Path) -> None:
    with pytest.raises(ConfigError, match="leave one of the seats 0 to 2 free"):
        Seat("mcp", load_suite(suite)[0], {1: "imap"})
