"""CalBench: agents with private calendars agree on meetings by talking.

The public Python interface is small: :func:`load_suite` reads scenarios,
:func:`play_game` plays one of them and returns its trace, :func:`play` asks you for every
turn instead, :func:`score_game` measures a trace. :func:`read_results` and :func:`read_run` give
published numbers, and those of a run, as pandas frames. Everything else may change between
versions.
"""

from calbench.code import PACKAGE_VERSION

__version__ = PACKAGE_VERSION

TYPE_CHECKING = False  # type checkers read it as true; `typing` would be loaded for nothing
if TYPE_CHECKING:
    from calbench.api import load_suite, play, play_game, read_results, read_run, score_game

__all__ = [
    "__version__",
    "load_suite",
    "play",
    "play_game",
    "read_results",
    "read_run",
    "score_game",
]


def __getattr__(name: str) -> object:
    """Load the public functions on first use, so that ``--help`` stays quick."""
    if name in __all__:
        from calbench import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
