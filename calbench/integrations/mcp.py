"""A seat for an assistant, as a server of MCP over stdio: ``python -m calbench.integrations.mcp``.

Its tools are those of a seat over HTTP, so the same agent can take both: they collect what the
assistant does in its turn, and ``end_turn`` does it. The resource ``calbench://observation`` is
what the seat sees. The extra ``mcp`` installs the library.
"""

import asyncio
import sys
from argparse import Namespace
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.types import Resource, TextContent, Tool
from pydantic_core import to_json

from calbench.domain.canary import LINE
from calbench.integrations import seats
from calbench.integrations.seats import END, Seat
from calbench.types import Scenario, Trace

SEEN = "calbench://observation"


def server_of(seat: Seat) -> Server[Any, Any]:
    """Return a server that offers a seat's tools, and its observation as a resource."""
    server: Server[Any, Any] = Server("calbench", instructions=f"{__doc__}\n{LINE}")
    tools = {**seats.SCHEMAS, END: {"type": "object", "properties": {}}}

    @server.list_tools()
    async def listed() -> list[Tool]:
        return [Tool(name=name, inputSchema=schema) for name, schema in tools.items()]

    @server.call_tool(validate_input=False)  # the seat does, with the same schema
    async def call(name: str, arguments: dict[str, Any]) -> list[TextContent]:
        return [TextContent(type="text", text=to_json(seat.call(name, arguments)).decode())]

    @server.list_resources()
    async def resources() -> list[Resource]:
        return [Resource(uri=SEEN, name="observation", mimeType="application/json")]

    @server.read_resource()
    async def read(uri: object) -> list[ReadResourceContents]:  # noqa: ARG001 - there is one
        return [ReadResourceContents(to_json(seat.shown()).decode(), "application/json")]

    return server


async def _serve(seat: Seat) -> None:
    server = server_of(seat)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _played(chosen: Namespace, scenario: Scenario) -> Trace | None:
    others = {*range(scenario.num_agents)} - {chosen.seat}
    seat = Seat("mcp", scenario, dict.fromkeys(others, chosen.partner), canary=True)
    asyncio.run(_serve(seat))
    return seat.trace


def main() -> int:
    """Serve one game over standard input and output, and write its trace."""
    parser = seats.command("mcp", "mcp.json")
    parser.add_argument("--seat", type=int, default=0, help="of the assistant, from 0")
    return seats.run(parser, _played)


if __name__ == "__main__":
    sys.exit(main())
