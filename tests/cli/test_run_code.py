"""A run goes on with the code that began it; other code is refused, or plays its games anew."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from calbench.cli.words import Status
from calbench.code import first_digest
from calbench.config.spec import RunSpec
from calbench.errors import OutputError
from calbench.report.tables import read_table
from calbench.runs import seats
from calbench.runs.play import execute
from calbench.runs.seats import count_codes, own_digest
from calbench.traces.catalog import trace_paths
from tests.cli.conftest import Command
from tests.cli.recording import answering, recording, unreachable
from tests.cli.runs import REPO, SMALL, Ended, environment, files, python

MINE = "from talk import talking\n\n\nclass Mine:\n    act = talking\n"

TALK = """def talking(self, observation):
    from calbench.domain.actions import Turn

    return Turn()
"""

TEAM = "+teams.my-team={players: {mine: {agent: 'mine:Mine'}}, seats: [mine]}"

pytestmark = pytest.mark.heavy

REMEDIES = (
    "nothing was written: choose another folder, e.g. out=run-2, or play these teams anew with "
    "fresh=true, which sets their games aside and asks for no recorded reply again"
)

Edit = Callable[..., None]


def forget() -> None:
    """Be as a new process, which imports all code again."""
    for name in ("mine", "talk"):
        sys.modules.pop(name, None)
    first_digest.cache_clear()


@pytest.mark.usefixtures("edit")
def test_code_that_was_imported_counts_as_long_as_it_plays() -> None:
    """An edit within one process changes neither what plays nor what a run notes of it."""
    before = own_digest("mine")
    Path("talk.py").write_text("talking = None\n")
    assert own_digest("mine") == before
    forget()
    assert own_digest("mine") != before


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edit]:
    """Write files beside one's own agent, as for the next process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        forget()

    write(mine__py=MINE, talk__py=TALK)
    yield write
    forget()


@pytest.fixture
def play(command: Command) -> Callable[..., Ended]:
    """Play two teams, one of them one's own."""
    few = (*SMALL, "subset=1", "facts=scores", "jobs=1")
    return lambda *words: command(*few, "teams=[imap]", TEAM, "out=run", *words)


def verdict(ended: Ended) -> str:
    assert ended.status == Status.DONE, ended.err
    return ended.out.splitlines()[-1]


def snapshot(folder: str = "run") -> dict[str, bytes]:
    return files(Path(folder))


def test_edit_of_an_agent_or_of_what_it_imports_is_refused_and_no_other(
    edit: Edit, play: Callable[..., Ended], command: Command
) -> None:
    play()
    before = snapshot()
    edit(other__py="import mine", talk__txt="", mine__yaml="")
    assert "0 games played, 2 kept" in verdict(play())
    for edits in ({"mine__py": f"{MINE}# edited\n"}, {"mine__py": MINE, "talk__py": f"{TALK}#\n"}):
        edit(**edits)
        refused = play()
        assert refused.status == Status.MISTAKEN
        line = f"error: run: games of my-team are of other code (mine); {REMEDIES}"
        assert refused.error_lines == [line]
        assert "1 games of other code" in verdict(command("verify", "run"))
        assert snapshot() == before
    edit(talk__py=TALK)
    assert "0 games played, 2 kept" in verdict(play("fresh=true"))
    assert snapshot() == before


def test_run_without_a_note_is_measured_if_it_is_whole_and_goes_on_if_asked_to(
    edit: Edit, play: Callable[..., Ended], command: Command
) -> None:
    play()
    edit()
    Path("run/code.json").unlink()
    whole = play()
    line = "run: games of imap, my-team are of unknown code, see evaluate.html#code of the site"
    assert "0 games played, 2 kept" in verdict(whole)
    assert line in whole.err
    assert not Path("run/code.json").exists()
    assert "2 games of unknown code" in verdict(command("verify", "run"))
    counted = json.loads(command("verify", "--json", "run/traces/imap").out)
    assert (counted["of_other_code"], counted["of_unknown_code"]) == (0, 1)
    (game,) = Path("run/traces/imap").iterdir()
    game.rename(game.with_name("of-another-scenario.json"))
    refused = play()
    assert refused.error_lines[-1] == f"error: {line.replace('imap, my-team', 'imap')}; {REMEDIES}"
    assert "2 games played, 0 kept" in verdict(play("fresh=true"))


def test_other_file_in_the_place_of_the_note_is_refused(
    edit: Edit, play: Callable[..., Ended]
) -> None:
    edit()
    Path("run").mkdir()
    for text in ("mine", '{"schema_version": 2, "teams": {}}'):
        Path("run/code.json").write_text(text)
        refused = play()
        assert refused.status == Status.MISTAKEN
        line = "error: run/code.json: is no note of a run's code ("
        assert refused.error_lines[-1].startswith(line)
        assert snapshot() == {"code.json": text.encode()}


def test_no_paid_reply_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spec(*more: str) -> RunSpec:
        few = ("suite.num_scenarios=2", "suite.num_candidates=2", "facts=scores")
        return recording(str(tmp_path / "run"), *few, *more)

    execute(spec(), answering)
    before = {path: path.read_bytes() for path in trace_paths(tmp_path / "run")}
    monkeypatch.setattr(seats, "package_digest", lambda: "another")
    with pytest.raises(OutputError, match=r"games of stand-in are of other code \(calbench\)"):
        execute(spec(), unreachable)
    assert count_codes(before) == {"other": 2}
    with pytest.raises(Exception, match="no-such"):  # refused before anything is set aside
        execute(spec("fresh=true", "replies.mode=replay", "replies.path=no-such.sqlite"), answering)
    assert not (tmp_path / "run" / "traces-before-1").exists()
    summary = execute(spec("fresh=true"), unreachable)
    assert (summary.played, summary.kept, summary.totals.calls) == (2, 0, 0)
    assert summary.totals.replayed > 0
    assert {path: path.read_bytes() for path in trace_paths(tmp_path / "run")} == before


@pytest.mark.parametrize("form", ["files", "shards"])
def test_games_of_the_edited_agent_take_the_place_of_those_before(
    tmp_path: Path, form: str
) -> None:
    def command(*words: str) -> Ended:
        env = environment(PYTHONPATH=str(REPO))
        return python("-m", "calbench", *words, cwd=tmp_path, env=env)

    def play(*words: str) -> Ended:
        return command(*SMALL, "facts=scores", "teams=[imap]", TEAM, "out=run", *words)

    def coordination() -> list[float]:
        rows = read_table(tmp_path / "run" / "tables" / "leaderboard.csv")
        return [float(row["coordination"]) for row in rows if row["team"] == "my-team"]

    def games(folder: str) -> set[str]:
        return set(command("traces", "cat", "--all", folder).out.splitlines())

    (tmp_path / "mine.py").write_text("from calbench.agents.example import Announcer as Mine\n")
    assert "6 games played, 0 kept" in verdict(play(f"traces.format={form}"))
    before, (coordinated,) = games("run"), coordination()
    assert coordinated > 0
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "talk.py").write_text(TALK)
    assert play().status == Status.MISTAKEN
    assert coordination() == [coordinated]
    assert "3 games played, 3 kept" in verdict(play("fresh=true"))
    assert coordination() == [0]
    after = games("run")
    assert (len(before), len(after)) == (6, 6)
    assert before & after == {game for game in before if '"team_id":"imap"' in game}
    assert games("run/traces-before-1") == (before - after if form == "files" else before)
    again = play("fresh=true")
    assert "0 games played, 6 kept" in verdict(again)
    assert "fresh=true: no game there is of other code" in again.error_lines
    assert games("run") == after
