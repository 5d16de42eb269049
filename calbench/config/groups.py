"""The files of ``conf/``: what can be chosen from it, by name.

Imports no library, for ``--help`` and the shell's completion.
"""

import re
from itertools import dropwhile, takewhile
from pathlib import Path

from calbench.tree import CONF

PRICES = CONF / "prices.yaml"
"""What models cost, with source and date."""

GROUPS = (
    "experiment",
    "suite",
    "scenario",
    "teams",
    "protocol",
    "model",
    "channels",
    "limits",
    "measure",
    "analysis",
    "executor",
)
"""Groups from which a command line chooses a file."""


# e.g. '  about: "Nobody says anything [C]."'; not "  about: Nobody says anything [C]."
ABOUT = re.compile(r'^  about: "(.*)"$', re.MULTILINE)
"""Of a team, in one line and double quotes."""

# e.g. "Nobody talks [C]. All move."; not "lmax 2.5 and theta"
FIRST = re.compile(r"(?<=[.\]])\s+(?=[A-Z])")
"""Behind the first sentence."""


def known_names(group: str, config_dir: Path | None = None) -> list[str]:
    """Return the names in one group of ``conf/``, and of another such folder, sorted."""
    folders = [CONF, *([config_dir] if config_dir else [])]
    found = (path for each in folders for path in (each / group).glob("*.yaml"))
    return sorted({path.stem for path in found if path.is_file()})


def described(group: str) -> dict[str, str]:
    """Return the names in one group, each with the first sentence of what its file says of it.

    A team says it in its key ``about``, the others in the comment that their files begin with.
    """
    return {name: _first_sentence(CONF / group / f"{name}.yaml") for name in known_names(group)}


def _first_sentence(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    about = ABOUT.search(text)
    lines = dropwhile(lambda line: line.startswith("# @"), text.splitlines())  # Hydra's directives
    comment = " ".join(x.strip("# ") for x in takewhile(lambda line: line[:1] == "#", lines))
    return FIRST.split(about[1] if about else comment, maxsplit=1)[0].rstrip(".")
