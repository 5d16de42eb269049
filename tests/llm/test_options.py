"""A provider's own parameters: on the wire, in the key of what is recorded, in traces."""

import inspect
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calbench.domain.canonical import canonical_json
from calbench.errors import ConfigError, FileError, ReplayMissError
from calbench.files import first_problem
from calbench.llm.completion import GREATEST_INTEGER, MOST_OPTIONS, ModelSpec
from calbench.llm.litellm_transport import load_litellm
from calbench.llm.model import ELSEWHERE, NO_OPTIONS
from calbench.llm.preflight import distinct
from calbench.llm.replies.record import named
from calbench.llm.replies.shards import merge_into, open_replies
from calbench.llm.replies.store import ReplyStore
from calbench.runs.play import execute
from calbench.runs.verification import verify_file
from calbench.traces.storage import read_trace
from tests.cli.recording import answering, recording, unreachable
from tests.cli.runs import SMALL, calbench, files, keys_in
from tests.llm.asking import ask_stub, model, put, recorded, request
from tests.llm.stub_server import serving

OPTIONS = {"top_k": 20, "provider": {"order": ["a", "b"], "sort": None}}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-GREATEST_INTEGER, GREATEST_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text('abc\n"{é', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), JSON, min_size=1))
def test_options_are_kept_and_found_again_as_they_were_asked(options: dict[str, Any]) -> None:
    spec = model(options=options).spec
    again = ModelSpec.model_validate(json.loads(canonical_json(spec.model_dump(mode="json"))))
    assert canonical_json(again.options) == canonical_json(options)
    asked, answer = recorded("Hi", options=options)
    with ReplyStore.in_memory() as store:
        kept = put(store, asked, answer)
        assert store.check_key(kept) is None
        assert store.find(named(request("Hi", options=json.loads(json.dumps(options))))) == kept
        assert store.find(named(request("Hi"))) is None


def test_absent_options_leave_no_trace() -> None:
    absent: dict[str, Any] | None
    for absent in (None, {}):
        spec = model(options=absent).spec
        assert "options" not in spec.model_dump() | model(options=absent).model_dump()
        assert named(request("Hi", options=absent)).key == named(request("Hi")).key
    assert "options" not in recorded("Hi")[1].model_dump_json()


def test_options_change_the_key_and_a_changed_record_is_found(tmp_path: Path) -> None:
    keys = [named(request("Hi", options=each)).key for each in (None, {"a": 1}, {"a": True})]
    assert len(set(keys)) == 3
    asked, answer = recorded("Hi", options=OPTIONS)
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        put(store, asked, answer)
        merge_into(tmp_path / "shards", store)
        said = store.nearest_difference(named(request("Hi", options={"top_k": 21})))
    assert said is not None
    assert said.startswith("options: recorded {'provider'")
    (path,) = (tmp_path / "shards").glob("replies-*.jsonl")
    with open_replies(tmp_path / "shards") as shards:
        assert shards.get(asked.key) == answer
    path.write_text(path.read_text().replace('"top_k":20', '"top_k":21'))
    with pytest.raises(FileError, match="the line was changed"):
        open_replies(tmp_path / "shards")


def test_options_reach_the_provider_and_are_not_changed_on_the_way() -> None:
    asked = request("Hi", options=OPTIONS)
    before = canonical_json(asked.spec.options)
    with serving() as server:
        ask_stub(server, asked)
    sent = server.asked[0]
    del sent["messages"]
    assert sent == {"model": "stub", "max_tokens": 100, **OPTIONS}
    assert canonical_json(asked.spec.options) == before


@pytest.mark.parametrize("name", ["cache", "langfuse_host", "s3_bucket_name"])
def test_what_is_a_parameter_of_litellm_itself_is_refused_before_anything_is_sent(
    name: str,
) -> None:
    with serving() as server, pytest.raises(ConfigError, match=f"options.{name} is LiteLLM's own"):
        ask_stub(server, request("Hi", options={name: "x"}))
    assert not server.asked


def test_models_that_differ_in_options_are_each_asked_before_the_first_game() -> None:
    models = {"a": model(), "b": model(options={"top_k": 1}), "c": model(options={"top_k": 1})}
    assert list(distinct(models)) == ["a", "b"]


TAKEN = {
    "frequency_penalty", "logit_bias", "presence_penalty", "prompt_cache_key", "stop", "store",
    "thinking", "verbosity",
}  # fmt: skip
"""Parameters that LiteLLM knows by name and that are their provider's own."""


def test_every_other_parameter_of_litellm_is_refused() -> None:
    asks = inspect.signature(load_litellm().acompletion).parameters.values()
    names = {each.name for each in asks if each.kind is not each.VAR_KEYWORD}
    known = {*NO_OPTIONS, *load_litellm().types.utils.all_litellm_params}
    assert {name for name in names - known if not ELSEWHERE.fullmatch(name)} == TAKEN


