"""``python -m calbench prove [--json] [PATH...]``: is what was computed what is published?"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calbench.release.proof import Proof

USAGE = """\
usage: python -m calbench prove [--json] [PATH...]

Compares what `dvc repro` computed in data/ with what is published in data/release: every suite,
every game and every table, and names each difference. Exit status 0: identical; 1: something
differs, or was not computed; 2: wrong use.

  PATH      compare these alone: files or folders below data, e.g. data/tables/uniform
  --json    everything, for programs"""

DATA = Path("data")
RELEASE = DATA / "release"
SITE = Path("build/site/index.html")

SHOWN = 20
"""Differences that are printed [C]; ``--json`` has all."""


def main(arguments: Sequence[str]) -> int:
    """Compare; return 0 if all is identical, 1 if not, 2 on a mistake."""
    if {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0
    from calbench.console import say_error
    from calbench.errors import CalbenchError, ConfigError
    from calbench.release.proof import Folders, prove

    try:
        names = [argument for argument in arguments if argument != "--json"]
        if unknown := [name for name in names if name.startswith("-")]:
            raise ConfigError(f"{unknown[0]}: is no option; see --help")
        proof = prove(Folders(DATA, RELEASE), [Path(name) for name in names])
    except CalbenchError as error:
        say_error(error)
        return 2
    _print_data(proof) if "--json" in arguments else _print(proof)
    return 0 if proof.is_identical else 1


def _print_data(proof: "Proof") -> None:
    import orjson

    print(orjson.dumps(proof.as_data(), option=orjson.OPT_INDENT_2).decode())


def _print(proof: "Proof") -> None:
    for difference in proof.differences[:SHOWN]:
        print(difference)
    if len(proof.differences) > SHOWN:
        print(f"... and {len(proof.differences) - SHOWN} more; --json has all")
    for name in proof.unchecked:
        print(f"{name}: not computed, so not compared")
    same = (
        f"{proof.tables} tables, {proof.games} games, {proof.suites} suites and {proof.files} "
        "other files"
    )
    if not proof.is_identical:
        parts = [f"{len(proof.differences)} differences"] if proof.differences else []
        parts += [f"{len(proof.unchecked)} not computed"] if proof.unchecked else []
        print(f"Not identical: {', '.join(parts)}. Identical: {same}")
        return
    print(f"Identical with what is published: {same}")
    print(f"Open {SITE}" if SITE.is_file() else "The site is not built: run `dvc repro`")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
