"""Small games with models that are stood in for; their replies are recorded."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from calbench.agents.prompts import load_variant
from calbench.engine.drivers import run_async
from calbench.engine.game import game_id
from calbench.engine.seating import seat_agents
from calbench.llm.client import Mode, Source, open_completer
from calbench.llm.completion import Completion, Request, TokenLogprob
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.replies.record import named
from calbench.llm.transport import Transport
from calbench.scenarios.difficulty import completed
from calbench.traces.models import GameConfig, Limits, PromptVariant, Seat, Team, Trace
from tests.cli.recording import spoken
from tests.factories import make_scenario

(SCENARIO,) = completed(
    (make_scenario(["..E2.", "E...", ".B..", "...E3"], [(0, 1, 2), (3, 1)], prior=[((0, 1), 1)]),)
)

MODEL = ModelConfig(
    player="stub", name="openai/stub", api_base="http://127.0.0.1:9/v1", logprobs=True
)
RED_TEAM = load_variant("red-team", "v1")

IMAP = Seat(player="imap", kind="protocol")
CANDID = Seat(player="candid", kind="scripted", settings={"style": "candid"})
STUB = Seat(player="stub", kind="model", settings=MODEL.spec.model_dump(mode="json"))
PROBING = STUB.model_copy(
    update={
        "player": "stub.red-team",
        "variant": PromptVariant(
            name="red-team",
            version="v1",
            digest=RED_TEAM.digest,
            is_nosy=RED_TEAM.is_probing,
        ),
    }
)


def config(*seats: Seat) -> GameConfig:
    return GameConfig(
        team=Team(team_id="own", seats=seats),
        channels=("dm", "all_agent_groupchat"),
        limits=Limits(max_turns_per_round=3, decision_retries=1),
        prompt_version="v1",
        label_bank="v1",
        reflection=any(seat.uses_language for seat in seats),
    )


async def answering(request: Request, _endpoint: Endpoint) -> Completion:
    """Answer as a candid speaker, now and then with a fence around it, or with nonsense."""
    completion = await spoken(request)
    choice = int(named(request).key[:2], 16) % 8
    text = {0: f"```json\n{completion.text}\n```", 1: "Let me think.", 2: ""}.get(choice)
    if text is not None:
        return replace(completion, text=text)
    if not request.logprobs:
        return completion
    tokens = (
        TokenLogprob(each, -0.1, ((each, -0.1), ("1", -2.5))) for each in completion.text or ""
    )
    return replace(completion, logprobs=tuple(tokens))


def played(
    seats: Sequence[Seat],
    store: Path | None,
    transport: Transport = answering,
    mode: Mode = "record",
    *,
    prompts: tuple[str, str | None] = ("v1", None),
) -> Trace:
    """Play a game of these seats, asked with prompts of a version and digest; record replies."""
    version, digest = prompts
    game = config(*seats).updated(prompt_version=version, prompt_digest=digest)

    async def play() -> Trace:
        source = Source(mode=mode, store=store, transport=transport)
        models = {seat.player: MODEL for seat in (STUB, PROBING)}
        async with open_completer(models, source) as completer:
            agents = seat_agents(SCENARIO, game, completer)
            return await run_async(SCENARIO, game, agents)

    return asyncio.run(play())


def renamed(trace: Trace, changed: GameConfig) -> Trace:
    """Return a trace that claims another configuration, with the id that then belongs to it."""
    identity = game_id(trace.scenario, changed)
    return trace.model_copy(update={"config": changed, "game_id": identity})
