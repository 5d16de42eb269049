"""Errors that a user can correct: one line that says what, where and what to do.

An illegal move is a value in the game, a broken file or configuration one of these exceptions,
and a provider's outage is recorded on the trace.
"""

from collections.abc import Sequence
from typing import Literal


class CalbenchError(Exception):
    """Base of every error that a command reports as one line, without a traceback."""


class ConfigError(CalbenchError):
    """A configuration that does not fit: unknown key, unknown team, impossible value."""


class FileError(CalbenchError):
    """A file that does not fit, with its place."""


class OutputError(CalbenchError):
    """An output folder that cannot be used, or that holds something else."""


class GenerationError(CalbenchError):
    """Parameters from which no scenario can be made."""


class ReplayError(CalbenchError):
    """A trace that does not replay: names the event and the difference."""


class ReplayMissError(CalbenchError):
    """A missing recorded reply: names the model, game and turn, and the difference."""


class WorkerError(CalbenchError):
    """Workers that are gone: names the task that ended them, or the cluster."""


class StoppedError(CalbenchError):
    """The user stopped the run: no further call is made."""


class PreflightError(CalbenchError):
    """Models that cannot be asked, found before the first game: a line for each of them."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("; ".join(lines))
        self.lines = tuple(lines)


class AgentError(CalbenchError):
    """An error of the user's code: it raised, or its answer is invalid.

    If it raised, the cause is that exception, with a traceback that begins in the user's code:
    commands print it above the line.

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
    """

    def __init__(self, reason: "Halt", detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.reason: Halt = reason
        self.detail = detail
        self.status = status


Halt = Literal["provider_fault", "budget_stop"]
"""What can end a game before its last round."""
