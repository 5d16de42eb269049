"""``python -m tests.golden.prompts.regenerate``: write the golden messages that are missing.

An existing version never changes, so a message that differs is not replaced.
"""

import sys
from pathlib import Path

from calbench.files import write_atomically
from tests.golden.prompts.samples import FOLDER, golden_files


class SameVersionError(Exception):
    """A golden message differs although the prompt version did not."""


def regenerate(folder: Path) -> list[Path]:
    """Write the golden messages that are missing; return their paths.

    Raises:
        SameVersionError: before anything is written, if an existing one differs.
    """
    built = golden_files()
    for path, data in built.items():
        if (folder / path).exists() and (folder / path).read_bytes() != data:
            raise SameVersionError(
                f"{path} differs: a prompt version never changes; leave it as it was and put "
                "the new wording into a folder of its own in calbench/agents/prompts"
            )
    missing = [path for path in built if not (folder / path).exists()]
    for path in missing:
        write_atomically(folder / path, built[path])
    return missing


if __name__ == "__main__":
    try:
        written = regenerate(FOLDER)
    except SameVersionError as error:
        sys.exit(f"error: {error}")
    print("\n".join(map(str, written)) if written else "every golden message is up to date")
