"""A Dask cluster: one of this machine's processes, or one that others started."""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, CancelledError, Executor, Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calbench.code import PACKAGE_VERSION, code_digest
from calbench.console import say, silence
from calbench.endings import undone
from calbench.errors import ConfigError, WorkerError
from calbench.files import printable, shorten
from calbench.pool.processes import blocking, end_processes, safe_path
from calbench.pool.tasks import MOST_LOSSES, Pool

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10
"""How long a scheduler may take to answer, or to come back when it was lost, in seconds [C]."""

LOOK_S = 5.0
"""How often a local cluster is asked, while a task is waited for, whether it has workers [C]."""

WORKERLESS_S = 300.0
"""How long it may have none before it is given up, in seconds [C]."""

COUNTED_S = 1.0
"""How long a count of the workers holds, which come and go, in seconds [C]."""

CODE = code_digest()
"""The code of this process. A worker keeps what it has imported when the files are edited."""

ONE_THREAD = "a game needs a process of its own; start them with: dask worker --nthreads 1"

OTHER_CODE = "other code than this, or other libraries; install the same, and start them again"

GONE = "the Dask cluster is gone"

SETTINGS: dict[str, Any] = {
    "distributed.comm.timeouts.connect": CONNECT_S,
    "distributed.scheduler.allowed-failures": MOST_LOSSES - 2,
    "distributed.scheduler.work-stealing": False,  # our tasks are much alike
    # When a laptop wakes, all workers are late. One that died is seen by its connection.
    "distributed.scheduler.worker-ttl": None,
}
"""What we set of Dask's own settings; those of a cluster that is joined are its own."""


LOOPBACK = "127.0.0.1"

NO_PAGES: dict[str, Any] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
}
"""Settings of Dask's by which its ports show no pages, neither of tasks nor of numbers."""