ODD = (
    "canary", ["canary"], 7, {"a": float("nan")}, {"a": float("inf")}, {"a": {"canary"}},
    {"a": b"canary"}, {"a": date(2026, 1, 1)}, {"a": datetime(2026, 1, 1, tzinfo=UTC)},
    {1: "canary"}, {None: 1}, {"a": [{1: 2}]}, {"a": GREATEST_INTEGER + 1}, {"a": "\ud800"},
    {"\ud800": 1}, {"a": "canary" * MOST_OPTIONS}, {"a": print},
    {"api_key": "canary"}, {"a": [{"Authorization": "canary"}]}, {"extra_headers": {"a": "canary"}},
    {"azure_ad_token": "canary"}, {"aws_secret_access_key": "canary"}, {"client_secret": "canary"},
    {"a": "sk-canary-0123456789"}, {"a": ["Bearer canary"]}, {"a": {"b": "AIzaSycanary"}},
    {"sk-canary-0123456789": 1}, {"a": "hf_canary0123456789"}, {"a": "the canary-key of mine"},
    {"aws_region_name": "x"}, {"base_url": "http://canary"}, {"extra_body": {"max_tokens": 9}},
    *({name: "canary"} for name in sorted(NO_OPTIONS)),
    {"candidateCount": "canary"}, {"N": "canary"}, {"Max-Output-Tokens": "canary"},
    {"generationConfig": {"maxOutputTokens": "canary"}}, {"options": {"num_predict": "canary"}},
    {"organization": "canary"}, {"project_id": "canary"}, {"userId": "canary"},
    {"user": "canary"}, {"accountId": "canary"}, {"function_call": "canary"}, {"tools": ["canary"]},
    {"a": [{"b": [{"service-tier": "canary"}]}]}, {"max_tokens_to_sample": "canary"},
)  # fmt: skip


@pytest.mark.parametrize("options", ODD, ids=range(len(ODD)))
def test_odd_options_are_refused_and_not_repeated(
    options: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_KEY", "canary-key")
    with pytest.raises(ValidationError) as caught:
        model(options=options, api_key_env="STUB_KEY")
    line = first_problem(caught.value)
    assert line.startswith("options: ")
    assert "canary" not in line


@pytest.mark.parametrize("variable", ["MY_API_KEY", "HUB_TOKEN", "SOME_KEY", "my_key", "OWN"])
def test_value_of_a_variable_that_holds_a_key_is_refused(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks: Any = {"options": {"a": ['is it canary-é"1?']}, "api_key_env": "OWN"}
    monkeypatch.setenv("OWN", "none")
    assert model(**asks).options
    monkeypatch.setenv(variable, ' canary-é"1\n')
    with pytest.raises(ValidationError) as caught:
        model(**asks)
    assert first_problem(caught.value) == f"options: hold the key of {variable}; leave it there"
    monkeypatch.setenv(variable, "canary")  # a word
    assert model(**asks).options


def test_nested_without_end_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(ValidationError, match="expected keys and values as JSON has them"):
        model(options=endless)


@pytest.mark.parametrize(
    "options",
    [
        {"prompt_cache_key": "a", "thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"stop_token_ids": [1], "skip_special_tokens": True, "store": False},
        {"reasoning": {"effort": "low"}, "number": 1, "generationConfig": {"topK": 1}},
        {"library": "sk-learn", "transfer": "hf_transfer", "tokens": ["Bearers"]},
    ],
)
def test_what_only_looks_like_a_key_is_taken(options: dict[str, Any]) -> None:
    assert model(options=options).options == options


def test_command_refuses_a_key_among_options_and_leaves_no_file(tmp_path: Path) -> None:
    out = tmp_path / "run"
    keys = ("model.name=stub", "model.options={extra: {note: sk-canary-0123456789}}")
    ended = calbench(*SMALL, "teams=[my-model]", *keys, f"out={out}")
    assert ended.status == 2
    assert "options: may hold no key" in ended.err
    assert "canary" not in ended.out + ended.err
    assert not out.exists()


@pytest.mark.heavy
def test_run_with_options_resumes_replays_and_verifies_and_others_are_asked_anew(
    tmp_path: Path,
) -> None:
    out, store = tmp_path / "run", tmp_path / "run" / "replies.sqlite"
    few = ("suite.num_scenarios=1", "suite.num_candidates=1")
    given = "model.options={top_k: 20, provider: {order: [a, b], sort: null}}"
    first = execute(recording(str(out), *few, given), answering)
    (path,) = (out / "traces").rglob("*.json")
    assert read_trace(path).config.team.seats[0].settings["options"] == OPTIONS
    verify_file(path)
    assert first.totals.calls == len(keys_in(store)) > 0

    before = files(out / "traces")
    path.unlink()
    again = execute(recording(str(out), *few, given), answering)
    assert (again.totals.calls, files(out / "traces")) == (0, before)
    replay = ("replies.mode=replay", f"replies.path={store}")
    execute(recording(str(tmp_path / "again"), *few, given, *replay), unreachable)
    assert files(tmp_path / "again" / "traces") == before
    for other in ("model.options={top_k: 21}", "model.options=null"):
        with pytest.raises(ReplayMissError, match="the nearest recorded request differs: options"):
            execute(recording(str(tmp_path / "x"), *few, other, *replay), unreachable)
