"""A Dask cluster does what this process would do, and says in one line what it cannot."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from calbench.errors import ConfigError, WorkerError
from calbench.pool import ExecutorSpec, Pool, cluster, mapped, workers
from tests.cli.runs import REPO, SMALL, environment, files, python
from tests.effort import GUARD_S
from tests.pool.test_processes import deadly, deadly_once
from tests.stranger import attacked, needs_root

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.heavy

DASK = ExecutorSpec(kind="dask")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with workers(2, DASK) as pool:
        assert pool is not None
        yield pool


def joined(address: str) -> ExecutorSpec:
    return ExecutorSpec(kind="dask", address=address, is_trusted_network=True)


@contextmanager
def scheduler(*more: str, env: dict[str, str] | None = None) -> Iterator[str]:
    """Start a scheduler as a command of Dask's; yield its address."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", *more]
    with ended(
        subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True, env=env)
    ) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "Scheduler at" in line)
        yield line.split()[-1]


@contextmanager
def worker(
    address: str, threads: int = 1, count: int = 1, path: Path | None = None
) -> Iterator[None]:
    """Start workers as a command of Dask's, with the package of another folder if one is given."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address]
    options = ["--nworkers", str(count), "--nthreads", str(threads), "--no-dashboard"]
    # Of a module that is run, the current folder comes first among the places of packages.
    process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL, text=True, cwd=path)
    with ended(process), distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=GUARD_S)
        yield


@contextmanager
def ended(process: "subprocess.Popen[str]") -> Iterator["subprocess.Popen[str]"]:
    """Terminate a process at the end."""
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=GUARD_S)


def whereabouts(_: int) -> str:
    return str(Path.cwd())


def test_results_come_in_the_order_of_the_tasks(pool: Pool) -> None:
    assert list(mapped(str, range(100), pool)) == [str(number) for number in range(100)]
    assert pool.size == 2


def test_tasks_run_in_the_current_folder(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(mapped(whereabouts, range(10), pool)) == {str(tmp_path)}


def test_a_failure_ends_it_and_names_itself(pool: Pool) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(mapped(int, ["1", "two", "3"], pool))


def test_a_dead_worker_costs_its_tasks_only(pool: Pool, tmp_path: Path) -> None:
    places = [tmp_path / f"{number:02}" for number in range(30)]
    for place in (places[3], places[20]):
        place.touch()
    assert list(mapped(deadly_once, places, pool)) == [place.name for place in places]
    assert not any(place.exists() for place in places)


def test_a_task_that_ends_each_worker_is_named(pool: Pool) -> None:
    with pytest.raises(WorkerError, match=r"Dask workers died .*: 5$"):
        list(mapped(deadly, range(10), pool))


def test_a_cluster_of_others_is_joined_and_left_running() -> None:
    with scheduler() as address, worker(address, count=2):
        for _ in range(2):
            with workers(None, joined(address)) as pool:
                assert pool is not None
                assert pool.size == 2
                assert list(mapped(str, range(9), pool)) == [str(number) for number in range(9)]


def test_workers_of_several_threads_are_refused() -> None:
    with scheduler() as address, worker(address, threads=3):
        spec = joined(address)
        with pytest.raises(ConfigError, match="have 3 threads each"), workers(None, spec):
            pass


def test_a_later_worker_of_several_threads_is_refused() -> None:
    with scheduler() as address:
        spec = joined(address)
        several = pytest.raises(WorkerError, match=r"several threads; .* dask worker --nthreads 1")
        with workers(None, spec) as pool, worker(address, threads=3), several:
            list(mapped(str, range(9), pool))


@pytest.mark.slow
@pytest.mark.parametrize("is_later", [False, True])
def test_a_worker_of_other_code_is_refused(tmp_path: Path, *, is_later: bool) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPO / "calbench", tmp_path / "calbench", ignore=ignored)
    with (tmp_path / "calbench/metrics/costs.py").open("a") as file:
        file.write("# Edited.\n")
    with scheduler() as address, ExitStack() as stack:
        spec = joined(address)
        if not is_later:
            stack.enter_context(worker(address, path=tmp_path))
            with pytest.raises(ConfigError, match="have other code than this"), workers(None, spec):
                pass
            return
        pool = stack.enter_context(workers(None, spec))
        stack.enter_context(worker(address, path=tmp_path))
        with pytest.raises(WorkerError, match="a Dask worker has other code than this"):
            list(mapped(str, range(9), pool))


def test_a_scheduler_that_is_gone_is_told_in_one_line() -> None:
    with ExitStack() as stack:
        started = stack.enter_context(ExitStack())
        address = started.enter_context(scheduler())
        started.enter_context(worker(address))
        pool = stack.enter_context(workers(None, joined(address)))
        assert list(mapped(str, range(3), pool)) == ["0", "1", "2"]
        started.close()
        with pytest.raises(WorkerError, match="the Dask cluster is gone"):
            list(mapped(str, range(3), pool))


def test_places_of_workers_that_dask_gave_up_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives up those that die while they start, and would wait for others for ever."""
    monkeypatch.setattr(cluster, "LOOK_S", 0.2)
    monkeypatch.setattr(cluster, "WORKERLESS_S", 1.0)
    with workers(2, DASK) as pool:
        assert isinstance(pool, cluster._Local)
        started = pool.client.cluster
        started.sync(started.scale_down, [*started.workers])
        assert not pool._count()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(started, "scale", lambda _: None)
            with pytest.raises(WorkerError, match="are gone and none came back"):
                list(mapped(str, range(3), pool))
        monkeypatch.setattr(cluster, "WORKERLESS_S", GUARD_S)
        assert list(mapped(str, range(3), pool)) == ["0", "1", "2"]


