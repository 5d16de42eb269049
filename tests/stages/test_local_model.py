"""A real language model on this machine, from its server through LiteLLM to a trace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.config.spec import RepliesSpec, RunSpec
from calbench.errors import ConfigError
from calbench.scenarios.storage import read_suite, write_suite
from calbench.traces.events import DecideEnd, ReplyNote, TurnEnd
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace
from tests.cli.runs import REPO
from tests.studies.local_model import find_model, serving
from tests.studies.record_local import asking, play

pytestmark = pytest.mark.local_llm


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    try:
        find_model()
    except ConfigError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server") / "log") as address:
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


def test_conversation_that_no_longer_fits_the_model_is_told_by_its_server(tmp_path: Path) -> None:
    spec = one_game(tmp_path)
    with serving(tmp_path / "log", context=512) as small:
        play(asking(spec, small, tmp_path / "replies.sqlite"), tmp_path / "games")
    trace = only(tmp_path / "games")
    notes = [event for event in trace.events if isinstance(event, ReplyNote)]
    assert {note.kind for note in notes} == {"context_exceeded"}
    assert len(notes) == len(asked(trace))
