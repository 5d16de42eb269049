"""Submissions on the site: those that hold, with their tier, beside the published results."""

import shutil
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.submissions.again import REPORT, Agreement, Report
from calbench.submissions.check import CANNOT_SHOW, check
from calbench.submissions.folder import document_bytes
from tests.report.unpacking import page_table
from tests.submissions.forging import said

pytestmark = pytest.mark.heavy

HELD = ("asked", "cut", "honest", "own", "sourced")


@pytest.mark.slow
def test_submission_of_each_tier_goes_to_the_board_and_a_forged_one_does_not(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, site = tmp_path / "submissions", tmp_path / "site"
    for name in (*HELD, "asked"):
        shutil.copytree(kept / name, folder / name, dirs_exist_ok=True)
    shutil.copytree(kept / "honest", folder / "forged")
    said(folder / "forged", name="forged", settings="0" * 64)
    shutil.copytree(kept / "asked", folder / "copied")
    said(folder / "copied", name="copied", contact="@eve")
    asked_again = tmp_path / "again" / "asked"
    asked_again.mkdir(parents=True)
    (asked_again / REPORT).write_bytes(document_bytes(report(check(folder / "asked").id)))
    words = [f"submissions={folder}", f"again={tmp_path / 'again'}", f"out={site}"]
    assert answer(["site", *words]) == 0
    told = capsys.readouterr()
    assert "forged: refused, and not on the board: settings: says 0000" in told.err
    assert "6 runs on the board" in told.out
    text = (site / "submissions.html").read_text(encoding="utf-8")
    rows = [row.split("</tr>")[0] for row in text.split("<tr>") if '<th scope="row">' in row]
    for name in HELD:
        (row,) = (row for row in rows if _id(folder / name) in row and ">imap." not in row)
        found = check(folder / name)
        assert f">{found.tier}<" in row
        assert CANNOT_SHOW[found.tier or "not verifiable"].split(":")[0][:40] in text
        assert "@ada" in row
        assert 'href="traces.html#' in row
    assert "forged" not in {row.split("</a>")[0].rpartition(".")[2] for row in rows}
    assert text.count("its games are also those of another submission here") == 4
    (row,) = (row for row in rows if _id(folder / "asked") in row)
    assert "agrees: 22 of 22 by exact text" in row
    assert "openai/stand-in" in row
    assert "CalBench prompts v" in row
    (row,) = (row for row in rows if _id(folder / "own") in row)
    assert "tests.submissions.own_agents:Quiet" in row
    assert "some/model (as its author says)" in row
    (row,) = (row for row in rows if _id(folder / "cut") in row)
    assert '<data value="1">1</data>' in row
    assert '<data value="50.0">50.0</data>' in row
    teams = {row["team"] for row in page_table(site, "leaderboard.csv")}
    assert {"mine.own", "mine.sourced", "stand-in.asked", "qwen-1.5b.honest"} <= teams


def report(found_id: str) -> Report:
    agreement = Agreement(criterion="exact text", pairs=22, agreeing=22, high=1.0, least=0.5)
    return Report(
        id=found_id,
        model="openai/stand-in",
        share=0.5,
        replies=44,
        sampled=22,
        exact=22,
        others=0,
        agreements=(agreement,),
    )


def _id(folder: Path) -> str:
    return check(folder).id[:12]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "nothing to show: name RUN..., or submissions=DIR"),
        (["submissions=nowhere"], "nowhere: there is no such folder"),
        (["submissions={empty}", "again=nope"], "nope: there is no such folder; name that of your"),
        (["submissions={empty}"], "holds no submission (NAME/submission.json)"),
    ],
)
def test_nothing_to_show_is_said(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.format(empty=tmp_path) for word in words]
    assert answer(["site", *given, f"out={tmp_path / 'site'}"]) == 2
    assert problem in capsys.readouterr().err
