"""Where tasks run: in this process, in others, or on the machines of a cluster.

Whoever has many tasks takes a :class:`Pool`, or ``None`` for this process, and calls
:func:`mapped` or :func:`finished`; the results do not depend on it. :func:`workers` provides what
a configuration asks for.
"""

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, model_validator
from pydantic_core import PydanticCustomError

from calbench.pool.processes import processes
from calbench.pool.tasks import Pool, cut, finished, mapped

__all__ = [
    "GAMES_PER_WORKER",
    "PROCESSES",
    "ExecutorSpec",
    "Pool",
    "cut",
    "finished",
    "mapped",
    "processors",
    "workers",
]

GAMES_PER_WORKER = 250
"""Fewest games for which a further process is started unless a number is given [C].

So many take about as long as starting it.
"""


# e.g. whole "tcp://scheduler.local:8786", "tls://[::1]:8786"; not "tcp://scheduler.local"
ADDRESS = re.compile(
    r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[\w-]{1,63}(\.[\w-]{1,63})*):\d{1,5}", re.ASCII
)
"""An address of Dask's, with the name of a host or its number."""


class ExecutorSpec(BaseModel, extra="forbid", frozen=True, strict=True):
    """Where tasks run (``conf/executor``).

    Attributes:
        kind: ``processes`` of this machine, or a cluster of ``dask``.
        address: of the scheduler of a Dask cluster to join; absent: a local one is started.
        is_trusted_network: whether an address without encryption may be joined, where anybody who
            reaches it can run code, and whether a local cluster shows its dashboard.
    """

    kind: Literal["processes", "dask"] = "processes"
    address: str | None = None
    is_trusted_network: bool = False

    @model_validator(mode="after")
    def _address_is_of_a_cluster(self) -> Self:
        """Refuse what Dask would only refuse after a while, in its own words."""
        if self.address is not None and self.kind != "dask":
            raise PydanticCustomError("address", "an address is one of Dask: add executor=dask")
        if self.address is not None and not ADDRESS.fullmatch(self.address):
            raise PydanticCustomError("address", "an address is written tls://HOST:PORT")
        if (self.address or "").startswith("tcp:") and not self.is_trusted_network:
            raise PydanticCustomError(
                "address",
                "whoever reaches tcp:// can run code: use tls:// with certificates, or, where "
                "nobody else is in the network, executor.is_trusted_network=true",
            )
        return self


PROCESSES = ExecutorSpec()
"""Processes of this machine."""


CGROUPS, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
"""Where Linux says how much of the processors a container may use, and which one this is."""


def processors(cgroups: Path = CGROUPS, membership: Path = MEMBERSHIP) -> int:
    """Return how many processors this process may use, by its affinity and its container's quota.

    A part of a processor counts as one.

    Args:
        cgroups: where the control groups are mounted.
        membership: the file that names those of this process; without it there is no quota.
    """
    has_affinity = hasattr(os, "sched_getaffinity")
    allowed = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, min([allowed, *map(math.ceil, _quotas(cgroups, membership))]))


def _quotas(cgroups: Path, membership: Path) -> Iterator[float]:
    """Yield the quotas of the groups of this process and of all around them, in processors.

    A line is ``0::/group`` for version 2, ``4:cpu,cpuacct:/group`` for version 1.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = cgroups / controllers
        folder = root / name.lstrip("/")
        while folder.is_relative_to(root):
            quota = _quota(folder)
            if quota is not None:
                yield quota
            folder = folder.parent


def _quota(folder: Path) -> float | None:
    """Return the quota of one group, ``cpu.max`` of version 2 or its two files of version 1."""
    try:
        if (folder / "cpu.max").exists():
            time, period = (folder / "cpu.max").read_text().split()
        else:
            time = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        return int(time) / int(period) if int(time) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):  # none here, or it says "max"
        return None


@contextmanager
def workers(
    count: int | None = None, executor: ExecutorSpec = PROCESSES, *, games: int | None = None
) -> Iterator[Pool | None]:
    """Provide workers; a single process is the calling one itself.

    Args:
        count: how many; absent: one for each processor. Ignored by a cluster that is joined.
        executor: of which kind.
        games: how many there are for them, if it is known; then a process is only started for
            each :data:`GAMES_PER_WORKER` of them, unless ``count`` says how many. Large ones count
            as several.

    Raises:
        ConfigError: Dask is not installed, or no cluster answers.
    """
    if games == 0:
        yield None
        return
    if executor.kind == "dask":
        from calbench.pool.cluster import cluster  # an extra

        is_trusted = executor.is_trusted_network
        with cluster(
            count or processors(), executor.address, is_trusted_network=is_trusted
        ) as pool:
            yield pool
        return
    if count is None:
        count = processors()
        if games is not None:
            count = max(1, min(count, games // GAMES_PER_WORKER))
    if count == 1:
        yield None
        return
    with processes(count) as pool:
        yield pool
