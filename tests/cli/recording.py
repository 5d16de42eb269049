"""A run that records replies, to be killed: models are stood in for, and every request is noted.

``python -m tests.cli.recording OUT REQUESTS DELAY_MS [override ...]``
"""

import asyncio
import os
import sys
from itertools import count

from calbench.agents.base import CallSite
from calbench.agents.scripted import scripted_speaker
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.replies.record import named
from calbench.llm.transport import AttemptError, Transport
from calbench.runs.play import execute

SITE = CallSite("nobody", "no game", AgentId(0), 0, Phase.CHEAP_TALK, 0, 0)

GAMES = (
    "teams=[my-model]",
    "model.name=stand-in",
    "model.api_base=http://localhost:1/v1",
    "model.concurrency=8",
    "suite.num_scenarios=6",
    "suite.num_candidates=6",
    "games_at_once=4",
    "preflight=false",
)
"""A run of thirty rounds; its replies are a function of what was asked."""

STAND_IN = ("model.name=stand-in", "model.api_base=http://localhost:1/v1", "model.max_attempts=1")
PRICED = ("model.name=openai/gpt-5.4-mini", "model.api_base=null", "model.max_attempts=1")
"""A model without a price that a test stands in for, and one with a price."""


async def spoken(request: Request) -> Completion:
    """Answer as a scripted speaker, with a count of tokens."""
    completion = await scripted_speaker("candid", 0).complete(request, SITE)
    usage = Usage(input_tokens=len(request.messages), cached_tokens=0, output_tokens=1)
    return Completion(text=completion.text, finish_reason="stop", usage=usage)


async def answering(request: Request, _endpoint: Endpoint) -> Completion:
    """Answer as a model that is there."""
    return await spoken(request)


async def unreachable(_request: Request, _endpoint: Endpoint) -> Completion:
    """Be a model that nobody may ask."""
    raise AssertionError("a model was asked")


def failing_after(most: int, answer: Transport = answering) -> Transport:
    """Return a model that answers so many calls and refuses every further one."""
    calls = count()

    async def ask(request: Request, endpoint: Endpoint) -> Completion:
        if next(calls) >= most:
            raise AttemptError("BadRequest", status=400, is_retryable=False)
        return await answer(request, endpoint)

    return ask


def noting(path: str, delay_s: float) -> Transport:
    """Return a transport that notes the key of each request before it is answered."""
    notes = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(request: Request, _endpoint: Endpoint) -> Completion:
        os.write(notes, f"{named(request).key}\n".encode())
        await asyncio.sleep(delay_s)
        return await spoken(request)

    return ask


def recording(out: str, *overrides: str) -> RunSpec:
    return compose([*GAMES, f"out={out}", *overrides])


if __name__ == "__main__":
    _, out, requests, delay_ms, *overrides = sys.argv
    execute(recording(out, *overrides), noting(requests, float(delay_ms) / 1000))
