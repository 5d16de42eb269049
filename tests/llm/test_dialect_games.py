"""A whole small game through each provider's dialect: recorded, then replayed without it."""

import asyncio
from pathlib import Path

import pytest

from calbench.agents import prompts
from calbench.cli.main import answer
from calbench.engine.drivers import run_async
from calbench.engine.seating import seat_agents
from calbench.llm.client import Mode, Source, open_completer
from calbench.llm.completion import Completion, ModelSpec, Request
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.preflight import MOST_TOKENS
from calbench.llm.transport import Transport
from calbench.scenarios.difficulty import completed
from calbench.traces.events import Reflection
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace
from calbench.traces.storage import trace_bytes
from tests.cli.recording import spoken
from tests.cli.runs import SMALL, files
from tests.factories import make_scenario
from tests.llm.dialects.dialect import KEY, Prompt, Said
from tests.llm.dialects.routes import ROUTES, with_keys
from tests.llm.dialects.server import speaking

pytestmark = pytest.mark.heavy

NEWEST = max(path.name for path in Path(prompts.__file__).parent.glob("v[0-9]"))
"""Version of the prompts that games are played with."""

(SCENARIO,) = completed((make_scenario(["..E2.", "E...", ".B.."], [(0, 1, 2), (2, 1)]),))


def candid(prompt: Prompt) -> Said:
    """Say what a candid speaker would."""
    request = Request(spec=ModelSpec(model="none/none"), messages=prompt.thread)
    return Said(text=asyncio.run(spoken(request)).text or "")


async def nobody(_request: Request, _endpoint: Endpoint) -> Completion:
    raise AssertionError("a replay asks nobody")


def played(model: ModelConfig, store: Path, transport: Transport, mode: Mode) -> Trace:
    seat = Seat(player=model.player, kind="model", settings=model.spec.model_dump(mode="json"))
    config = GameConfig(
        team=Team(team_id="own", seats=(seat,)),
        channels=("dm", "all_agent_groupchat"),
        limits=Limits(max_turns_per_round=3, decision_retries=1),
        prompt_version=NEWEST,
        label_bank="v1",
        reflection=True,
    )

    async def play() -> Trace:
        source = Source(mode=mode, store=store, transport=transport)
        async with open_completer({model.player: model}, source) as completer:
            agents = seat_agents(SCENARIO, config, completer)
            return await run_async(SCENARIO, config, agents)

    return asyncio.run(play())


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("response_format", ["none", "json_schema", "json_object"])
def test_game_is_played_recorded_and_replayed(
    name: str, response_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (name, response_format) == ("deepseek", "json_schema"):
        pytest.skip("DeepSeek documents no schema")
    with_keys(monkeypatch)
    route = ROUTES[name]
    model = route.model(f"model.response_format={response_format}")
    store = tmp_path / "replies.sqlite"
    with speaking(route.dialect, monkeypatch, candid) as server:
        trace = played(model, store, ask_litellm, "record")

    assert not server.refusals
    assert len(server.prompts) == len(server.asked)  # each was accepted, and none asked twice
    assert trace.metrics.rounds_scheduled == 2
    reflections = [each for each in trace.events if isinstance(each, Reflection)]
    assert len(reflections) == 6
    assert all((each.expected_by_target is not None) == model.logprobs for each in reflections)
    asked = [each for each in server.prompts if each.alternatives]
    assert len(asked) == (len(reflections) if model.logprobs else 0)
    assert (response_format == "json_schema") == all(each.schema for each in server.prompts)
    assert KEY.encode() not in trace_bytes(trace) + store.read_bytes()

    for variable in ("OPENAI", "OPENROUTER", "ANTHROPIC", "GEMINI", "DEEPSEEK"):
        monkeypatch.delenv(f"{variable}_API_KEY")
    assert played(model, store, nobody, "replay") == trace


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5.4-mini",
        pytest.param("claude-sonnet-4.6", marks=pytest.mark.slow),
        pytest.param("gemini-3-flash", marks=pytest.mark.slow),
    ],
)
def test_command_asks_each_model_once_plays_within_its_budget_and_replays(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_keys(monkeypatch)
    route = ROUTES[name]
    run = [*SMALL, *route.overrides, "teams=[my-model]", "suite.num_scenarios=1", "jobs=1"]
    out, again = tmp_path / "run", tmp_path / "again"
    with speaking(route.dialect, monkeypatch, candid) as server:
        status = answer([*run, "budget.max_usd=20", f"out={out}"])
    said = capsys.readouterr()

    assert not server.refusals
    assert status == 0, said.err
    given = "yes" if route.model().logprobs else "no (its reflections count by the integers"
    assert f"model {name} answers; schema: no, log-probabilities: {given}" in said.err
    assert f"{len(server.asked)} replies paid for" in said.out
    assert server.prompts[0].max_tokens == MOST_TOKENS
    assert KEY not in said.out + said.err
    for path in out.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()

    replay = ["replies.mode=replay", f"replies.path={out / 'replies.sqlite'}", f"out={again}"]
    assert answer([*run, *replay]) == 0
    capsys.readouterr()
    assert files(again / "traces") == files(out / "traces")
    assert files(again / "tables") == files(out / "tables")
