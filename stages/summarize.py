"""Tables of every experiment -> data/tables/summary: what stands in several of them together.

Its arguments say which experiments are for what, ``compared=uniform,varied scaled=scale``.
"""

import shutil

from calbench.analysis import reproduction  # noqa: F401 - declares its tables
from calbench.analysis.summary import Runs, RunTables, write_summary
from calbench.errors import ConfigError
from stages import paths

ROLES = ("compared", "browsed", "scaled", "drawn")


def runs(arguments: list[str]) -> Runs:
    """Return the tables of the experiments named.

    Raises:
        ConfigError: an argument is none of the roles.
    """
    given = dict(argument.split("=", 1) for argument in arguments)
    if unknown := given.keys() - set(ROLES):
        raise ConfigError(
            f"{min(unknown)}: is no role of experiments; known are {', '.join(ROLES)}"
        )
    found = {
        role: [
            RunTables(name, paths.tables(name)) for name in given.get(role, "").split(",") if name
        ]
        for role in ROLES
    }
    return Runs(**found, published=paths.DATA / "published")


def main(arguments: list[str]) -> None:
    """Write the tables over several experiments; nothing else stays in their folder."""
    folder = paths.tables("summary")
    shutil.rmtree(folder, ignore_errors=True)
    write_summary(runs(arguments), folder)


if __name__ == "__main__":
    paths.answer(main)
