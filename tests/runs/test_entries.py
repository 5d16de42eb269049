"""Runs as they are found on disk, and the names that their teams get."""

import shutil
from pathlib import Path

import pytest

from calbench.errors import CalbenchError, FileError
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.runs.entries import Run, read_runs, run_names
from calbench.scenarios.difficulty import with_oracle
from calbench.traces.storage import read_trace, write_trace
from tests.cli.runs import edited
from tests.factories import make_scenario
from tests.report.samples import play, suite_of


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played") / "run"
    for scenario in suite_of("varied", 2):
        for team in ("imap", "silent"):
            write_trace(
                out / "traces" / team / f"{scenario.scenario_id}.json", play(scenario, team)
            )
    return out


def read(scratch: Path, *paths: Path, taken: tuple[str, ...] = ()) -> list[Run]:
    return read_runs(run_names(paths), taken, scratch, DEFAULT_MEASURE)


def test_run_is_named_by_its_folder(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played, tmp_path / "josé's run!")
    shutil.copytree(played, tmp_path / "other" / "run")
    names = [played / "traces", tmp_path / "other" / "run", tmp_path / "josé's run!", played]
    assert list(run_names(names)) == ["run", "run--2", "jos-s-run", "run--3"]
    assert list(run_names([tmp_path, played])) == ["jos-s-run", "run"]  # a sweep is its jobs


def test_what_is_no_folder_is_refused(played: Path, tmp_path: Path) -> None:
    file = next((played / "traces").rglob("*.json"))
    with pytest.raises(FileError, match="is a file; name the folder of a run"):
        run_names([file])
    with pytest.raises(FileError, match="there is no such folder"):
        run_names([tmp_path / "nothing"])


def test_teams_of_one_name_get_that_of_their_run(played: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(played / "traces" / "imap", other / "imap")
    first, second = read(tmp_path / "scratch", played, other, taken=("silent",))

    assert [entry.team for entry in first.entries] == ["imap.run", "silent.run"]
    assert [entry.team for entry in second.entries] == ["imap.other"]
    for each in (first, second):
        for path in each.traces.rglob("*.json"):
            assert read_trace(path).config.team.team_id == path.parent.name
    assert {entry.place[:2] for entry in first.entries} == {("varied", "dm")}
    assert all(len(entry.digests) == 2 for entry in first.entries)


def test_renamed_team_keeps_numbers_of_more_than_64_bits(tmp_path: Path) -> None:
    meetings = [(agent, (agent + 1) % 12) for agent in range(12)]
    scenario = with_oracle(make_scenario(["." * 64] * 12, meetings))
    trace = play(scenario, "imap")
    write_trace(tmp_path / "run" / "traces" / "imap" / f"{scenario.scenario_id}.json", trace)

    (run,) = read(tmp_path / "scratch", tmp_path / "run", taken=("imap",))

    (path,) = run.traces.rglob("*.json")
    assert read_trace(path).config.team.team_id == "imap.run"
    assert read_trace(path).scenario == scenario
    assert trace.scenario.difficulty
    assert (trace.scenario.difficulty.feasible_count or 0) > 2**64


def test_games_are_read_as_they_are_and_none_is_a_link(played: Path, tmp_path: Path) -> None:
    (run,) = read(tmp_path / "scratch", played)
    paths = sorted(run.traces.rglob("*.json"))
    assert len(paths) == 4
    for path in paths:
        assert path.read_bytes() == (played / "traces" / path.relative_to(run.traces)).read_bytes()
        assert not path.is_symlink()


@pytest.mark.parametrize("name", ["../../up", "a/b", "a b", "<b>"])
def test_team_that_is_no_file_name_is_refused(played: Path, tmp_path: Path, name: str) -> None:
    path = next((played / "traces" / "imap").glob("*.json"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "game.json").write_bytes(
        edited(path.read_bytes(), (("config", "team", "team_id"), name))
    )
    with pytest.raises(CalbenchError, match="a name has only letters"):
        read(tmp_path / "scratch", tmp_path / "run")
    assert not list((tmp_path / "scratch").rglob("*.json"))


def test_team_is_verified_if_every_game_of_it_holds(played: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    for scenario in suite_of("mine", 2):
        for team in ("imap", "silent"):
            file = mine / "traces" / team / f"{scenario.scenario_id}.json"
            write_trace(file, play(scenario, team))
    file = mine / "traces" / "imap" / file.name
    trace = read_trace(file)
    cost = trace.metrics.realised_cost + 1
    file.write_bytes(edited(file.read_bytes(), (("metrics", "realised_cost"), cost)))
    (run,) = read_runs(
        run_names([mine]), ("silent",), tmp_path / "a", DEFAULT_MEASURE, is_verifying=True
    )
    assert {entry.team: entry.is_verified for entry in run.entries} == {
        "imap": False,
        "silent.mine": True,
    }
    assert not any(entry.is_verified for entry in read(tmp_path / "b", mine)[0].entries)
    (others,) = read_runs(  # on other scenarios than the published ones of their names
        run_names([played]), (), tmp_path / "c", DEFAULT_MEASURE, is_verifying=True
    )
    assert not any(entry.is_verified for entry in others.entries)
