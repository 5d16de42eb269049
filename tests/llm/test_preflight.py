"""The preflight of models: what it asks, records and says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from calbench.errors import ConfigError, PreflightError, StoppedError
from calbench.llm.client import Mode, Source
from calbench.llm.completion import Completion, Request, TokenLogprob
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.preflight import MOST_TOKENS, distinct, preflight
from calbench.llm.replies.shards import open_replies
from calbench.llm.transport import CONNECTION_REFUSED, AttemptError, Transport
from tests.llm.asking import THEN, FakeTime, Script, model, prices, reply

REFUSED = AttemptError(CONNECTION_REFUSED, is_free=True)


def source(transport: Transport, store: Path | None, mode: Mode = "record", **keys: Any) -> Source:
    return Source(
        mode=mode,
        store=store,
        transport=transport,
        surroundings=FakeTime().surroundings(),
        now=lambda: THEN,
        **keys,
    )


def problem(transport: Transport, tmp_path: Path, config: ModelConfig | None = None) -> str:
    models = {"stub": config or model()}
    with pytest.raises(PreflightError) as caught:
        preflight(models, source(transport, tmp_path / "run" / "replies.sqlite"))
    (line,) = caught.value.lines
    return line


def test_small_call_with_the_settings_of_the_games_is_recorded_and_counted(tmp_path: Path) -> None:
    script, store = Script(), tmp_path / "replies.sqlite"
    asking = source(script, store)
    preflight({"stub": model(temperature=0.5, response_format="json_object")}, asking)
    (asked,) = script.asked
    assert asked.spec.sampling.max_tokens == MOST_TOKENS
    assert asked.spec.sampling.temperature == 0.5
    assert asked.sent_schema is not None
    assert "JSON" in asked.messages[0].content  # some providers insist on the word
    assert (asking.totals.calls, asking.totals.failed) == (1, 0)
    with open_replies(store) as replies:
        assert replies.stats().replies == 1


def test_each_start_asks_again_under_a_number_of_its_own(tmp_path: Path) -> None:
    script, store = Script(), tmp_path / "replies.sqlite"
    for _ in range(3):
        preflight({"stub": model()}, source(script, store))
    assert [asked.spec.replicate for asked in script.asked] == [0, 1, 2]
    with open_replies(store) as replies:
        assert replies.stats().replies == 3


def test_live_keeps_nothing_and_its_cost_counts_in_the_games_that_follow() -> None:
    asking = source(Script(), None, "live", prices=prices(1000.0, 1000.0), max_usd=1.0)
    preflight({"stub": model()}, asking)
    preflight({"stub": model()}, asking)
    assert asking.totals.spent_usd == pytest.approx(2 * 0.012)


@pytest.mark.parametrize("answer", [reply(None), reply("no JSON", finish_reason="length")])
def test_any_reply_will_do(answer: Completion, tmp_path: Path) -> None:
    store = tmp_path / "replies.sqlite"
    preflight({"stub": model()}, source(Script(answer), store))
    with open_replies(store) as replies:
        assert replies.stats().replies == 1


@pytest.mark.parametrize("status", [400, 422])
def test_model_that_refuses_so_few_tokens_is_asked_with_its_own(
    status: int, tmp_path: Path
) -> None:
    refusal = AttemptError("BadRequestError", status=status, is_retryable=False, is_free=True)
    script = Script(refusal, reply())
    preflight({"stub": model(max_tokens=900)}, source(script, tmp_path / "replies.sqlite"))
    assert [asked.spec.sampling.max_tokens for asked in script.asked] == [MOST_TOKENS, 900]


@pytest.mark.parametrize(
    ("error", "why", "asked"),
    [
        (REFUSED, "ConnectionRefused after 2 attempts; nothing listens at its address", 2),
        (AttemptError("Timeout"), "Timeout after 2 attempts", 2),
        (
            AttemptError("AuthenticationError", status=401, is_retryable=False, is_free=True),
            "AuthenticationError, status 401 after 1 attempt; check the key",
            1,
        ),
        (
            AttemptError("NotFoundError", status=404, is_retryable=False, is_free=True),
            "status 404 after 1 attempt; check the model's name and api_base",
            1,
        ),
        (ConfigError("the environment variable X is not set"), "variable X is not set", 1),
    ],
)
def test_line_names_player_reason_model_and_address(
    error: Exception, why: str, asked: int, tmp_path: Path
) -> None:
    script = Script(error)
    line = problem(script, tmp_path)
    assert line.startswith("model stub: ")
    assert why in line
    assert line.endswith("(openai/stub at http://127.0.0.1:9/v1)")
    assert len(script.asked) == asked


def test_slow_model_is_given_up(tmp_path: Path) -> None:
    async def hanging(_request: Request, _endpoint: Endpoint) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError

    assert "Timeout after 2 attempts" in problem(hanging, tmp_path, model(timeout_s=0.01))


def test_failed_preflight_leaves_no_store_behind_but_one_that_was_paid_for(tmp_path: Path) -> None:
    problem(Script(REFUSED), tmp_path)
    assert not list((tmp_path / "run").iterdir())

    async def half(_request: Request, endpoint: Endpoint) -> Completion:
        if endpoint.api_base != "http://127.0.0.1:9/v1":
            raise REFUSED
        return reply()

    store = tmp_path / "replies.sqlite"
    models = {"good": model(), "bad": model(player="bad", api_base="http://127.0.0.1:8/v1")}
    with pytest.raises(PreflightError) as caught:
        preflight(models, source(half, store))
    assert len(caught.value.lines) == 1
    with open_replies(store) as replies:
        assert replies.stats().replies == 1


def test_store_of_an_earlier_start_stays(tmp_path: Path) -> None:
    store = tmp_path / "replies.sqlite"
    preflight({"stub": model()}, source(Script(), store))
    with pytest.raises(PreflightError):
        preflight({"stub": model()}, source(Script(REFUSED), store))
    assert store.exists()


def test_every_model_that_cannot_be_asked_has_a_line_by_player(tmp_path: Path) -> None:
    models = {name: model(player=name, name=name) for name in ("b", "a", "c")}
    with pytest.raises(PreflightError) as caught:
        preflight(models, source(Script(REFUSED), tmp_path / "replies.sqlite"))
    assert [line.split(":")[0] for line in caught.value.lines] == ["model a", "model b", "model c"]


def test_players_of_one_model_ask_once(tmp_path: Path) -> None:
    models = {
        "stub": model(),
        "stub.nosy": model(),
        "other-key": model(api_key_env="OTHER"),
        "other-name": model(name="other"),
        "other-server": model(api_base="http://127.0.0.1:8/v1"),
    }
    assert list(distinct(models)) == ["other-key", "other-name", "other-server", "stub"]
    script = Script()
    preflight(models, source(script, tmp_path / "replies.sqlite"))
    assert len(script.asked) == 4


def test_cap_that_the_call_alone_exceeds_refuses_and_asks_nobody(tmp_path: Path) -> None:
    script, store = Script(), tmp_path / "run" / "replies.sqlite"
    with pytest.raises(PreflightError, match="model stub: the budget of "):
        preflight({"stub": model()}, source(script, store, prices=prices(1.0, 1.0), max_usd=1e-6))
    assert not script.asked
    assert not list(store.parent.iterdir())


def test_model_without_a_price_is_refused_under_a_cap_as_ever(tmp_path: Path) -> None:
    store = tmp_path / "run" / "replies.sqlite"
    with pytest.raises(ConfigError, match="has no price"):
        preflight({"stub": model()}, source(Script(), store, max_usd=1.0))
    assert not list(store.parent.iterdir())


def test_user_can_stop_it() -> None:
    is_asked = asyncio.Event()

    async def hanging(_request: Request, _endpoint: Endpoint) -> Completion:
        is_asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    asking = source(hanging, None, "live", is_stopping=is_asked.is_set)
    with pytest.raises(StoppedError):
        preflight({"stub": model()}, asking)


TOKENS = (TokenLogprob("fine", -0.1),)
INTEGERS = " (its reflections count by the integers that it writes)"


@pytest.mark.parametrize(
    ("keys", "answer", "said"),
    [
        ({}, reply(), f"schema: no, log-probabilities: no{INTEGERS}, seed: no"),
        (
            {"logprobs": True, "seed": 0, "response_format": "json_schema"},
            reply(logprobs=TOKENS),
            "schema: yes, log-probabilities: yes, seed: yes",
        ),
        (
            {"logprobs": True, "response_format": "json_object", "api_base": None},
            reply(),
            f"schema: no, log-probabilities: asked for, not given{INTEGERS}, seed: no",
        ),
        (
            {"logprobs": True, "response_format": "json_object"},
            reply(None, finish_reason="length"),  # cut while it reasoned: nobody can tell
            "schema: yes, log-probabilities: yes, seed: no",
        ),
    ],
)
def test_line_says_what_a_model_is_asked_for_and_whether_it_gives_log_probabilities(
    keys: dict[str, Any], answer: Completion, said: str
) -> None:
    lines = preflight({"stub": model(**keys)}, source(Script(answer), None, "live"))
    assert lines == [f"model stub answers; {said}"]
