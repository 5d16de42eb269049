"""``calbench prove``: whether the computed results are the published ones."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from calbench.cli.status import Status
from calbench.errors import ConfigError
from calbench.release.proof import Folders, Proof, prove

DATA = Path("data")
RELEASE = DATA / "release"
SITE = Path("build/site/index.html")

SHOWN = 20
"""Differences that are printed [C]; ``--json`` has all."""


def main(paths: Sequence[Path], *, as_json: bool) -> int:
    """Compare everything, or what is below some paths; print the differences."""
    if not RELEASE.is_dir():
        raise ConfigError(
            f"{RELEASE}: there is no such folder; start in a checkout, after `dvc repro`"
        )
    proof = prove(Folders(DATA, RELEASE), paths)
    if as_json:
        print(orjson.dumps(proof.as_data(), option=orjson.OPT_INDENT_2).decode())
    else:
        _print(proof)
    return Status.DONE if proof.is_identical else Status.DIFFERENT


def _print(proof: Proof) -> None:
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
