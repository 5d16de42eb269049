"""Runs a stage in a folder that holds nothing but its dependencies, and names what it misses."""

import os
import shutil
from collections.abc import Collection
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, run
from sys import executable
from typing import Any

import yaml

from tests.cli.runs import REPO, environment
from tests.stages.dependencies import closure, files_of, imports

RUN = """
import runpy, sys
sys.path[:] = [".", *(path for path in sys.path if path not in ("", {repo!r}))]
runpy.run_module("stages.{stage}", run_name="__main__", alter_sys=True)
"""
"""What ``python -m`` does, without a checkout that is installed beside the folder."""


def stages(tree: Path) -> dict[str, dict[str, Any]]:
    """Return the stages of a tree, in their order."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((tree / "dvc.yaml").read_text())["stages"]
    return found


def outputs(tree: Path, stage: str) -> list[str]:
    """Return the paths that a stage makes."""
    outs = stages(tree)[stage]["outs"]
    return [out if isinstance(out, str) else next(iter(out)) for out in outs]


def run_stage(tree: Path, stage: str) -> CompletedProcess[str]:
    """Run a stage in a folder."""
    code = RUN.format(repo=str(REPO), stage=stage)
    return run(
        [executable, "-c", code],
        cwd=tree,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def sandbox(tree: Path, stage: str, folder: Path, without: Collection[str] = ()) -> Path:
    """Put the dependencies of a stage into a new folder.

    Args:
        tree: where they are, and the stages before it have run.
        stage: its name.
        folder: is made.
        without: dependencies that are left out.
    """
    for name in stages(tree)[stage]["deps"]:
        if name in without:
            continue
        source, target = tree / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, copy_function=os.link, ignore=ignored)
        else:
            os.link(source, target)
    return folder


def made(tree: Path, outs: Collection[str]) -> dict[str, bytes]:
    """Return the bytes of outputs in a folder, by path."""
    found: dict[str, bytes] = {}
    for out in outs:
        path = tree / out
        files = [path] if path.is_file() else (file for file in path.rglob("*") if file.is_file())
        found |= {file.relative_to(tree).as_posix(): file.read_bytes() for file in files}
    return found


def missing_code(folder: Path, stage: str) -> list[Path]:
    """Return the files of a stage's import closure that a folder does not hold."""
    return sorted(path for path in _code_of(stage) if not (folder / path).exists())


@cache
def _code_of(stage: str) -> set[Path]:
    return files_of(closure(f"stages.{stage}", imports()))
