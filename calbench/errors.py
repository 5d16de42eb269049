"""What can go wrong through a user's hand: one line that says what, where and what to do.

Three failures have three shapes (see the contributing page): an illegal move is a
value in the game, a broken file or configuration is one of these exceptions, and a
provider's outage is recorded on the trace.
"""


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
