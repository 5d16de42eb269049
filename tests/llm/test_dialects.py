"""What LiteLLM sends to each provider, and what is read from its answers: dry, on the loopback.

Last of all a whole small game through each dialect: recorded, then replayed without it.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calbench.agents import prompts
from calbench.cli.main import answer
from calbench.config.groups import known_names
from calbench.domain.usage import Usage
from calbench.engine.drivers import run_async
from calbench.engine.seating import seat_agents
from calbench.errors import ConfigError
from calbench.llm.client import Mode, Source, open_completer
from calbench.llm.completion import Completion, ModelSpec, Request
from calbench.llm.litellm_transport import TOP_LOGPROBS, ask_litellm, load_litellm, prepare_litellm
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.preflight import MOST_TOKENS
from calbench.llm.transport import BROKEN, AttemptError, Transport
from calbench.scenarios.difficulty import completed
from calbench.traces.events import Reflection
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace
from calbench.traces.storage import trace_bytes
from tests.cli.recording import spoken
from tests.cli.runs import SMALL, files
from tests.factories import make_scenario
from tests.llm.asking import attempt, request
from tests.llm.dialects.contents import Gemini
from tests.llm.dialects.dialect import FAULTS, KEY, Fault, Prompt, Said
from tests.llm.dialects.routes import ROUTES, with_keys
from tests.llm.dialects.server import speaking
from tests.llm.stub_server import Answer

OWN = {"local", "qwen-0.5b", "qwen-1.5b", "smollm2"}
"""Model files of servers of one's own."""

