"""Many games: one file each, kept only if it is the very game this run would play."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from calbench.agents.prompts import use_prompts
from calbench.agents.prompts.templates import FOLDER
from calbench.engine.batch import Played, parts_of, play_jobs
from calbench.engine.jobs import Job, plan_jobs, unfinished
from calbench.errors import ConfigError, OutputError
from calbench.pool import Pool, workers
from calbench.runs.verification import verify_file
from calbench.traces.events import TurnStart
from calbench.traces.models import GameConfig, Kind, Limits, Seat, Team
from calbench.traces.storage import read_trace
from tests.engine.scripts import game_config
from tests.factories import make_scenario

SCENARIOS = [
    make_scenario([".E..", "E...", "..E."], [(0, 1), (1, 2)], scenario_id=f"test-{number:03}")
    for number in range(6)
]
CONFIGS = [game_config("imap"), game_config("silent")]


def jobs_in(folder: Path) -> list[Job]:
    return plan_jobs(SCENARIOS, CONFIGS, folder / "traces")


def play_job(job: Job) -> None:
    play_jobs([job], None, lambda _: None)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_games_are_written_under_their_own_ids(tmp_path: Path) -> None:
    jobs = jobs_in(tmp_path)
    assert [str(job.path.relative_to(tmp_path)) for job in jobs] == [
        f"traces/{team}/test-{number:03}.json" for team in ("imap", "silent") for number in range(6)
    ]
    done: list[Played] = []
    play_jobs(jobs, None, done.append)
    assert done == [Played(job) for part in parts_of(jobs) for job in part]
    assert sorted(game.job.path for game in done) == sorted(job.path for job in jobs)
    assert [read_trace(job.path).game_id for job in jobs] == [job.game_id for job in jobs]
    assert unfinished(jobs) == []
    for job in jobs[1::2]:
        job.path.unlink()
    assert unfinished(jobs) == jobs[1::2]


@pytest.mark.parametrize("workers", [1, 3])
def test_games_have_the_same_bytes_whoever_plays_them(tmp_path: Path, workers: int) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    play_jobs(jobs_in(here), None, lambda _: None)
    done: list[Played] = []
    with ThreadPoolExecutor(workers) as executor:
        play_jobs(jobs_in(there), Pool(executor, workers), done.append)
    assert contents(here) == contents(there)
    assert sorted(played.job.path for played in done) == sorted(job.path for job in jobs_in(there))


@pytest.mark.heavy
def test_processes_ask_with_the_prompts_of_a_folder(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(FOLDER / "v2", mine)
    (mine / "turn.md").write_text((mine / "turn.md").read_text() + "\nAsked elsewhere.\n")
    templates = use_prompts(mine).templates
    assert templates is not None
    seat = Seat(player="candid", kind="scripted", settings={"style": "candid"})
    config = game_config().updated(
        team=Team(team_id="candid", seats=(seat,)),
        prompt_version="mine",
        prompt_digest=templates.digest,
    )
    (job,) = plan_jobs(SCENARIOS[:1], [config], tmp_path / "traces")
    with workers(2) as pool:
        play_jobs([job], pool, lambda _: None)
    asked = [event.prompt for event in read_trace(job.path).events if isinstance(event, TurnStart)]
    assert any("Asked elsewhere." in (prompt or "") for prompt in asked)


def test_left_over_of_a_killed_run_is_replaced(tmp_path: Path) -> None:
    job = jobs_in(tmp_path)[0]
    job.path.parent.mkdir(parents=True)
    job.path.with_name(f".{job.path.name}.part").write_bytes(b'{"half')
    assert unfinished([job]) == [job]
    play_job(job)
    assert [path.name for path in job.path.parent.iterdir()] == ["test-000.json"]


def test_run_stops_before_writing_when_another_game_stands_at_its_place(tmp_path: Path) -> None:
    jobs = jobs_in(tmp_path)
    play_job(Job(SCENARIOS[0], game_config("imap", ("dm",)), jobs[0].path))
    before = contents(tmp_path)
    with pytest.raises(OutputError) as caught:
        unfinished(jobs)
    text = str(caught.value)
    assert text.startswith(f"{jobs[0].path} holds another game (")
    assert text.endswith(f"nothing was written: choose another folder, e.g. out={tmp_path}-2")
    assert "\n" not in text
    assert contents(tmp_path) == before


def test_run_stops_when_what_is_no_whole_trace_stands_at_its_place(tmp_path: Path) -> None:
    whole, folder, link = jobs_in(tmp_path)[:3]
    play_job(whole)
    data = whole.path.read_bytes()
    folder.path.mkdir()
    link.path.symlink_to(tmp_path / "nowhere")
    for job, cut in ((folder, None), (link, None), *((whole, cut) for cut in (0, 1, 500, -2))):
        whole.path.write_bytes(data[:cut])
        with pytest.raises(OutputError, match="is not a complete trace"):
            unfinished([job])


def test_game_fails_with_one_line_when_its_folder_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("here first")
    with pytest.raises(OutputError, match="cannot be written") as caught:
        play_job(jobs_in(tmp_path)[0])
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == {"traces": b"here first"}


def test_rotating_team_has_a_game_of_its_own_at_every_place(tmp_path: Path) -> None:
    kinds: dict[str, Kind] = {
        "imap": "protocol",
        "silent": "degenerate",
        "first-free": "degenerate",
    }
    seats = tuple(Seat(player=name, kind=kind) for name, kind in kinds.items())
    config = GameConfig(
        team=Team(team_id="turning", seats=seats, rotation=True), channels=("dm",), limits=Limits()
    )
    assert config.digest
    jobs = plan_jobs(SCENARIOS, [config], tmp_path)
    players = [[seat.player for seat in job.config.team.seats] for job in jobs]
    assert (
        players
        == [
            ["imap", "silent", "first-free"],
            ["first-free", "imap", "silent"],
            ["silent", "first-free", "imap"],
        ]
        * 2
    )
    again = plan_jobs([SCENARIOS[0]] * 3, [config], tmp_path)
    assert len({job.game_id for job in again}) == 3
    for job in again[:1]:
        play_job(job)
        verify_file(job.path)


def turning(*kinds: Kind) -> GameConfig:
    """Return a rotating team with a seat of each kind; its games are planned, not played."""
    seats = tuple(Seat(player=f"p{n}", kind=kind) for n, kind in enumerate(kinds))
    team = Team(team_id="turning", seats=seats, rotation=True)
    return GameConfig(team=team, channels=("dm",), limits=Limits())


def test_chosen_scenarios_have_the_games_of_the_whole_suite(tmp_path: Path) -> None:
    config = turning("protocol", "model", "scripted")
    whole = plan_jobs(SCENARIOS, [config], tmp_path)
    few = plan_jobs(SCENARIOS, [config], tmp_path, {"test-001", "test-005", "elsewhere"})
    assert few == [whole[1], whole[5]]
    assert [job.config.team.seats[0].player for job in few] == ["p2", "p1"]


@pytest.mark.parametrize("kind", ["model", "custom"])
def test_teams_that_may_play_another_game_play_every_replicate(tmp_path: Path, kind: Kind) -> None:
    once = plan_jobs(SCENARIOS[:2], [turning("protocol", kind)], tmp_path)
    jobs = plan_jobs(SCENARIOS[:2], [turning("protocol", kind)], tmp_path, replicates=3)
    assert jobs[::3] == once
    assert [job.path.relative_to(tmp_path).as_posix() for job in jobs] == [
        f"turning/test-{number:03}{again}.json" for number in (0, 1) for again in ("", ".r1", ".r2")
    ]
    assert [job.config.replicate for job in jobs] == [0, 1, 2] * 2
    assert len({job.game_id for job in jobs}) == 6
    assert jobs[4].config.team == jobs[3].config.team == once[1].config.team


def test_teams_that_would_repeat_their_game_play_it_once(tmp_path: Path) -> None:
    configs = [*CONFIGS, turning("protocol", "degenerate", "scripted")]
    assert plan_jobs(SCENARIOS, configs, tmp_path, replicates=9) == plan_jobs(
        SCENARIOS, configs, tmp_path
    )


def test_scenario_named_like_a_replicate_of_another_is_refused(tmp_path: Path) -> None:
    other = SCENARIOS[0].updated(scenario_id="test-000.r2")
    config = turning("model")
    assert len(plan_jobs([SCENARIOS[0], other], [config], tmp_path, replicates=2)) == 4
    with pytest.raises(ConfigError, match=r"^replicates: test-000\.r2\.json would be the file of"):
        plan_jobs([SCENARIOS[0], other], [config], tmp_path, replicates=3)
