"""Processes that die are started again; what ends them each time is named."""

import os
import signal
from pathlib import Path

import pytest

from calbench.errors import WorkerError
from calbench.pool import mapped, workers
from tests.cli.runs import python

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
