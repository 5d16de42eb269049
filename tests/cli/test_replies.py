"""``calbench replies``: recorded replies from file to file."""

from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import put, recorded


def store(path: Path, *texts: str, reply: str = "fine") -> str:
    with ReplyStore.open(path) as opened:
        for text in texts:
            put(opened, *recorded(text, reply=reply))
    return str(path)


def test_export_merge_and_stats_tell_what_they_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = store(tmp_path / "one.sqlite", "a", "b")
    two = store(tmp_path / "two.sqlite", "b", "c", reply="other")
    folder = str(tmp_path / "replies")

    assert answer(["replies", "export", one, folder]) == 0
    assert answer(["replies", "merge", folder, two, one]) == 0
    assert answer(["replies", "stats", folder]) == 0

    assert capsys.readouterr().out.splitlines() == [
        f"{folder}: 2 replies added from {one}, 0 known",
        f"2 replies added: {folder}",
        f"{folder}: 1 replies added from {two}, 0 known, 1 other than those there: left out",
        f"{folder}: 0 replies added from {one}, 2 known",
        f"1 replies added: {folder}",
        f"{folder}: 3 replies, 4 messages, 0.7500 USD",
        "  openai/stub: 3",
        "3 replies, 0.7500 USD",
    ]


@pytest.mark.parametrize("target", ["out", "out.sqlite"])
@pytest.mark.parametrize("command", ["export", "merge"])
def test_damaged_store_is_one_line_and_leaves_nothing(
    command: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "r.sqlite", str(tmp_path / target)
    store(source, "a", reply="as it was said")
    source.write_bytes(source.read_bytes().replace(b"as it was", b"as it is!"))

    paths = [str(source), out] if command == "export" else [out, str(source)]
    assert answer(["replies", command, *paths]) == 2

    said = capsys.readouterr().err
    assert said.startswith(f"error: {source}: replies: ")
    assert "is not as it was written; the store is damaged, or was changed" in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == [source]
