"""Where tasks run: in this process, in others, or on the machines of a cluster.

Whoever has many tasks takes a :class:`Pool`, or ``None`` for this process, and calls
:func:`mapped` or :func:`finished`; the results do not depend on it. :func:`workers` provides what
a configuration asks for.
"""

from calbench.pool.executors import PROCESSES, ExecutorSpec, processors, workers
from calbench.pool.tasks import Pool, cut, finished, mapped

__all__ = [
    "PROCESSES",
    "ExecutorSpec",
    "Pool",
    "cut",
    "finished",
    "mapped",
    "processors",
    "workers",
]
