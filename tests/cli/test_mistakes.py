"""Mistakes in the arguments of subcommands: one line each, a status, and nothing written."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.runs import SMALL, files

MODEL = ("model.name=stand-in", "model.api_base=http://localhost:1/v1")

MISTAKES: list[tuple[str, str]] = [
    ("verify", "PATH... is missing; see calbench verify --help"),
    ("verify missing.json", "missing.json: cannot be read"),
    ("verify RUN --replies missing", "missing: there is no reply store"),
    ("verify RUN --replies mine.txt", "mine.txt: "),
    ("verify RUN --replies folder", "folder: "),
    ("estimate teams=[imap]", "no model sits in these teams"),
    ("estimate teams=[my-model]", "say which model"),
    ("rescore nowhere", "out=DIR is missing: an empty folder"),
    ("rescore out=OUT", "TRACES... is missing"),
    ("rescore nowhere out=OUT", "nowhere: cannot be read"),
    ("rescore x out=OUT measure.vps_flor=5", "vps_flor"),
    ("rescore x out=OUT seed=5", "seed=5: is neither an option nor a file"),
    ("rescore RUN out=folder", "which is not a table"),
    ("compare one", "RUN_B is missing; see calbench compare --help"),
    ("compare RUN RUN RUN", "RUN: is one too many; usage: calbench compare RUN_A RUN_B"),
    ("compare RUN RUN a=nobody", "a=nobody: there is no such team; known are first-free"),
    ("compare RUN RUN a=imap b=nobody", "b=nobody: there is no such team"),
    ("compare RUN RUN measure=speed", "measure=speed: there is none; known are coordination"),
    ("compare RUN RUN top=x", "top: a whole number from 0, got 'x'"),
    ("compare RUN nowhere", "nowhere: there is no such run"),
    ("compare RUN RUN out=folder", "which is not a table"),
    ("compare RUN x=3 RUN", "x=3: is neither an option nor a file"),
    ("judge RUN", "out=DIR is missing"),
    ("judge out=OUT", "RUN... is missing"),
    ("judge RUN out=OUT judge=gpt", "only judge=scripted is named so"),
    ("judge RUN out=OUT judge=scripted model=local", "judge=scripted answers"),
    ("judge RUN out=OUT replies.mode=replay", "say which model"),
    ("judge RUN out=OUT model=nobody", "nobody"),
    ("judge RUN out=OUT MODEL replies.mode=live", "an audit keeps every reply"),
    ("judge RUN out=OUT MODEL replies.mode=replay", "there is no reply store"),
    ("judge RUN out=folder", "which is not a table"),
    ("judge nowhere out=OUT", "nowhere"),
    ("audit", "MESSAGES.jsonl is missing"),
    ("audit none.jsonl", "none.jsonl: cannot be read"),
    ("audit messages.jsonl messages.jsonl", "is a folder or the file of messages itself"),
    ("audit messages.jsonl OUT more", "more: is one too many"),
    ("audit messages.jsonl OUT replies.mode=replay", "model"),
    ("audit messages.jsonl OUT MODEL replies.mode=live", "an audit keeps every reply"),
    ("audit messages.jsonl OUT MODEL replies.mode=replay", "there is no reply store"),
    ("audit messages.jsonl MODEL", "replies.path=FILE is missing"),
    ("matchmake RUN out=teams/next.txt", "out: a team file is DIR/teams/NAME.yaml"),
    ("matchmake RUN out=next.yaml", "out: a team file is DIR/teams/NAME.yaml"),
    ("matchmake RUN out=own/teams/imap.yaml", "is not read, since conf/ has a file teams/imap"),
    ("focal player=guarded base=candid partners=[]", "partners=: names no team"),
    ("matchmake RUN teams=0", "teams: a whole number from 1 to 100, got '0'"),
    ("matchmake RUN setting=nowhere", "is not one of"),
    ("matchmake RUN pool=everybody", "is not one of models, scripted"),
    ("matchmake RUN seats=3", "seats=3: is neither an option nor a file"),
    ("matchmake RUN config_dir=nowhere", "config_dir: nowhere: there is no such folder"),
    ("matchmake RUN config_dir=folder out=own/teams/a.yaml", "out: write it into the folder of"),
    ("replies", "no subcommand is named; known are export, merge, stats"),
    ("replies -q", "no subcommand is named; known are export, merge, stats"),
    ("replies export a", "FOLDER is missing; see calbench replies export --help"),
    ("replies merge a", "SOURCES... is missing; see calbench replies merge --help"),
    ("replies stats none", "there is no reply store"),
    ("replies stat a", "stat: is not a subcommand; did you mean stats?"),
    ("traces pack RUN", "out=DIR is missing: a new folder for the shards"),
    ("traces cat RUN", "name one game, as <team>/<scenario>, or give --all"),
    ("traces cat RUN nobody/x", "nobody/x is no game there"),
    ("site", "out=DIR is missing: the folder for the site"),
    ("site RUN", "out=DIR is missing: the folder for the site"),
    ("site nowhere out=OUT", "there is no such folder"),
    ("site mine.txt out=OUT", "is a file; name the folder of a run"),
    ("site RUN out=folder", "holds other files"),
    ("site RUN out=mine.txt", "is not a folder"),
    ("view", "RUN is missing"),
    ("view RUN RUN", "RUN: is one too many; usage: calbench view RUN [key=value ...]"),
    ("view RUN port=70000", "port: a whole number from 0 to 65535"),
    ("view RUN serve=maybe", "serve: true or false"),
    ("view nowhere", "there is no such folder"),
    ("view RUN/traces serve=false", "say where its pages go"),
    ("prove --quick", "--quick: is not an option; did you mean --quiet?"),
]


@pytest.mark.parametrize(("words", "line"), MISTAKES)
def test_mistake_is_one_line_and_writes_nothing(
    command: Command,
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("folder/mine.txt", "mine.txt"):
        (tmp_path / name).write_text("mine\n" * 30)
    (tmp_path / "messages.jsonl").write_text('{"text": "x", "labels": []}\n')
    run, out = str(finished), str(tmp_path / "out")
    before = files(tmp_path), files(finished)
    arguments = [
        part.replace("RUN", run).replace("OUT", out)
        for word in words.split()
        for part in (MODEL if word == "MODEL" else (word,))
    ]
    ended = command(*arguments, *SMALL[-1:] * (arguments[0] == "judge"))
    assert (ended.status, ended.out) == (2, "")
    (said,) = (each for each in ended.error_lines if not each.startswith("Budget: "))
    assert said.startswith("error: ")
    head, found, tail = line.partition("RUN:")
    assert (f"{run}:{tail}" if found and not head else line) in said
    assert said.isprintable()
    assert (files(tmp_path), files(finished)) == before


@pytest.mark.parametrize(
    "words", [["traces", "pack"], ["site"], ["view", "serve=false"]], ids=" ".join
)
def test_current_folder_is_not_replaced(
    words: list[str],
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    ended = command(*words, str(finished), "out=.")
    assert ended.status == 2
    assert ended.error_lines == [
        "error: .: is the current folder, or above it, and would be replaced; name another folder"
    ]
    assert [*tmp_path.rglob("*")] == [here]
    assert here.samefile(".")


@pytest.mark.parametrize(
    "words", [["submit", "check", "."], ["verify", "/"], ["out=/none"]], ids=" ".join
)
def test_current_folder_that_is_gone_is_said(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ended = command(*words)
    monkeypatch.chdir(tmp_path)
    assert (ended.status, ended.error_lines) == (
        2,
        ["error: the current folder is no more; change into another one"],
    )


def test_folder_without_games_is_said_to_have_none(tmp_path: Path, command: Command) -> None:
    assert command("view", str(tmp_path)).error_lines == [
        f"error: {tmp_path}: holds no trace (*.json, *.jsonl.zst)"
    ]
