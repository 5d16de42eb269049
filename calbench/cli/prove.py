"""``calbench prove``: whether the computed results are the published ones."""

from pathlib import Path

import orjson

from calbench.cli.status import Status
from calbench.cli.words import Words
from calbench.console import tell, verdict
from calbench.errors import ConfigError
from calbench.release.proof import Folders, Proof, prove

DATA = Path("data")
RELEASE = DATA / "release"
SITE = Path("build/site/index.html")

SHOWN = 20
"""Differences that are printed [C]; ``--json`` has all."""


def main(words: Words, *, as_json: bool) -> int:
    """Compare everything, or what is below some paths; print the differences."""
    if not RELEASE.is_dir():
        raise ConfigError(
            f"{RELEASE}: there is no such folder; start in a checkout, after `dvc repro`"
        )
    proof = prove(Folders(DATA, RELEASE), words.paths)
    if as_json:
        print(orjson.dumps(proof.as_data(), option=orjson.OPT_INDENT_2).decode())
    else:
        _tell(proof)
    verdict(_verdict(proof), is_good=proof.is_identical, is_beside=as_json)
    return Status.DONE if proof.is_identical else Status.DIFFERENT


def _tell(proof: Proof) -> None:
    for difference in proof.differences[:SHOWN]:
        tell(str(difference))
    if len(proof.differences) > SHOWN:
        tell(f"... and {len(proof.differences) - SHOWN} more; --json has all")
    for name in proof.unchecked:
        tell(f"{name}: not computed, so not compared")
    if proof.is_identical:
        tell(f"Open {SITE}" if SITE.is_file() else "The site is not built: run `dvc repro`")


def _verdict(proof: Proof) -> str:
    """Return how much is identical, and how much is not."""
    same = (
        f"{proof.tables} tables, {proof.games} games, {proof.suites} suites and {proof.files} "
        "other files"
    )
    if proof.is_identical:
        return f"Identical with what is published: {same}"
    parts = [f"{len(proof.differences)} differences"] if proof.differences else []
    parts += [f"{len(proof.unchecked)} not computed"] if proof.unchecked else []
    return f"Not identical: {', '.join(parts)}. Identical: {same}"