BELIEFS = '{"beliefs": {"1": [2]}}'
COUNTS = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)
"""Of what is said where nothing else is."""

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "integer", "enum": [0, 1]}},
    "required": ["ok"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """LiteLLM imports for seconds, which belong to no test's time."""
    load_litellm()
    asyncio.run(prepare_litellm())


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with_keys(monkeypatch)


def asked_of(config: ModelConfig, **fields: Any) -> Request:
    """A request with what a game's would have: all fields of its model, and a schema."""
    thread = request("Say JSON", "Hi", "Again").messages
    whole = Request(spec=config.spec, messages=thread, reply_schema=SCHEMA)
    return replace(whole, **fields)


def test_every_hosted_model_has_a_route() -> None:
    assert set(known_names("model")) - OWN <= set(ROUTES)


@pytest.mark.parametrize("name", ROUTES)
def test_request_is_as_documented_and_the_reply_is_read_with_its_counts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model()
    asked = asked_of(config, logprobs=config.logprobs)
    with speaking(route.dialect, monkeypatch, lambda _: Said(text=BELIEFS)) as server:
        found = attempt(asked, config)

    assert not server.refusals
    (prompt,) = server.prompts
    assert prompt.thread == asked.messages
    assert prompt.max_tokens == config.max_tokens
    assert prompt.alternatives == (TOP_LOGPROBS if config.logprobs else 0)
    assert (prompt.schema, prompt.tool, prompt.is_json) == (None, None, False)
    # LiteLLM writes out Google's own default for models of the third generation.
    assert prompt.sampling == ({"temperature": 1.0} if "gemini" in name else {})

    assert (found.text, found.finish_reason, found.refusal) == (BELIEFS, "stop", None)
    assert found.usage == COUNTS
    assert (found.logprobs is not None) == config.logprobs
    for token in found.logprobs or ():
        if token.token == "2":  # noqa: S105 - no password
            assert dict(token.top) == pytest.approx({"2": -0.287682, "0": -1.386294}, abs=1e-6)
    assert "".join(text for text, *_ in found.logprobs or ()) in {BELIEFS, ""}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("response_format", ["json_schema", "json_object"])
def test_json_is_asked_for_where_the_provider_documents_it(
    name: str, response_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model(f"model.response_format={response_format}")
    if (name, response_format) == ("deepseek", "json_schema"):
        with speaking(route.dialect, monkeypatch) as server, pytest.raises(AttemptError):
            attempt(asked_of(config), config)
        assert server.refusals == ["response_format: json_schema"]  # the preflight says so
        return
    with speaking(route.dialect, monkeypatch, lambda _: Said(text='{"ok": 1}')) as server:
        found = attempt(asked_of(config), config)

    assert not server.refusals
    assert json.loads(found.text or "") == {"ok": 1}
    assert found.finish_reason == "stop"
    (prompt,) = server.prompts
    assert prompt.thread == asked_of(config).messages
    is_held = response_format == "json_schema"
    assert prompt.schema == (SCHEMA if is_held else None)
    assert is_held or prompt.is_json == ("claude" not in config.name)  # which has no such mode


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said(text="half a re", end="cut"), ("half a re", "length")),
        (Said(text="", end="filtered"), (None, "content_filter")),
    ],
    ids=["cut", "filtered"],
)
def test_reply_that_is_cut_or_stopped_is_told_apart(
    name: str, said: Said, expected: tuple[str | None, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model()
    with speaking(route.dialect, monkeypatch, lambda _: said):
        found = attempt(asked_of(config), config)

    assert (found.text, found.finish_reason) == expected
    assert found.usage == COUNTS


@pytest.mark.parametrize("name", ["gemini-3-flash", "gemini"])
def test_prompt_that_safety_blocks_is_a_reply_without_text(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    assert isinstance(route.dialect, Gemini)
    config = route.model()
    with speaking(route.dialect, monkeypatch, first=(Answer(route.dialect.blocked()),)):
        found = attempt(asked_of(config), config)

    assert (found.text, found.finish_reason) == (None, "content_filter")


PASSING = {"pace", "broken", "busy"}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_typed(name: str, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    route = ROUTES[name]
    config = route.model()
    answer = route.dialect.fault(fault)
    with (
        speaking(route.dialect, monkeypatch, first=(answer,)) as server,
        pytest.raises(AttemptError) as caught,
    ):
        attempt(asked_of(config), config)

    error = caught.value
    assert (error.status, error.is_free) == (answer.status, answer.status < 500)
    assert error.is_retryable == (fault in PASSING)
    assert error.retry_after_s == (7.0 if fault == "pace" else None)
    assert len(server.asked) == 1
    assert KEY not in str(error)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize(
    "answer",
    [Answer(cut=True), Answer(drop=True), Answer(reset=True)],
    ids=["cut", "drop", "reset"],
)
def test_answer_that_breaks_off_counts_as_paid_and_is_asked_once(
    name: str, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model()
    with (
        speaking(route.dialect, monkeypatch, first=(answer,)) as server,
        pytest.raises(AttemptError) as caught,
    ):
        attempt(asked_of(config), config)

    assert (caught.value.error, caught.value.status) == (BROKEN, None)
    assert (caught.value.is_retryable, caught.value.is_free) == (True, False)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("claude-sonnet-4.6", ["seed=1"], "does not take seed; leave model.seed out"),
        ("claude-sonnet-4.6", ["seed=1", "options={see: 1}"], "does not take seed; leave"),
        ("claude-sonnet-4.6", ["logprobs=true"], "does not take logprobs"),
        ("llama-4-maverick", ["reasoning_effort=low"], "does not take reasoning_effort"),
        ("gpt-5.4-mini", ["reasoning_effort=low"], "or not together: reasoning_effort, logprobs"),
        ("gemini", ["logprobs=true"], "does not take logprobs"),
        ("claude-sonnet-4.6", ["options={top_k: 1, presence_penalty: 1}"], "model.options.pres"),
    ],
)
def test_setting_that_the_provider_does_not_take_is_named_and_nothing_is_sent(
    name: str, settings: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model(*(f"model.{setting}" for setting in settings))
    with speaking(route.dialect, monkeypatch) as server, pytest.raises(ConfigError, match=said):
        attempt(asked_of(config, logprobs=config.logprobs), config)
    assert not server.asked


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("deepseek-v4-pro", "provider", {"order": ["one", "two"], "allow_fallbacks": False}),
        ("claude-sonnet-4.6", "thinking", {"type": "enabled", "budget_tokens": 1024}),
    ],
)
def test_option_arrives_where_its_provider_documents_it(
    name: str, option: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model().model_copy(update={"options": {option: value}})
    with speaking(route.dialect, monkeypatch) as server:
        attempt(asked_of(config), config)
    assert not server.refusals
    assert server.asked[0][option] == value


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", ["claude-sonnet-4.6", "gemini-3-flash", "gemini-3.1-pro", "llama-4-maverick"]
)
def test_models_on_vertex_may_be_in_regions_of_their_own(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No region has all of them, and a team may seat several."""
    monkeypatch.setenv("VERTEXAI_LOCATION", "us-central1")
    route = ROUTES[name]
    for settings, refusals in (((), 1), (("model.location=global",), 0)):
        config = route.model(*settings)
        with speaking(route.dialect, monkeypatch) as server, suppress(AttemptError):
            attempt(asked_of(config), config)
        assert len(server.asked) == 1
        assert len(server.refusals) == refusals


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "settings", "sampling"),
    [
        ("gpt-5.4-mini", {"seed": 3, "reasoning_effort": "low", "logprobs": "false"}, {}),
        ("gpt-5.4-mini", {"temperature": 0.5, "top_p": 0.5, "seed": 3}, {}),
        ("deepseek-v4-pro", {"temperature": 0.0, "seed": 3, "reasoning_effort": "low"}, {}),
        ("llama-4-maverick", {"temperature": 0.0, "top_p": 0.5, "seed": 3}, {}),
        ("gemini-3-flash", {"temperature": 0.0, "seed": 3, "reasoning_effort": "low"}, {}),
        ("claude-sonnet-4.6", {"temperature": 0.5}, {}),
        ("claude-sonnet-4.6", {"reasoning_effort": "low"}, {}),
        ("gemini", {"top_p": 0.5, "seed": 3}, {"temperature": 1.0}),
        ("deepseek", {"temperature": 0.5, "top_p": 0.5}, {}),
    ],
)
def test_sampling_arrives_as_it_is_set(
    name: str, settings: dict[str, Any], sampling: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model(*(f"model.{key}={value}" for key, value in settings.items()))
    with speaking(route.dialect, monkeypatch) as server:
        attempt(asked_of(config, logprobs=config.logprobs), config)
    (prompt,) = server.prompts
    sent = {key: value for key, value in settings.items() if key != "logprobs"}
    assert prompt.sampling == {**sent, **sampling}


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


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("response_format", ["none", "json_schema", "json_object"])
def test_game_is_played_recorded_and_replayed(
    name: str, response_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (name, response_format) == ("deepseek", "json_schema"):
        pytest.skip("DeepSeek documents no schema")
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


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name",
    [
        "gpt-5.4-mini",
        pytest.param("claude-sonnet-4.6", marks=pytest.mark.slow),
        pytest.param("gemini-3-flash", marks=pytest.mark.slow),
    ],
)
def test_command_asks_each_model_once_plays_within_its_budget_and_replays(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
