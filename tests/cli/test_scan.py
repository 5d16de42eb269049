"""``calbench scan``: table, page and data; mistakes are one line, and findings no verdict."""

import json
from pathlib import Path

import orjson

from calbench import play_game, write_trace
from calbench.runs.scan import RULES
from tests.cli.conftest import Command
from tests.runs.scan.test_scan import SCENARIO, played, said


def test_page_escapes_masks_and_leads_to_events(tmp_path: Path, command: Command) -> None:
    run = tmp_path / "run"
    key = "sk-" + "abcdefghijklmnopqrstuvwxyz"
    text = f"<script>alert(1)</script> {key} " + "{{7*7}}"
    path = run / "traces" / "own" / "a.json"
    path.parent.mkdir(parents=True)
    write_trace(path, play_game(SCENARIO, [said(text), "imap", "imap"]))
    (run / "site").mkdir()
    (run / "site" / "traces.html").touch()
    ended = command("scan", str(run), f"out={tmp_path / 'page'}", "--json")
    assert ended.status == 0
    page = (tmp_path / "page" / "scan.html").read_text()
    assert "<script" not in page
    assert "mnopqrstuvwxyz" not in page + ended.out
    assert 'href="../run/site/traces.html#run/own/a/' in page
    assert "Content-Security-Policy" in page
    data = json.loads(ended.out)
    assert orjson.loads((tmp_path / "page" / "scan.json").read_bytes()) == data
    assert [each["rule"] for each in data["rules"]] == [*RULES]
    assert {each["rule"] for each in data["findings"]} >= {"reader", "secret"}
    again = command("scan", str(run), f"out={tmp_path / 'page'}")
    assert again.status == 0
    assert "findings in 1 games, to be looked at" in again.out


def test_mistakes_are_one_line(tmp_path: Path, command: Command) -> None:
    (tmp_path / "scan.html").write_text("mine")
    played(tmp_path, "imap", "imap", "imap")
    for words, line in (
        ([str(tmp_path / "none")], "cannot be read"),
        ([str(tmp_path / "game.json"), f"out={tmp_path}"], "is no scan; name another folder"),
        ([str(tmp_path / "game.json"), "site=nope"], "nope: has no pages of a run (traces.html)"),
        ([], "RUN is missing"),
    ):
        ended = command("scan", *words)
        assert ended.status == 2
        assert line in ended.err
        assert len(ended.err.strip().splitlines()) == 1


def test_nothing_is_written_among_games(tmp_path: Path, command: Command) -> None:
    traces, loose = tmp_path / "run" / "traces", tmp_path / "loose"
    for folder in (traces / "own", loose / "own"):
        folder.mkdir(parents=True)
        played(folder, "imap", "imap", "imap")
    game = traces / "own" / "game.json"
    cases = [
        (traces, traces),
        (traces.parent, traces / "own"),
        (game, traces / "x"),
        (loose, loose),
    ]
    for run, out in cases:
        ended = command("scan", str(run), f"out={out}")
        assert (ended.status, "is in a folder of games" in ended.err) == (2, True)
    assert {each.name for each in tmp_path.rglob("*") if each.is_file()} == {"game.json"}
    for out in (traces.parent, tmp_path / "traces"):
        assert command("scan", str(traces.parent), f"out={out}").status == 0
