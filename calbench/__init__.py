"""CalBench: agents with private calendars agree on meetings by talking.

A first look::

    import calbench

    scenario = calbench.load_suite("varied")[0]
    trace = calbench.play_game(scenario, "imap")
    print(calbench.score_game(trace).excess_cost)

Here are the functions; :mod:`calbench.types` has what they take and return and what a player or a
protocol is made of, :mod:`calbench.errors` what they raise, each error one line that says what to
do. Everything else may change between versions.

Play: ``suites``, ``teams``, ``players``, ``load_suite``, ``play_game``, ``play``, ``evaluate``.
Games: ``score_game``, ``read_trace``, ``write_trace``, ``verify``.
Results: ``read_run``, ``read_results``, ``compare``, ``rescore``, ``plot_plane``,
``plot_intervals``.

``evaluate``, ``compare``, ``rescore`` and both plots are provisional in this version: their
arguments may still change in the next.
"""

from calbench.code import PACKAGE_VERSION

__version__ = PACKAGE_VERSION

TYPE_CHECKING = False  # type checkers read it as true; `typing` would be loaded for nothing
if TYPE_CHECKING:
    from calbench.api.games import load_suite, play, play_game, score_game
    from calbench.api.results import (
        compare,
        evaluate,
        players,
        plot_intervals,
        plot_plane,
        read_results,
        read_run,
        read_trace,
        rescore,
        suites,
        teams,
        verify,
        write_trace,
    )

__all__ = [
    "__version__",
    "compare",
    "evaluate",
    "load_suite",
    "play",
    "play_game",
    "players",
    "plot_intervals",
    "plot_plane",
    "read_results",
    "read_run",
    "read_trace",
    "rescore",
    "score_game",
    "suites",
    "teams",
    "verify",
    "write_trace",
]


def __getattr__(name: str) -> object:
    """Load the public functions on first use, so that ``--help`` stays quick."""
    if name in __all__:
        from calbench.api import games

        if hasattr(games, name):  # those of results load more
            return getattr(games, name)
        from calbench.api import results

        return getattr(results, name)
    if name == "errors":
        import calbench.errors as submodule

        return submodule
    if name == "types":
        import calbench.types

        return calbench.types
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, those that are not loaded yet among them."""
    return [*__all__, "errors", "types"]
