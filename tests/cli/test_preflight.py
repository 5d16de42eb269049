"""Models that cannot be asked are found before the first game, over real HTTP."""

import json
import signal
import time
from pathlib import Path

import pytest

from calbench.llm.replies.shards import open_replies
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, Ended, calbench, environment, files, python, started
from tests.effort import GUARD_S
from tests.llm.stub_server import Answer, StubServer, chat, serving

pytestmark = pytest.mark.heavy

CANARY = "sk-canary-0123456789"
PASS = chat(json.dumps({"thinking": "", "actions": []}))


def error(status: int) -> Answer:
    return Answer({"error": {"message": f"no: {CANARY}"}}, status=status)


def asking(server: StubServer | str, out: Path, *more: str) -> list[str]:
    url = server if isinstance(server, str) else server.url
    model = ["model.name=stand-in", f"model.api_base={url}", "model.max_attempts=2"]
    return [*SMALL, "teams=[imap,my-model]", *model, *more, f"out={out}"]


def problem(ended: Ended) -> str:
    assert ended.status == 2
    assert not ended.out
    (line,) = ended.error_lines
    return line


def test_refused_key_ends_the_run_before_the_first_game_and_is_not_repeated(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(error(401)) as server:
        arguments = asking(server, out, "model.api_key_env=STAND_IN_KEY")
        env = environment(STAND_IN_KEY=CANARY)
        ended = python("-m", "calbench", *arguments, env=env)

    line = problem(ended)
    assert line.startswith("error: model stand-in: AuthenticationError, status 401 after 1 attempt")
    assert line.endswith(f"check the key (openai/stand-in at {server.url})")
    assert server.authorizations == [f"Bearer {CANARY}"]
    assert CANARY not in ended.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (error(404), "status 404 after 1 attempt; check the model's name and api_base"),
        (Answer("<html>", content_type="text/html"), "no model's server; check api_base"),
        (Answer(drop=True), "after 2 attempts"),
    ],
)
def test_server_that_is_no_such_model_ends_it_too(
    answer: Answer, why: str, command: Command, tmp_path: Path
) -> None:
    with serving(answer) as server:
        ended = command(*asking(server, tmp_path / "run"))
    assert why in problem(ended)
    assert not (tmp_path / "run").exists()


def test_server_that_is_not_there_is_named_before_and_after_the_games(
    command: Command, tmp_path: Path
) -> None:
    with serving() as server:
        url = server.url
    out = tmp_path / "run"
    line = problem(command(*asking(url, out)))
    assert "ConnectionRefused; nothing listens at its address" in line
    assert f"at {url})" in line
    assert not out.exists()

    ended = command(*asking(url, out, "preflight=false"))
    assert ended.status == 3
    assert "warning: 3 games are excluded" in ended.err
    why = "3 by provider_fault: model stand-in: ConnectionRefused after 2 attempts; nothing listens"
    assert f"warning:   {why}" in ended.err
    assert f"(asked at {url})" in ended.err
    port = str(server.server_port).encode()
    for path in (out / "traces").rglob("*.json"):
        assert port not in path.read_bytes()


def test_unset_key_is_named_and_no_call_is_made(command: Command, tmp_path: Path) -> None:
    with serving() as server:
        arguments = asking(server, tmp_path / "run", "model.api_key_env=NO_SUCH_KEY")
        line = problem(command(*arguments))
    assert "the environment variable NO_SUCH_KEY is not set" in line
    assert not server.asked
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("model.api_key_env=NO_SUCH_KEY", "NO_SUCH_KEY is not set"),
        ("model.api_base=http://127.0.0.1:9/v1", "nothing listens at its address"),
        ("subset=9", "has 3 scenarios; choose at most 3"),
        ("subset=[nothing-000]", "there is no scenario 'nothing-000'"),
        ("replies.path=.", "is a folder; record into a file"),
    ],
)
def test_mistake_is_told_before_any_suite_is_drawn(
    mistake: str, told: str, command: Command, tmp_path: Path
) -> None:
    with serving() as server:
        ended = command(*asking(server, tmp_path / "run", mistake))
    assert ended.status == 2
    assert told in ended.error_lines[-1]
    assert "candidates" not in ended.err
    assert not server.asked
    assert not (tmp_path / "run").exists()


def test_it_is_in_no_game_and_is_asked_only_where_games_are_missing(
    command: Command, tmp_path: Path
) -> None:
    with serving(Answer(PASS)) as server:
        first = command(*asking(server, tmp_path / "run"))
        asked = len(server.asked)
        again = command(*asking(server, tmp_path / "run"))
        assert len(server.asked) == asked  # nothing is missing
        plain = command(*asking(server, tmp_path / "plain", "preflight=false"))

    assert (first.status, again.status, plain.status) == (0, 0, 0)
    assert f"{asked} replies paid for" in first.out
    with (
        open_replies(tmp_path / "run" / "replies.sqlite") as own,
        open_replies(tmp_path / "plain" / "replies.sqlite") as other,
    ):
        assert own.stats().replies == other.stats().replies + 1
    replay = [f"replies.path={tmp_path / 'run' / 'replies.sqlite'}", "replies.mode=replay"]
    replayed = command(*asking("http://127.0.0.1:9/v1", tmp_path / "replayed", *replay))
    assert replayed.status == 0
    for folder in ("traces", "tables"):
        ours = files(tmp_path / "run" / folder)
        assert ours == files(tmp_path / "plain" / folder)
        assert ours == files(tmp_path / "replayed" / folder)


def test_run_of_protocols_alone_asks_nobody(tmp_path: Path) -> None:
    ended = calbench(*SMALL, "teams=[imap]", "model.name=none", f"out={tmp_path / 'run'}")
    assert ended.status == 0
    assert "models " not in ended.err


def test_user_stops_a_preflight_that_hangs(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(Answer(delay_s=GUARD_S)) as server:
        process = started(*asking(server, out))
        while not server.asked and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=GUARD_S)
    assert process.returncode == 130
    assert "Stopped: 0 of 6 games" in said
    assert "Traceback" not in said
    assert not out.exists()