@contextmanager
def cluster(count: int, address: str | None, *, is_trusted_network: bool = False) -> Iterator[Pool]:
    """Provide a Dask cluster.

    Args:
        count: worker processes of a local one.
        address: of the scheduler of one to join, such as ``tls://10.0.0.1:8786``; absent: a local
            one is started, with certificates for its lifetime, and ends with the context.
        is_trusted_network: whether a local one shows its dashboard, to whoever reaches its port.

    Raises:
        ConfigError: Dask is not installed, no scheduler answers, or the workers run several
            tasks in one process.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ConfigError(
            "executor=dask: Dask is not installed: pip install 'calbench[cluster]'"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error is one line of ours
    with dask.config.set(SETTINGS):
        if address is None:
            with (
                dask.config.set({} if is_trusted_network else NO_PAGES),
                _local(count, has_pages=is_trusted_network) as local,
                distributed.Client(local, set_as_default=False) as client,
            ):
                yield _named(_Local(client), "a local cluster", has_pages=is_trusted_network)
            return
        with _client(address) as client:
            _check(client, address)
            yield _named(_Cluster(client), address, has_pages=True)


@contextmanager
def _local(count: int, *, has_pages: bool) -> Iterator[Any]:
    """Start processes that Ctrl-C does not reach: this one answers it, and ends them."""
    from distributed import LocalCluster, Security

    try:
        security = Security.temporary()  # other users of this machine reach its ports, too
    except ImportError as error:
        raise ConfigError(
            "executor=dask: certificates need cryptography: pip install 'calbench[cluster]'"
        ) from error
    with safe_path():
        with blocking():
            local = LocalCluster(
                security=security,
                n_workers=count,
                threads_per_worker=1,
                memory_limit=None,
                scheduler_kwargs={"dashboard": has_pages, "dashboard_address": f"{LOOPBACK}:0"},
                silence_logs=logging.CRITICAL,
            )
        with undone(end_processes), local:
            yield local


def _client(address: str) -> "Client":
    from distributed import Client, Security

    # Without certificates Dask would end in a traceback of its own.
    tls = Security().get_connection_args("client")["ssl_context"]
    if address.startswith("tls:") and tls is None:
        raise ConfigError(
            f"executor.address={address}: TLS needs certificates; name them in Dask's "
            "configuration, distributed.comm.tls"
        )
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = shorten(printable(next(iter(str(error).splitlines()), "no answer")), 120)
        raise ConfigError(
            f"executor.address={printable(address)}: no Dask scheduler answers there ({reason}); "
            "start one with: dask scheduler"
        ) from error


def _check(client: "Client", address: str) -> None:
    """Refuse workers of other code, or that would play several games in one process.

    Raises:
        ConfigError: saying how to start them.
    """
    place = f"executor.address={printable(address)}: its workers"
    threads = max(client.nthreads().values(), default=1)
    if threads > 1:
        raise ConfigError(f"{place} have {threads} threads each; {ONE_THREAD}")
    try:
        found = set(client.run(_version).values())
    except ImportError as error:
        raise ConfigError(f"{place} cannot import calbench; install it there") from error
    if others := {version for version, _ in found} - {PACKAGE_VERSION}:
        raise ConfigError(f"{place} have calbench {min(others)}, and this is {PACKAGE_VERSION}")
    if {code for _, code in found} - {CODE}:
        raise ConfigError(f"{place} have {OTHER_CODE}")


def _version() -> tuple[str, str]:
    """Return the version of a worker, and its code."""
    return PACKAGE_VERSION, CODE


def _named(pool: "_Cluster", name: str, *, has_pages: bool) -> Pool:
    """Return a cluster, and say which it is."""
    count = f"{pool.size} workers" if pool.size else "no workers yet: waiting for the first"
    dashboard = f", dashboard {pool.client.dashboard_link}" if has_pages else ""
    say(f"Dask: {printable(name)}, {count}{dashboard}")
    return pool


class _Cluster(Pool):
    """The workers of a Dask cluster; Dask itself tries again what a lost worker had to do.

    It counts a loss for every task that a worker had, begun or not, and so gives up innocent ones.
    """

    losses_told = MOST_LOSSES - 1

    def __init__(self, client: "Client") -> None:
        self.client = client
        self._counted_at = time.monotonic()
        super().__init__(_Placing(client.get_executor(pure=False)), self._count())

    @property
    def size(self) -> int:
        """How many tasks its workers run at once, about now."""
        if time.monotonic() - self._counted_at > COUNTED_S:
            self._size = self._count()
            self._counted_at = time.monotonic()
        return self._size

    def _count(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except (OSError, RuntimeError) as error:
            raise WorkerError(GONE) from error

    def is_loss(self, error: BaseException | None) -> bool:
        """Whether Dask gave a task up: its workers died, perhaps of another that they had too."""
        from distributed import KilledWorker

        return isinstance(error, KilledWorker)

    def renew(self) -> bool:
        """Return that a lost task may be tried again: Dask itself starts workers in their place."""
        return True

    def told(self, error: Exception) -> Exception:
        """Return what became of a task in words, if the cluster is gone."""
        return WorkerError(GONE) if isinstance(error, CancelledError) else error

    def blamed(self, task: str) -> WorkerError:
        """Return what is said of a task whose worker was lost each time, at last with it alone."""
        return WorkerError(f"Dask workers died each time at the same task (out of memory?): {task}")


class _Local(_Cluster):
    """One of this machine, with as many workers as it began with.

    Dask starts another worker for one that dies, but for one that dies while it starts: such a
    place would stay empty, and without any worker tasks are waited for without an end.
    """

    def __init__(self, client: "Client") -> None:
        super().__init__(client)
        self._wanted = self.size

    def wait(self, futures: Collection[Future[Any]], return_when: str = ALL_COMPLETED) -> None:
        """Wait until tasks are done; meanwhile fill the places of workers that Dask gave up.

        Raises:
            WorkerError: there were none for :data:`WORKERLESS_S`.
        """
        seen_at = time.monotonic()
        while True:
            done, others = wait_for(futures, LOOK_S, return_when)
            if not others or (done and return_when == FIRST_COMPLETED):
                return
            count = self._count()
            if count < self._wanted:
                self.client.cluster.scale(self._wanted)
            if count:
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > WORKERLESS_S:
                raise WorkerError(
                    "all Dask workers of this machine are gone and none came back (out of memory?)"
                )


class _Placing(Executor):
    """Runs tasks in the folder that is the current one here: paths are relative to it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        try:
            return self._executor.submit(_placed, CODE, Path.cwd(), fn, *args, **kwargs)
        except (OSError, RuntimeError) as error:
            raise WorkerError(GONE) from error


def _placed(
    code: str, folder: Path, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Do a task in a folder, in a worker; the talk is left to who gave it.

    A worker may have come when the others had been looked at, and so is looked at with every task.

    Raises:
        WorkerError: there is no such folder where the worker is, it has other code, or it runs
            several tasks at once.
    """
    from distributed import get_worker

    silence()
    if code != CODE:
        raise WorkerError(f"a Dask worker has {OTHER_CODE}")
    if get_worker().state.nthreads > 1:
        raise WorkerError(f"a Dask worker has several threads; {ONE_THREAD}")
    try:
        os.chdir(folder)
    except OSError as error:
        raise WorkerError(
            f"a Dask worker does not see {printable(str(folder))}: all need the same files"
        ) from error
    return function(*args, **kwargs)
