"""Which workers a configuration asks for, and how many."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from calbench.pool.processes import processes
from calbench.pool.tasks import Pool

GAMES_PER_WORKER = 250
"""Fewest games for which a further process is started unless a number is given [C].

So many take about as long as starting it.
"""


ADDRESS = re.compile(
    r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[\w-]{1,63}(\.[\w-]{1,63})*):\d{1,5}", re.ASCII
)
"""An address of Dask's, with the name of a host or its number."""


class ExecutorSpec(BaseModel):
    """Where tasks run (``conf/executor``).

    Attributes:
        kind: ``processes`` of this machine, or a cluster of ``dask``.
        address: of the scheduler of a Dask cluster to join; absent: a local one is started.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: Literal["processes", "dask"] = "processes"
    address: str | None = None

    @model_validator(mode="after")
    def _address_is_of_a_cluster(self) -> Self:
        """Refuse what Dask would only refuse after a while, in its own words."""
        if self.address is not None and self.kind != "dask":
            raise PydanticCustomError("address", "an address is one of Dask: add executor=dask")
        if self.address is not None and not ADDRESS.fullmatch(self.address):
            raise PydanticCustomError("address", "an address is written tcp://HOST:PORT")
        return self


PROCESSES = ExecutorSpec()
"""Processes of this machine."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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

        with cluster(count or processors(), executor.address) as pool:
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
