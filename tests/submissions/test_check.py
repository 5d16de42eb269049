"""Honest submissions of each tier, from the run to the check and to the site."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.errors import FileError
from calbench.runs.play import execute
from calbench.submissions import prepare
from calbench.submissions.again import REPORT, Agreement, Report
from calbench.submissions.check import CANNOT_SHOW, check
from calbench.submissions.folder import SUBMISSION, document_bytes, files_of
from tests.cli.runs import files
from tests.report.unpacking import page_table
from tests.submissions import own_agents
from tests.submissions.conftest import FEW, OWN
from tests.submissions.forging import COHORT, SAID, read, said

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize(
    ("name", "tier", "reason"),
    [
        ("honest", "replayed with replies", "48 replies are what the games hold"),
        ("asked", "replayed with replies", "44 replies are what the games hold"),
        ("cut", "replayed with replies", "30 replies are what the games hold"),
        ("sourced", "replayed without replies", "18 turns are of own code, whose source is here"),
        ("own", "not verifiable", "18 turns are of own code, and the source of tests.sub"),
        ("mute", "replayed without replies", "no model of stand-in gave a reply"),
        ("gone", "not verifiable", "0 turns are of own code, and the source of tests.sub"),
    ],
)
def test_honest_submission_is_of_its_tier(name: str, tier: str, reason: str, kept: Path) -> None:
    found = check(kept / name)
    assert (found.tier, found.problems) == (tier, ())
    assert reason in found.reason
    assert found.tier in CANNOT_SHOW


def test_preparing_again_gives_the_same_bytes(kept: Path, tmp_path: Path) -> None:
    words = ["name=honest", "contact=@ada", "date=2026-11-28", f"replies={COHORT}"]
    run = str(kept / "runs" / "recorded")
    assert answer(["submit", "prepare", run, f"out={tmp_path / 'again'}", *words]) == 0
    assert files(tmp_path / "again") == files(kept / "honest")


def test_games_cut_short_stay_in_the_denominator_and_are_named(kept: Path) -> None:
    found = check(kept / "cut")
    (row,) = found.standings
    assert (row.expected, row.halted, row.coordination) == (2, ["smollm2-005: provider_fault"], 50)
    assert any("stand-in on smollm2-005 (provider_fault)" in line for line in found.remarks)
    assert found.submission is not None
    assert found.submission.numbers["stand-in"]["smollm2"]["games"] == 1


def test_check_says_tier_reason_and_what_it_cannot_show(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["submit", "check", str(kept / "honest")]) == 0
    said_of_it = capsys.readouterr().out
    assert "a store with plausible ids can be forged" in said_of_it
    assert re.search(r"^Id      [0-9a-f]{64}$", said_of_it, re.MULTILINE)
    assert "48 replies do not say which model answered" in said_of_it
    shutil.copytree(kept / "honest", tmp_path / "honest")
    said(tmp_path / "honest", settings="0" * 64)
    assert answer(["submit", "check", "--json", str(kept / "own"), str(tmp_path / "honest")]) == 1
    ended = capsys.readouterr()
    own, forged = json.loads(ended.out)
    assert (own["tier"], own["cannot_show"]) == ("not verifiable", CANNOT_SHOW["not verifiable"])
    assert (forged["tier"], len(forged["problems"])) == (None, 1)
    assert "error: honest: settings: says 0000" in ended.err


def test_announced_id_is_that_of_the_folder(kept: Path, tmp_path: Path) -> None:
    own = check(kept / "honest").id
    assert answer(["submit", "check", str(kept / "honest"), f"id={own}"]) == 0
    assert answer(["submit", "check", str(kept / "asked"), f"id={own}"]) == 1
    shutil.copytree(kept / "honest", tmp_path / "honest")
    said(tmp_path / "honest", contact="@eve")
    assert answer(["submit", "check", str(tmp_path / "honest"), f"id={own}"]) == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["contact=@ada", "date=yesterday"], "date: a day as 2026-11-28, got 'yesterday'"),
        (["contact=a b"], "contact: 2 to 100 letters, digits and signs of ASCII, without spaces"),
        (["contact=@ada", "name=../x"], "name (that of out): 1 to 64 letters of ASCII, digits"),
        (["contact=@ada", "model="], "model: 1 to 200 letters, digits and signs of ASCII, without"),
        (["contact=@ada", "out={full}"], "is there already, and is not empty; name a new folder"),
        (["contact=@ada", "out={full}/a b"], "name (that of out): 1 to 64 letters"),
        (["contact=@ada", "teams=[nobody]"], "has no games of nobody"),
        (["contact=@ada", "source=yes"], "source: true or false, got yes"),
        ([], "contact=HANDLE is missing"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(
    words: list[str],
    problem: str,
    kept: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(prepare, "examine")  # which takes long
    run, out = str(kept / "runs" / "own"), tmp_path / "out"
    given = [word.format(full=kept) for word in words]
    assert answer(["submit", "prepare", run, f"out={out}", *given]) == 2
    assert problem in capsys.readouterr().err
    assert not out.exists()


def test_of_a_sweep_one_job_is_asked_for(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"out={tmp_path / 'out'}", "contact=@ada"]
    assert answer(["submit", "prepare", str(kept / "runs"), *words]) == 2
    said_of_it = f"is a sweep, or a folder of runs; name one, e.g. {kept / 'runs' / 'asked'}"
    assert said_of_it in capsys.readouterr().err


def test_source_that_is_not_found_here_is_not_said_to_be_another(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    source = Path(own_agents.__file__).read_text(encoding="utf-8")
    (tmp_path / "own" / "loose_quiet.py").write_text(source, encoding="utf-8")
    with monkeypatch.context() as within:
        within.syspath_prepend(str(tmp_path / "own"))
        own = [each.replace("tests.submissions.own_agents", "loose_quiet") for each in OWN]
        suite = f"suite.path={kept / 'suite.jsonl'}"
        execute(compose([*own, suite, *FEW, f"out={tmp_path / 'run'}"]))
    monkeypatch.delitem(sys.modules, "loose_quiet")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=r"loose_quiet: is not found here.*in the folder of its"):
        prepare.prepare(tmp_path / "run", tmp_path / "out", SAID, with_source=True)
    monkeypatch.chdir(tmp_path / "own")
    prepare.prepare(tmp_path / "run", tmp_path / "out", SAID, with_source=True)


def test_what_would_be_refused_is_not_prepared(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(kept / "runs" / "recorded", tmp_path / "run")
    (tmp_path / "run" / "traces" / "imap" / "smollm2-001.json").unlink()
    words = [f"out={tmp_path / 'out'}", "contact=@ada"]
    assert answer(["submit", "prepare", str(tmp_path / "run"), *words]) == 2
    told = capsys.readouterr().err
    assert "imap (smollm2): games are missing: smollm2-001" in told
    assert "a part of a suite is what subset=N plays, not scenarios of your choice" in told
    assert not (tmp_path / "out").exists()


def test_nothing_of_this_machine_is_in_a_submission(kept: Path) -> None:
    import getpass
    import socket

    names = {getpass.getuser(), socket.gethostname(), str(kept), str(Path.home()), "localhost:1"}
    for name in ("honest", "own", "asked"):
        for path in files_of(kept / name).values():
            data = path.read_bytes()
            found = {each for each in names if len(each) > 4 and each.encode() in data}
            assert not found, path
    assert read(kept / "asked").players[0].address == "loopback"
    assert SUBMISSION not in read(kept / "asked").files


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
