"""A run may end at any moment; the same command goes on, to the same bytes."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.engine.batch import play_jobs
from calbench.engine.jobs import Job, plan_jobs
from calbench.errors import CalbenchError, OutputError
from calbench.pool import Pool, workers
from calbench.runs.folder import locked
from calbench.runs.play import execute
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Limits, Seat, Team
from tests.cli.runs import SMALL, calbench, files, repeated, started, write_repeated
from tests.effort import GUARD_S

pytestmark = pytest.mark.heavy


def small_spec(out: Path, *overrides: str) -> RunSpec:
    return compose([*SMALL, f"out={out}", *overrides])


def stamps(folder: Path) -> dict[str, int]:
    """Return when each trace was written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*.json")}


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """Return a finished run of one's own."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_finished_run_keeps_every_trace_when_it_is_run_again(run: Path) -> None:
    before, stamped = files(run), stamps(run / "traces")
    summary = execute(small_spec(run))
    assert (summary.played, summary.kept) == (0, 12)
    assert files(run) == before
    assert stamps(run / "traces") == stamped


def test_run_plays_only_what_is_missing_when_traces_were_deleted(run: Path) -> None:
    before, stamped = files(run), stamps(run / "traces")
    missing = [
        run / "traces/imap/taste-varied-001.json",
        run / "traces/silent/taste-varied-000.json",
    ]
    for path in missing:
        path.unlink()
    summary = execute(small_spec(run))
    assert (summary.played, summary.kept) == (2, 10)
    assert files(run) == before
    fresh = {path for path, stamp in stamps(run / "traces").items() if stamp != stamped[path]}
    assert fresh == {str(path) for path in missing}


def test_run_plays_only_the_new_team_when_one_is_added(tmp_path: Path, finished: Path) -> None:
    out = tmp_path / "run"
    execute(small_spec(out, "teams=[imap,tell-all,first-free]"))
    summary = execute(small_spec(out))
    assert (summary.played, summary.kept) == (3, 9)
    assert files(out) == files(finished)


@pytest.mark.parametrize("kind", ["garbage", "other game", "cut", "folder", "dead link"])
def test_run_stops_before_it_writes_when_a_foreign_file_stands_at_a_traces_place(
    run: Path, kind: str
) -> None:
    (run / "traces/imap/taste-varied-000.json").unlink()
    foreign = run / "traces/tell-all/taste-varied-002.json"
    whole = foreign.read_bytes()
    foreign.unlink()
    match kind:
        case "garbage":
            foreign.write_bytes(b"my notes")
        case "other game":
            foreign.write_bytes((run / "traces/silent/taste-varied-002.json").read_bytes())
        case "cut":
            foreign.write_bytes(whole[:-20])
        case "folder":
            foreign.mkdir()
        case _:
            foreign.symlink_to(run / "nowhere")
    shutil.rmtree(run / "tables")
    before = files(run)
    with pytest.raises(OutputError) as refusal:
        execute(small_spec(run))
    message = str(refusal.value)
    assert message.startswith(str(foreign))
    if kind == "dead link":
        assert message.endswith(
            "is a link, and nothing is written there; move it away, or choose another folder"
        )
    elif kind == "other game":
        assert message.endswith(f"nothing was written: choose another folder, e.g. out={run}-2")
    else:
        anew = "the game is played anew, from the replies that are recorded"
        assert message.endswith(f"nothing was written: move it away, and {anew}")
    assert message.isprintable()
    assert files(run) == before


def test_run_stops_before_it_writes_when_its_limits_are_others(run: Path) -> None:
    before = files(run)
    with pytest.raises(OutputError, match="holds another game"):
        execute(small_spec(run, "limits.max_turns_per_round=3"))
    assert files(run) == before


def test_run_replaces_what_a_killed_one_left_half_written(run: Path, finished: Path) -> None:
    (run / "traces/imap/taste-varied-000.json").unlink()
    (run / "traces/imap/.taste-varied-000.json.part").write_bytes(b'{"half":')
    (run / "tables/.leaderboard.csv.part").write_bytes(b"half")
    execute(small_spec(run))
    assert files(run) == files(finished)


# --- executors


def games(scenarios: tuple[Scenario, ...], folder: Path, *, player: str = "imap") -> list[Job]:
    team = Team(team_id="some", seats=(Seat(player=player, kind="protocol"),))
    config = GameConfig(team=team, channels=("dm",), limits=Limits())
    return plan_jobs(repeated(scenarios, 10), [config], folder / "traces")


class AtOnce(Executor):
    """The least that an executor can be."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - a future holds any
            future.set_exception(error)
        return future


def test_games_have_the_same_bytes_whichever_executor_plays_them(
    scenarios: tuple[Scenario, ...], tmp_path: Path
) -> None:
    makers: dict[str, AbstractContextManager[Executor | Pool | None]] = {
        "none": nullcontext(None),
        "at once": AtOnce(),
        "threads": ThreadPoolExecutor(3),
        "processes": ProcessPoolExecutor(2),
        "workers": workers(2),
    }
    played: dict[str, dict[str, bytes]] = {}
    for name, maker in makers.items():
        jobs, done = games(scenarios, tmp_path / name), list[str]()
        with maker as executor:
            pool = Pool(executor, 3) if isinstance(executor, Executor) else executor
            play_jobs(jobs, pool, lambda game, done=done: done.append(game.job.path.name))  # type: ignore[misc]
        assert sorted(done) == sorted(job.path.name for job in jobs)
        played[name] = files(tmp_path / name)
    assert len(played["none"]) == 30
    assert all(tree == played["none"] for tree in played.values())


