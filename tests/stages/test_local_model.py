"""A real language model on this machine, from its server through LiteLLM to a trace."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from calbench.config.composition import compose
from calbench.config.spec import RepliesSpec, RunSpec
from calbench.domain.observations import Phase
from calbench.errors import ConfigError
from calbench.scenarios.storage import read_suite, write_suite
from calbench.traces.events import DecideEnd, ReplyNote, TurnEnd
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace
from tests.cli.runs import REPO
from tests.studies.local_model import find_model, read_models, serving
from tests.studies.record_local import asking, play

pytestmark = pytest.mark.local_llm


@pytest.fixture(scope="module")
def installed() -> tuple[str, Path]:
    try:
        _, python, file = find_model(read_models(REPO / "data/cohorts/smollm2"))
    except ConfigError as error:
        pytest.skip(str(error))
    return python, file


@pytest.fixture(scope="module")
def url(installed: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(*installed, tmp_path_factory.mktemp("server") / "log") as address:
        yield address


def one_game(folder: Path) -> RunSpec:
    suite = folder / "suite.jsonl"
    write_suite(suite, read_suite(REPO / "data/cohorts/smollm2/suite.jsonl")[:1])
    overrides = (f"suite.path={suite}", "teams=[smollm2]", "replicates=1")
    return compose(["+experiment=smollm2", *overrides, "limits.decision_retries=0"])


def asked(trace: Trace) -> list[TurnEnd | DecideEnd]:
    return [event for event in trace.events if isinstance(event, TurnEnd | DecideEnd)]


def only(folder: Path) -> Trace:
    (path,) = folder.rglob("*.json")
    return read_trace(path)


def test_model_plays_a_game_that_replays(url: str, tmp_path: Path) -> None:
    spec, store = one_game(tmp_path), tmp_path / "replies.sqlite"
    first = play(asking(spec, url, store), tmp_path / "first")
    replay = spec.model_copy(update={"replies": RepliesSpec(mode="replay", path=str(store))})
    assert play(replay, tmp_path / "again") == first

    replies = asked(only(tmp_path / "first"))
    assert len(replies) >= 4
    for reply in replies:
        assert reply.usage is not None
        assert not reply.usage.is_estimated
        assert reply.usage.input_tokens > 1000
        assert reply.reply_keys
    assert any(reply.actions for reply in replies)


def test_conversation_that_no_longer_fits_the_model_is_told_by_its_server(
    installed: tuple[str, Path], tmp_path: Path
) -> None:
    spec = one_game(tmp_path)
    with serving(*installed, tmp_path / "log", context=512) as small:
        play(asking(spec, small, tmp_path / "replies.sqlite"), tmp_path / "games")
    trace = only(tmp_path / "games")
    notes = [event for event in trace.events if isinstance(event, ReplyNote)]
    assert {note.kind for note in notes} == {"context_exceeded"}
    asked_for_moves = [note for note in notes if note.phase != Phase.REFLECTION]
    assert len(asked_for_moves) == len(asked(trace))


def completion(url: str, **fields: Any) -> tuple[int, Any]:
    """Ask the server itself; return the status and what it says."""
    question = {"role": "user", "content": "Count from one to fifty, in words."}
    body = {"messages": [question], "temperature": 0.5, "max_tokens": 12, **fields}
    answer = httpx.post(f"{url}/chat/completions", json=body, timeout=600)
    return answer.status_code, answer.json()


def test_server_answers_several_at_once_each_by_its_schema(url: str) -> None:
    def ask(seed: int) -> tuple[int, Any]:
        schema = {"type": "object", "properties": {"seed": {"const": seed}}, "required": ["seed"]}
        form = {"type": "json_object", "schema": schema}
        return completion(
            url, seed=seed, response_format=form, logprobs=True, top_logprobs=3, max_tokens=40
        )

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))
    for seed, (status, answer) in enumerate(answers):
        (choice,) = answer["choices"]
        assert status == 200
        assert json.loads(choice["message"]["content"]) == {"seed": seed}
        assert choice["finish_reason"] == "stop"
        tokens = choice["logprobs"]["content"]
        assert "".join(token["token"] for token in tokens) == choice["message"]["content"]
        assert all(len(token["top_logprobs"]) == 3 for token in tokens)


def test_short_question_does_not_wait_for_all_long_ones_that_come_later(url: str) -> None:
    """Each of three askers sends the next long one as soon as its last is answered."""
    ends: list[str] = []

    def ask(name: str, words: str) -> None:
        message = {"role": "user", "content": words}
        completion(url, messages=[message], max_tokens=1)
        ends.append(name)

    def go_on(asker: int) -> None:
        for number in range(8):
            ask("long", f"{asker} {number} {'word ' * 200}")

    with ThreadPoolExecutor(4) as pool:
        askers = [pool.submit(go_on, asker) for asker in range(3)]
        pool.submit(ask, "short", "Yes?").result()
        for asker in askers:
            asker.result()
    assert ends.index("short") < len(ends) / 2


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": None},
        {"messages": []},
        {"max_tokens": 0},
        {"temperature": "hot"},
        {"response_format": {"type": "json_object", "schema": {"type": "nonsense"}}},
    ],
    ids=["none", "empty", "no-tokens", "text", "schema"],
)
def test_server_refuses_what_it_cannot_answer_and_goes_on(url: str, fields: dict[str, Any]) -> None:
    status, answer = completion(url, **fields)
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    status, answer = completion(url)
    assert (status, answer["usage"]["completion_tokens"]) == (200, 12)
