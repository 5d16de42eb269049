"""Processes that die are started again; what ends them each time is named."""

import os
import signal
from pathlib import Path

import pytest

from calbench.errors import WorkerError
from calbench.pool import mapped, workers
from tests.cli.runs import REPO, Ended, environment, python

pytestmark = pytest.mark.heavy


def deadly_once(place: Path) -> str:
    """End the process that comes here first, if there is something to end it."""
    if place.exists():
        place.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return place.name


def deadly(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_dead_process_costs_its_tasks_only(tmp_path: Path) -> None:
    places = [tmp_path / f"{number:02}" for number in range(30)]
    for place in (places[3], places[20]):
        place.touch()
    with workers(2) as pool:
        assert list(mapped(deadly_once, places, pool)) == [place.name for place in places]
    assert not any(place.exists() for place in places)


def test_a_task_that_ends_each_process_is_named() -> None:
    with workers(2) as pool, pytest.raises(WorkerError, match=r"died 3 times .*: 5$"):
        list(mapped(deadly, range(10), pool))


WAITED = """
import os, signal, threading, time
from calbench.console import ending_on_interrupt
from calbench.pool.processes import blocking

is_blocked = threading.Event()

def end() -> None:
    is_blocked.wait()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)  # to a thread that blocks nothing

other = threading.Thread(target=end)
other.start()
with ending_on_interrupt(lambda: "Stopped"):
    with blocking():
        is_blocked.set()
        other.join()
        print("in one piece", flush=True)
    print("too far", flush=True)
"""


def test_signal_to_another_thread_waits_until_a_process_has_started() -> None:
    ended = python("-c", WAITED)
    assert (ended.status, ended.out, ended.err) == (143, "in one piece\n", "Stopped\n")


UNGUARDED = """
from calbench.pool import mapped, workers

print("once", flush=True)
with workers(2) as pool:
    print(sum(mapped(abs, range(-3, 3), pool)), flush=True)
"""

OF_MAIN = """
from functools import partial
from calbench.pool import mapped, workers

def plus(one: int, other: int) -> int:
    return one + other

if __name__ == "__main__":
    with workers(2) as pool:
        print(list(mapped(partial(plus, 1), range(3), pool)), flush=True)
    with workers(2) as pool:
        list(mapped(abs, range(3), pool))
        try:
            list(mapped(partial(plus, 1), range(3), pool))
        except TypeError as error:
            print(error, flush=True)
"""


def run_script(folder: Path, text: str) -> Ended:
    (folder / "script.py").write_text(text)
    return python(folder / "script.py", env=environment() | {"PYTHONPATH": str(REPO)})


def test_a_script_is_not_run_again_by_its_processes(tmp_path: Path) -> None:
    ended = run_script(tmp_path, UNGUARDED)
    assert (ended.status, ended.out, ended.err) == (0, "once\n9\n", "")


def test_processes_know_the_main_module_if_their_first_task_is_of_it(tmp_path: Path) -> None:
    ended = run_script(tmp_path, OF_MAIN)
    assert ended.out == "[1, 2, 3]\nplus: the first task's function is elsewhere\n"
    assert (ended.status, ended.err) == (0, "")
