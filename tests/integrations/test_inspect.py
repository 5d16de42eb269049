"""Games as samples of inspect_ai, with the library itself and its own mock of a model."""

import gc
import json
import math
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from calbench import read_trace, verify
from calbench.errors import ConfigError
from calbench.types import Trace
from tests.cli.runs import environment, python
from tests.integrations.dumps import reached
from tests.llm.stub_server import Answer, chat, serving
from tests.packaging.test_wheel import wheel

__all__ = ["wheel"]

pytest.importorskip("inspect_ai", reason="needs requirements-inspect.lock in its own environment")

from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from calbench.integrations.inspect import calendars, completion_of

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # streams that the library leaves open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TOKENIZERS = [
    Path(folder) / "litellm" / "litellm_core_utils" / "tokenizers" for folder in sys.path if folder
]
"""LiteLLM brings the file of tokens that inspect's mock would load from elsewhere."""

Mock = Callable[..., ModelOutput]


@pytest.fixture(autouse=True, scope="module")
def offline() -> Iterator[None]:
    """Tokens are counted without a network."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in filter(Path.is_dir, TOKENIZERS):
            patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        patch.setenv("INSPECT_DISABLE_UPDATE_CHECK", "1")
        yield


def run(traces: Path, model: Any, **arguments: Any) -> tuple[EvalLog, list[Trace]]:
    """Evaluate a model; return the log and the games beside it."""
    settings = {key: arguments.pop(key) for key in ("seats", "partner", "reflection", "suite")
                if key in arguments}  # fmt: skip
    (log,) = evaluate(
        calendars(traces=str(traces), **settings),
        model=model,
        display="none",
        log_dir=str(traces.parent / "logs"),
        **arguments,
    )
    gc.collect()  # so what it left open is noticed here
    return log, [read_trace(path) for path in sorted(traces.glob("*.json"))]


def usages(trace: Trace) -> list[Any]:
    given = [getattr(event, "usage", None) for event in trace.events]
    return [usage for usage in given if usage is not None]


def mocked(answer: Mock) -> Any:
    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def test_eight_samples_at_once_verify_with_model_and_tokens(tmp_path: Path) -> None:
    log, games = run(tmp_path / "traces", "mockllm/model", limit=8, max_samples=8)
    assert log.status == "success", log.error
    assert len(games) == 8
    verify(tmp_path / "traces")
    assert {seat.settings["model"] for game in games for seat in game.config.team.seats} == {
        "mockllm/model"
    }
    used = log.stats.model_usage["mockllm/model"]
    counted = [usage for game in games for usage in usages(game)]
    assert sum(usage.input_tokens for usage in counted) == used.input_tokens
    assert sum(usage.output_tokens for usage in counted) == used.output_tokens
    assert not any(usage.is_estimated for usage in counted)
    assert log.samples is not None
    named = {sample.metadata["trace"] for sample in log.samples}
    assert named == {str(path) for path in (tmp_path / "traces").iterdir()}
    assert {score.name for score in log.results.scores} >= {"assigned", "excess_cost"}


def test_loopback_server_gives_model_tokens_and_log_probabilities(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="inspect asks such servers with the package openai")
    tokens = {"content": [{"token": "no", "logprob": -0.5, "bytes": None, "top_logprobs": []}]}
    with serving(Answer(chat("no", logprobs=tokens))) as server:
        model = get_model("openai-api/here/stub", base_url=server.url, api_key="none")
        log, games = run(tmp_path / "traces", model, limit=8, max_samples=8, seats=1)
        asked = len(server.asked)
    assert log.status == "success", log.error
    assert len(games) == 8
    verify(tmp_path / "traces")
    for game in games:
        seats = game.config.team.seats
        assert seats[0].player == "imap"
        assert seats[1].settings["model"] == "openai-api/here/stub"
    counted = [usage for game in games for usage in usages(game)]
    assert len(counted) == asked
    assert {(u.input_tokens, u.cached_tokens, u.output_tokens) for u in counted} == {(10, 4, 2)}


def test_expected_beliefs_follow_from_log_probabilities_of_the_server(tmp_path: Path) -> None:
    """From the server's reply to the trace, and the trace replays."""
    pytest.importorskip("openai", reason="inspect asks such servers with the package openai")
    first = json.dumps({"beliefs": {str(agent): [0] * 16 for agent in (0, 2, 3, 4)}})
    before, _, after = first.partition("0,")
    tops = [{"token": token, "bytes": None, "logprob": math.log(p)}
            for token, p in (("1", 0.75), ("2", 0.25))]  # fmt: skip
    tokens = [
        {"token": before, "bytes": None, "logprob": 0.0, "top_logprobs": []},
        {**tops[0], "top_logprobs": tops},
        {"token": f",{after}", "bytes": None, "logprob": 0.0, "top_logprobs": []},
    ]
    said = chat(f"{before}1,{after}", logprobs={"content": tokens})
    with serving(Answer(said)) as server:
        model = get_model("openai-api/here/stub", base_url=server.url, api_key="none")
        asking = {"logprobs": True, "top_logprobs": 5, "reflection": True}
        log, (game,) = run(tmp_path / "traces", model, limit=1, seats=1, **asking)
        assert all(asked["logprobs"] is True for asked in server.asked)
    assert log.status == "success", log.error
    verify(tmp_path / "traces")
    found = [event for event in game.events if event.type == "reflection"]
    assert len(found) == 5
    for event in found:
        assert event.delta_by_target["0"] == (1,) + (0,) * 15
        assert event.expected_by_target is not None
        assert event.expected_by_target["0"] == pytest.approx((1.25,) + (0,) * 15)
        assert event.expected_by_target["2"] == pytest.approx((0,) * 16)


