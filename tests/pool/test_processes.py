"""Processes that die are started again; what ends them each time is named."""

import os
import signal
from pathlib import Path

import pytest

from calbench.errors import WorkerError
from calbench.pool import mapped, workers

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