@pytest.mark.parametrize("make", [AtOnce, ThreadPoolExecutor, lambda: workers(2)])
def test_error_of_a_worker_surfaces(
    scenarios: tuple[Scenario, ...],
    tmp_path: Path,
    make: Callable[[], AbstractContextManager[Executor | Pool]],
) -> None:
    jobs = games(scenarios, tmp_path, player="nobody")
    with make() as executor:
        pool = Pool(executor, 2) if isinstance(executor, Executor) else executor
        with pytest.raises(CalbenchError, match="no player nobody"):
            play_jobs(jobs, pool, lambda _job: None)
    assert files(tmp_path) == {}


# --- one run a folder


def test_folder_is_free_again_when_its_run_has_ended(tmp_path: Path) -> None:
    with locked(tmp_path / "out"), pytest.raises(OutputError), locked(tmp_path / "out"):
        pass
    with locked(tmp_path / "out"):
        assert (tmp_path / "out" / ".lock").exists()


def test_process_ends_with_one_line_when_another_run_writes_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with locked(out):
        second = calbench(*SMALL, f"out={out}")
    assert second.status == 2
    (line,) = second.err.splitlines()
    assert line.startswith(f"error: {out}: another run is writing there")
    assert f"out={out}-2" in line
    assert files(out) == {}


# --- kill -9 and Ctrl-C


def wait_for(path: Path, num_traces: int) -> None:
    """Wait until a file or folder is there, with so many traces in it."""
    limit = time.monotonic() + GUARD_S
    while not path.exists() or num_in(path) < num_traces:
        assert time.monotonic() < limit
        time.sleep(0.005)


def num_in(traces: Path) -> int:
    return sum(1 for _ in traces.glob("*/*.json"))


def end(process: subprocess.Popen[str]) -> None:
    """End a process that a failed test left, and what it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def is_over(group: int) -> bool:
    """Whether no process of a group is left, sooner or later."""
    limit = time.monotonic() + GUARD_S
    while time.monotonic() < limit:
        states = [
            stat.read_text().rpartition(")")[2].split()
            for stat in Path("/proc").glob("[0-9]*/stat")
            if stat.exists()
        ]
        if not [state for state in states if state[2] == str(group) and state[0] != "Z"]:
            return True
        time.sleep(0.02)
    return False


def caught(arguments: Sequence[str], out: Path, num_traces: int) -> subprocess.Popen[str]:
    """Start a run and stop it while it plays, after so many games; it goes on with SIGCONT.

    On a busy machine it may be done before it is stopped: then another one is started, some times.
    """
    for _ in range(20):
        process = started(*arguments)
        try:
            wait_for(out / "traces", num_traces)
            os.killpg(process.pid, signal.SIGSTOP)
            if process.poll() is None and num_in(out / "traces") < LONG:
                return process
        except BaseException:
            end(process)
            raise
        end(process)
        shutil.rmtree(out)
    raise AssertionError("each run was done before it could be stopped")


@pytest.fixture(scope="session")
def long_suite(scenarios: tuple[Scenario, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_repeated(tmp_path_factory.mktemp("long") / "suite.jsonl", scenarios, 40)


LONG = 240
"""Games of a long run."""


def long_arguments(suite: Path, out: Path, jobs: int) -> list[str]:
    """Return the overrides of a run of so many games."""
    return [f"suite.path={suite}", "teams=[imap,silent]", f"out={out}", f"jobs={jobs}", SMALL[-1]]


@pytest.fixture(scope="session")
def undisturbed(long_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    execute(compose(long_arguments(long_suite, out, 1)))
    return files(out)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_run_with_one_line_that_says_what_stands(
    long_suite: Path, tmp_path: Path, jobs: int
) -> None:
    out = tmp_path / "out"
    process = caught(long_arguments(long_suite, out, jobs), out, 5)
    try:
        os.killpg(process.pid, signal.SIGINT)
        os.killpg(process.pid, signal.SIGCONT)
        said, errors = process.communicate(timeout=GUARD_S)
        assert is_over(process.pid)
    finally:
        end(process)
    standing = len(files(out / "traces"))
    assert process.returncode == 130
    assert errors.splitlines()[-1] == (
        f"Stopped: {standing} of 240 games are in {out / 'traces'}; the same command resumes"
    )
    assert all(line.startswith(("games ", "scenarios ")) for line in errors.splitlines()[:-1])
    assert said == ""
    assert 5 <= standing <= 240


@pytest.mark.slow
def test_run_goes_on_when_one_of_its_processes_dies(
    long_suite: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = caught(long_arguments(long_suite, out, 2), out, 1)
    try:
        workers_left = [
            int(stat.parent.name)
            for stat in Path("/proc").glob("[0-9]*/stat")
            if f") T {process.pid} " in stat.read_text()
            if b"spawn_main" in (stat.parent / "cmdline").read_bytes()
        ]
        os.kill(workers_left[0], signal.SIGKILL)
        os.killpg(process.pid, signal.SIGCONT)
        _, errors = process.communicate(timeout=GUARD_S)
    finally:
        end(process)
    assert process.returncode == 0, errors
    assert files(out) == undisturbed
