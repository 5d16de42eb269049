"""CalBench: agents with private calendars agree on meetings by talking.

The public Python interface is small: :func:`load_suite` reads scenarios,
:func:`play_game` plays one of them and returns its trace, :func:`play` asks you for every
turn instead, :func:`score_game` measures a trace. :func:`read_results` and :func:`read_run` give
published numbers, and those of a run, as pandas frames. Everything else may change between
versions.
"""

import os

from calbench.version import PACKAGE_VERSION

__version__ = PACKAGE_VERSION

# Libraries of the default path must neither call home nor chatter.
for _name, _value in {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOG": "ERROR",
    "NO_MKDOCS_2_WARNING": "1",
    "HF_HUB_OFFLINE": "1",
    "DVC_NO_ANALYTICS": "1",
}.items():
    os.environ.setdefault(_name, _value)

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