def test_what_the_model_raises_ends_the_game_and_is_in_both_records(tmp_path: Path) -> None:
    def broken(*_: Any) -> ModelOutput:
        raise ValueError("http://10.0.0.7/secret")

    log, games = run(tmp_path / "traces", mocked(broken), limit=1)
    assert log.status == "error"
    assert log.error is not None
    assert "ValueError" in log.error.message
    (game,) = games
    assert game.halt is not None
    assert (game.halt.reason, game.halt.detail) == ("provider_fault", "ValueError")


def test_a_limit_of_tokens_is_recorded_as_a_budget_and_not_scored(tmp_path: Path) -> None:
    log, (game,) = run(tmp_path / "traces", "mockllm/model", limit=1, token_limit=5000)
    assert log.status == "success"
    assert game.halt is not None
    assert (game.halt.reason, game.halt.detail) == ("budget_stop", "LimitExceededError")


def test_model_is_handed_its_prompts_and_nothing_else(tmp_path: Path) -> None:
    """It dumps all that it can reach: instructions, questions, its own replies, and no more."""
    dumped: list[list[str]] = []

    def dumping(*given: Any) -> ModelOutput:
        messages, tools, choice, config = given
        assert (list(tools), choice) == ([], "none")
        assert config.model_dump(exclude_none=True).keys() <= {"max_connections"}
        dumped.append([message.text for message in messages])
        extra = {name for message in messages for name in message.model_dump(exclude_none=True)}
        assert extra <= {"id", "role", "content", "source", "model"}, extra
        return ModelOutput.from_content("mock", "my reply")

    _, (game,) = run(tmp_path / "traces", mocked(dumping), limit=1, seats=2)
    registered = [event for event in game.events if event.type == "agent_registered"]
    asked = [event for event in game.events if getattr(event, "agent_id", None) == 2]
    prompts = [getattr(event, "prompt", None) for event in asked]
    known = {registered[2].system_prompt, *prompts, "my reply"}
    assert dumped
    assert {text for thread in dumped for text in thread} <= known
    assert reached(dumped)


def test_reply_is_ours_with_what_inspect_says_of_it() -> None:
    output = ModelOutput.from_content("m", "no", stop_reason="max_tokens")
    output.usage = ModelUsage(input_tokens=5, input_tokens_cache_read=3, output_tokens=2)
    reply = completion_of(output)
    assert (reply.text, reply.finish_reason, reply.logprobs) == ("no", "length", None)
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (8, 3)


def test_seat_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"seats: \[9\]; agents are 0 to 4"):
        calendars(seats=9)


def test_installed_package_is_evaluated_by_name(wheel: Path, tmp_path: Path) -> None:
    """``inspect eval calbench/calendars`` finds the task by its entry point."""
    packages = tmp_path / "site-packages"  # inspect takes the name of what is in such a folder
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    env = environment(PYTHONPATH=str(packages))
    command = ["eval", "calbench/calendars", "--model", "mockllm/model", "--display", "plain"]
    settings = ["--limit", "2", "-T", "seats=0"]
    ended = python("-m", "inspect_ai", *command, *settings, cwd=tmp_path, env=env)
    assert ended.status == 0, ended.err + ended.out
    verify(tmp_path / "logs" / "calbench")
    assert len(list((tmp_path / "logs" / "calbench").iterdir())) == 2
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 1
