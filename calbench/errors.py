"""Errors that a user can correct: one line that says what, where and what to do [C].

An illegal move is a value in the game, a broken file or configuration one of these exceptions,
and a provider's outage is recorded on the trace. To catch all of them:

>>> try:
...     calbench.read_trace("none.json")
... except CalbenchError as error:
...     print(error)
none.json: cannot be read (No such file or directory)
"""

from collections.abc import Sequence
from typing import Literal, get_args


class CalbenchError(Exception):
    """Base of every error that a command reports as one line, without a traceback."""


class ConfigError(CalbenchError):
    """A configuration that does not fit: unknown key, unknown team, impossible value.

    >>> calbench.play_game(scenario, "imap", limits={"max_turns_per_round": 0})
    Traceback (most recent call last):
    calbench.errors.ConfigError: limits: max_turns_per_round: Input should be ...
    """


class FileError(CalbenchError):
    """A file that does not fit, with its place.

    >>> calbench.read_run("none")
    Traceback (most recent call last):
    calbench.errors.FileError: none: there is no such folder; name the folder of a run
    """


class OutputError(CalbenchError):
    """An output folder that cannot be used, or that holds something else.

    >>> calbench.write_trace(".", trace)
    Traceback (most recent call last):
    calbench.errors.OutputError: .: cannot be written (...); choose another folder
    """


class GenerationError(CalbenchError):
    """Parameters from which no scenario can be made; only commands raise it."""


class ReplayError(CalbenchError):
    """A trace that does not replay: names the event and the difference.

    >>> try:
    ...     calbench.verify(trace.model_copy(update={"rules_version": 99}))
    ... except ReplayError as error:
    ...     print(error)
    played under rules version 99; this package plays 1
    """


class ReplayMissError(CalbenchError):
    """A missing recorded reply: names game, turn and the difference; only commands raise it."""


class WorkerError(CalbenchError):
    """Workers that are gone: names their last task, or the cluster; only commands raise it."""


class StoppedError(CalbenchError):
    """The user stopped the run, and no further call is made; only commands raise it."""


class PreflightError(CalbenchError):
    """Models that cannot be asked, a line for each, before any game; only commands raise it."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("; ".join(lines))
        self.lines = tuple(lines)


class AgentError(CalbenchError):
    """An error of the user's code: it raised, or its answer is invalid.

    If it raised, the cause is that exception, with a traceback that begins in the user's code:
    commands print it above the line.

    >>> calbench.play_game(scenario, [lambda messages: 3] * 5)
    Traceback (most recent call last):
    calbench.errors.AgentError: ... <lambda> returned int; return the text of the reply

    Args:
        place: where in the run.
        what: what happened there.
    """

    def __init__(self, place: str, what: str) -> None:
        super().__init__(place, what)
        self.place = place
        self.what = what

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"

    def within(self, place: str) -> "AgentError":
        """Return the same error in a wider place; to be raised from the same cause."""
        return AgentError(f"{place}, {self.place}", self.what)

    def followed_by(self, sentence: str) -> "AgentError":
        """Return the same error with a sentence behind it; to be raised from the same cause."""
        return AgentError(self.place, f"{self.what}. {sentence}")


class UnavailableError(Exception):
    """A model that cannot be asked: the game ends, is recorded and not scored.

    ``reason`` says whether the provider failed or the run's budget is spent; ``detail`` is
    shown and recorded, so it contains neither key nor address. ``status`` is the provider's HTTP
    status, if it gave one.

    >>> class Asleep:
    ...     def act(self, observation):
    ...         raise UnavailableError("provider_fault", "the model is asleep")
    >>> calbench.play_game(scenario, [Asleep] * 5).halt.detail
    'the model is asleep'
    """

    def __init__(self, reason: "Halt", detail: str, status: int | None = None) -> None:
        if reason not in (known := get_args(Halt)):  # a trace holds no other
            raise ValueError(f"reason: {reason!r:.60}; give {' or '.join(known)}")
        super().__init__(detail)
        self.reason: Halt = reason
        self.detail = str(detail)  # it may be given an exception
        self.status = status


Halt = Literal["provider_fault", "budget_stop"]
"""What can end a game before its last round."""


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the known names nearest to an unknown one, the best first."""
    from difflib import get_close_matches

    return [name] if name in known else get_close_matches(name, known)


def meant(name: str, known: Sequence[str]) -> str:
    """Ask whether the known names nearest to an unknown one were meant; empty if none is near."""
    near = nearest(name, known)
    return f"did you mean {' or '.join(near)}?" if near else ""


def among(name: str, known: Sequence[str]) -> str:
    """Say which known names are nearest to an unknown one, or all of them if none is near."""
    return meant(name, known) or f"known are {', '.join(known)}"
