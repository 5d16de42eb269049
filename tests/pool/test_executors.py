"""How many workers there are, and of which kind."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calbench.pool import GAMES_PER_WORKER, ExecutorSpec, processors, workers


@given(count=st.integers(2, 64), games=st.none() | st.integers(1, 10**6))
def test_a_number_that_is_given_holds(count: int, games: int | None) -> None:
    with workers(count, games=games) as pool:
        assert pool is not None
        assert pool.size == count


@given(games=st.integers(0, 10**6))
def test_unless_given_there_are_as_many_as_processors_and_as_pay(games: int) -> None:
    with workers(games=games) as pool:
        size = 1 if pool is None else pool.size
    assert size <= processors()
    assert size == 1 or size * GAMES_PER_WORKER <= games
    assert size == processors() or (size + 1) * GAMES_PER_WORKER > games


LIMITED = 1
"""Processors of the containers below; no machine has fewer."""


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("0::/", {"cpu.max": "100000 100000"}),
        ("0::/a/b", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}),
        (
            "4:cpu,cpuacct:/docker/1",
            {"cpu,cpuacct/cpu.cfs_quota_us": "90000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
        ),
    ],
)
def test_quota_of_a_container_counts(tmp_path: Path, line: str, files: dict[str, str]) -> None:
    assert processors(*container(tmp_path, line, files)) == LIMITED


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("0::/", {}),
        ("0::/", {"cpu.max": "max 100000"}),
        ("0::/", {"cpu.max": "100000000 100000"}),
        ("4:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}),
        ("5:memory:/", {"memory/cpu.max": "1 100000"}),
        ("0::/a", {"b/cpu.max": "1 100000"}),
    ],
)
def test_without_a_quota_affinity_alone_counts(
    tmp_path: Path, line: str, files: dict[str, str]
) -> None:
    allowed = processors(tmp_path, tmp_path / "missing")
    assert allowed == (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else allowed
    )
    assert processors(*container(tmp_path, line, files)) == allowed


def container(folder: Path, line: str, files: dict[str, str]) -> tuple[Path, Path]:
    """Write what Linux says of a container: its groups, and which of them are ours."""
    for name, text in files.items():
        path = folder / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (folder / "mine").write_text(f"1:name=systemd:/\n{line}\n")
    return folder / "groups", folder / "mine"


def test_one_worker_is_this_process() -> None:
    with workers(1) as pool:
        assert pool is None


def test_nothing_to_do_starts_nothing() -> None:
    with workers(4, ExecutorSpec(kind="dask", address="tls://127.0.0.1:1"), games=0) as pool:
        assert pool is None


@pytest.mark.parametrize(
    ("kind", "address", "message"),
    [
        ("processes", "tls://127.0.0.1:8786", "add executor=dask"),
        ("dask", "tcp://127.0.0.1:8786", "executor.is_trusted_network=true"),
        ("dask", "", "written tls://HOST:PORT"),
        ("dask", "somewhere", "written tls://HOST:PORT"),
        ("dask", "tcp://somewhere", "written tls://HOST:PORT"),
        ("dask", "tcp://a..b:5", "written tls://HOST:PORT"),
        ("dask", "http://somewhere:5", "written tls://HOST:PORT"),
    ],
)
def test_addresses_are_checked_before_anything_is_started(
    kind: str, address: str, message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        ExecutorSpec.model_validate({"kind": kind, "address": address})
