"""Runs a stage in a folder that holds nothing but its dependencies, and names what it misses."""

import ast
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, run
from sys import executable
from typing import Any

import yaml

from tests.cli.runs import REPO, environment

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


def missing_modules(folder: Path, stage: str) -> list[str]:
    """Return what a stage imports of ours, here or in a function, and the folder does not hold."""
    found: set[str] = set()
    missing, left = set(), {f"stages.{stage}"}
    while left:
        name = left.pop()
        found.add(name)
        file = file_of(name)
        body = parsed(file)
        if not (folder / file).exists() and not is_docstring(body):
            missing.add(name)
        if "iter_modules(__path__)" in (REPO / file).read_text():
            below = (REPO / file).parent.iterdir()
            left |= {f"{name}.{each.stem}" for each in below if is_module(f"{name}.{each.stem}")}
        for module, part in imported_names(body):
            left |= {each for each in packages_of(f"{module}.{part}") if is_module(each)}
        left -= found
    return sorted(missing)


@cache
def parsed(file: Path) -> list[ast.stmt]:
    """Return the statements of a module of the repository."""
    return ast.parse((REPO / file).read_text()).body


def file_of(module: str) -> Path:
    path = Path(*module.split("."))
    package = path / "__init__.py"
    return package if (REPO / package).exists() else path.with_suffix(".py")


def is_module(name: str) -> bool:
    """Whether a name is a module of ours, other than the public door."""
    parts = name.split(".")
    is_ours = parts[0] == "stages" or (parts[0] == "calbench" and len(parts) > 1)
    return is_ours and parts[-1] != "__init__" and (REPO / file_of(name)).exists()


def is_docstring(body: Sequence[ast.stmt]) -> bool:
    """Whether a module does nothing: without it its folder is a package all the same."""
    return [type(each) for each in body] in ([], [ast.Expr])


def packages_of(name: str) -> list[str]:
    """Return a dotted name and all in which it is."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def imported_names(body: Collection[ast.stmt]) -> Iterator[tuple[str, str | None]]:
    """Yield what statements import, those for types alone left out."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        for field in ("body", "orelse", "finalbody", "handlers"):
            yield from imported_names(getattr(node, field, []))