def _listening(process: int) -> list[int]:
    """Return the ports on which a process listens, as Linux has them."""
    own = set()
    for each in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # the one by which they are listed
            own.add(str(each.readlink()).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()]
    return [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and row[9] in own]


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="asks Linux for ports")
def test_ports_of_a_local_cluster_answer_nobody_without_a_certificate(pool: Pool) -> None:
    ports = _ports(pool)
    assert len(ports) >= 3
    for port in sorted(ports):
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", port), timeout=GUARD_S) as connection:
                connection.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                with suppress(ConnectionResetError):
                    said = connection.recv(1000)
                    assert not said.startswith(b"HTTP") or b" 404 " in said


def _ports(pool: Pool) -> set[int]:
    processes = [os.getpid(), *set(mapped(_process, range(8), pool))]
    return {port for process in processes for port in _listening(process)}


def _process(_: int) -> int:
    return os.getpid()


def test_workers_that_slept_go_on() -> None:
    """As on a laptop that was closed; Dask would take them for dead after some minutes."""
    with dask.config.set({"distributed.scheduler.worker-ttl": "1s"}), workers(2, DASK) as pool:
        assert pool is not None
        there = {*mapped(_process, range(8), pool)}
        for each in there:
            os.kill(each, signal.SIGSTOP)
        time.sleep(14)  # Dask waits for ten of its heartbeats at least
        for each in there:
            os.kill(each, signal.SIGCONT)
        assert {*mapped(_process, range(8), pool)} <= there


@needs_root
@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="asks Linux for ports")
def test_another_user_has_no_call_run(pool: Pool, tmp_path: Path) -> None:
    ports = _ports(pool)
    found = attacked(ports, tmp_path / "ours")
    assert (found["calls"], found["pages"]) == (0, 0), found
    with scheduler() as address, worker(address):
        found = attacked([int(address.rpartition(":")[2])], tmp_path / "open")
        assert found["calls"] > 0, found  # why `tcp://` is refused


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, ("openssl", "bash"))), reason="makes certificates")
def test_cluster_with_certificates_of_ones_own_plays_as_the_page_says(tmp_path: Path) -> None:
    page = (REPO / "site/docs/evaluate.md").read_text()
    made = "\n".join(re.findall(r"^    ((?:openssl|export DASK).*)$", page, re.MULTILINE))
    assert made.count("\n") == 3
    said = subprocess.run(
        ["bash", "-ec", f"{made}\nenv -0"], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    env = dict(each.split("=", 1) for each in said.split("\0") if each)
    play = ("-m", "calbench", "-q", *SMALL, "teams=[imap]", "executor=dask")
    with scheduler("--protocol", "tls", env=env) as address:
        assert address.startswith("tls://")
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
        with ended(subprocess.Popen(command, stderr=subprocess.DEVNULL, text=True, env=env)):
            words = (*play, f"executor.address={address}")
            ended_well = python(*words, f"out={tmp_path / 'theirs'}", env=env)
            assert ended_well.status == 0, ended_well.err
            refused = python(*words, f"out={tmp_path / 'no'}")
            assert (refused.status, "TLS needs certificates" in refused.err) == (2, True)
    assert python(*play[:-1], f"out={tmp_path / 'ours'}").status == 0
    assert files(tmp_path / "theirs") == files(tmp_path / "ours")


def test_tls_without_certificates_is_refused() -> None:
    spec = ExecutorSpec(kind="dask", address="tls://127.0.0.1:1")
    with pytest.raises(ConfigError, match="TLS needs certificates"), workers(None, spec):
        pass


def test_a_cluster_that_does_not_answer_is_refused() -> None:
    spec = joined("tcp://127.0.0.1:1")
    with pytest.raises(ConfigError, match="no Dask scheduler answers"), workers(None, spec):
        pass
