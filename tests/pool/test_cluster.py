"""A Dask cluster does what this process would do, and says in one line what it cannot."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from calbench.errors import ConfigError, WorkerError
from calbench.pool import ExecutorSpec, Pool, mapped, workers
from tests.effort import GUARD_S
from tests.pool.test_processes import deadly, deadly_once

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.heavy

DASK = ExecutorSpec(kind="dask")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with workers(2, DASK) as pool:
        assert pool is not None
        yield pool


@contextmanager
def started(*arguments: str, threads: int = 1, count: int = 1) -> Iterator[str]:
    """Start a scheduler and workers as commands of Dask's; yield the address."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    processes = [
        subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"],
            stderr=subprocess.PIPE,
            text=True,
        )
    ]
    try:
        assert processes[0].stderr is not None
        line = next(line for line in processes[0].stderr if "Scheduler at" in line)
        address = line.split()[-1]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address]
        command += ["--nworkers", str(count), "--nthreads", str(threads), "--no-dashboard"]
        processes.append(
            subprocess.Popen([*command, *arguments], stderr=subprocess.DEVNULL, text=True)
        )
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=GUARD_S)
        yield address
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
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
    with pytest.raises(WorkerError, match=r"3 Dask workers died .*: 5$"):
        list(mapped(deadly, range(10), pool))


def test_a_cluster_of_others_is_joined_and_left_running() -> None:
    with started(count=2) as address:
        for _ in range(2):
            with workers(None, ExecutorSpec(kind="dask", address=address)) as pool:
                assert pool is not None
                assert pool.size == 2
                assert list(mapped(str, range(9), pool)) == [str(number) for number in range(9)]


def test_workers_of_several_threads_are_refused() -> None:
    with started(threads=3) as address:
        spec = ExecutorSpec(kind="dask", address=address)
        with pytest.raises(ConfigError, match="have 3 threads each"), workers(None, spec):
            pass


def test_a_cluster_that_does_not_answer_is_refused() -> None:
    spec = ExecutorSpec(kind="dask", address="tcp://127.0.0.1:1")
    with pytest.raises(ConfigError, match="no Dask scheduler answers"), workers(None, spec):
        pass
