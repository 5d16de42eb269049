"""``python -m tests.golden.regenerate``: play the golden games again and keep their traces.

A golden trace changes only with the rules: the command refuses to replace one that was
played under the rules version of today.
"""

import sys
from pathlib import Path

import orjson

from calbench.domain.rules import RULES_VERSION
from calbench.files import write_atomically
from tests.golden.games import FOLDER, golden_bytes


class SameRulesError(Exception):
    """A golden trace differs although the rules version did not."""


def regenerate(folder: Path) -> list[str]:
    """Write the golden traces that differ; return their names.

    Raises:
        SameRulesError: before anything is written, if one of them exists already
            under the rules version of today.
    """
    played = golden_bytes()
    different = [name for name, data in played.items() if _kept(folder / name) != data]
    for name in different:
        kept = _kept(folder / name)
        if kept is not None and orjson.loads(kept)["rules_version"] == RULES_VERSION:
            raise SameRulesError(
                f"{name} differs under the same rules version {RULES_VERSION}: if play was "
                "changed on purpose, raise RULES_VERSION in calbench/domain/rules.py first"
            )
    for name in different:
        write_atomically(folder / name, played[name])
    return different


def _kept(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    try:
        written = regenerate(FOLDER)
    except SameRulesError as error:
        sys.exit(f"error: {error}")
    print("\n".join(written) if written else "every golden trace is up to date")
