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
from tests.cli.runs import REPO

pytest.importorskip("mcp", reason="needs requirements-mcp.lock")
pytest.importorskip("mcp.server.fastmcp")

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from calbench.integrations.mcp import Seat

pytestmark = pytest.mark.heavy


async def played(suite: Path, out: Path) -> dict[str, Any]:
    """Play a game as an assistant that books its first free slot; return what it was sent."""
    arguments = ["-m", "calbench.integrations.mcp", "--suite", str(suite), "--out", str(out)]
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    server = StdioServerParameters(command=sys.executable, args=arguments, env=env)
    sent: dict[str, Any] = {"seen": []}
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as me:
        await me.initialize()
        sent["tools"] = sorted(tool.name for tool in (await me.list_tools()).tools)
        sent["resources"] = [str(each.uri) for each in (await me.list_resources()).resources]
        shown = (await me.read_resource(sent["resources"][0])).contents[0].text
        for _ in range(200):
            seen = json.loads(shown)
            sent["seen"].append(seen)
            if seen["is_over"]:
                break
            if seen["phase"] == "DECISION":
                await me.call_tool("book", {"slot": seen["calendar"].index(None)})
            elif seen["phase"] == "CHEAP_TALK" and seen["turn_index"] == 0:
                await me.call_tool("say", {"text": "Any slot suits me."})
            shown = (await me.call_tool("end_turn", {})).content[0].text
    return sent


def test_assistant_in_another_process_plays_a_game_that_verifies(
    suite: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mcp.json"
    sent = asyncio.run(played(suite, out))
    assert sent["tools"] == ["book", "end_turn", "move", "say"]
    assert sent["resources"] == ["calbench://observation"]
    assert sent["seen"][-1]["is_over"]
    verify(out)
    trace = read_trace(out)
    assert [seat.player for seat in trace.config.team.seats] == ["mcp", "imap", "imap"]
    fields = {*Seat(load_suite(suite)[0], {1: "imap", 2: "imap"}).seen._fields, "is_over"}
    assert all(set(seen) == fields for seen in sent["seen"])


def test_two_free_seats_are_refused(suite: Path) -> None:
    with pytest.raises(ConfigError, match="partners: leave one seat"):
        Seat(load_suite(suite)[0], {1: "imap"})
