"""dvc.yaml: the dependencies of every stage, as its code imports them: ``make dependencies``.

A stage depends on its import closure, imports inside of functions included, and on the data that
its module says it reads (``READ``). No module of the package may use its public door,
``calbench/__init__``, which would reach everything; so that file is nobody's dependency.
"""

import ast
import importlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import grimp

from calbench.files import write_atomically
from stages import paths

PIPELINE = Path("dvc.yaml")

DOOR = "calbench"
ROOTS = ("calbench", "stages")

REGISTERS_ITS_MODULES = frozenset({"calbench.analysis.tables"})
"""Packages that import every module of theirs by name."""


def main(_: list[str]) -> None:
    """Write the dependencies of all stages into ``dvc.yaml``; nothing else there changes."""
    write_atomically(PIPELINE, with_dependencies(PIPELINE.read_text()).encode())


def with_dependencies(text: str) -> str:
    """Return a ``dvc.yaml`` with the dependencies of its stages."""
    graph, lines, stage = imports(), [], ""
    is_list = False
    for line in text.splitlines(keepends=True):
        if line.startswith("  ") and line[2] != " " and line.rstrip().endswith(":"):
            stage = line.strip().rstrip(":")
        is_list = is_list and line.startswith("      - ")
        if not is_list:
            lines.append(line)
        if line == "    deps:\n":
            is_list = True
            lines += [f"      - {name}\n" for name in dependencies(stage, graph)]
    return "".join(lines)


def imports() -> grimp.ImportGraph:
    """Return who imports whom, for types alone left out."""
    return grimp.build_graph(*ROOTS, cache_dir=None, exclude_type_checking_imports=True)


def dependencies(stage: str, graph: grimp.ImportGraph) -> list[str]:
    """Return the files and folders on which a stage depends."""
    code = _folded(files_of(closure(f"stages.{stage}", graph)))
    given = [str(paths.LIBRARIES), str(paths.part(stage))]
    read = importlib.import_module(f"stages.{stage}").READ
    return [*given[: {"libraries": 0, "compose": 1}.get(stage, 2)], *code, *map(str, read)]


def closure(module: str, graph: grimp.ImportGraph) -> set[str]:
    """Return a module, all that it imports, and the packages in which these are."""
    found: set[str] = set()
    left = {module}
    while left:
        name = left.pop()
        found.add(name)
        reached = set(graph.find_modules_directly_imported_by(name))
        if name in REGISTERS_ITS_MODULES:
            reached |= graph.find_descendants(name)
        if package := name.rpartition(".")[0]:
            reached.add(package)
        left |= reached - found - {DOOR}
    return found


def files_of(modules: Collection[str]) -> set[Path]:
    """Return the files of modules that do something, and the data that they read beside them."""
    found: dict[Path, str] = {}
    for module in modules:
        path = Path(*module.split("."))
        package = path / "__init__.py"
        file = package if package.is_file() else path.with_suffix(".py")
        text = file.read_text()
        if not _is_empty(text):  # without it the package is one all the same
            found[file] = text
    folders = {file.parent for file in found}
    return {*found, *(file for folder in folders for file in _data_of(folder, found))}


def _is_empty(text: str) -> bool:
    """Whether a module holds a docstring at most."""
    body = ast.parse(text).body
    return len(body) == (ast.get_docstring(ast.Module(body, [])) is not None)


def _data_of(package: Path, modules: Mapping[Path, str]) -> Iterator[Path]:
    """Yield what a package reads beside its modules: word lists, weights, texts, templates.

    A package that is more than a folder reads all of it, any other what a module of it names.
    """
    texts = [text for file, text in modules.items() if file.parent == package]
    is_whole = package / "__init__.py" in modules
    for path in sorted(package.iterdir()):
        is_data = path.suffix not in (".py", ".pyc") and not any(path.rglob("*.py"))
        if is_data and (is_whole or any(f'"{path.name}' in text for text in texts)):
            yield from _files_below(path) if path.is_dir() else [path]


def _folded(files: Collection[Path]) -> list[str]:
    """Return folders of which at least half the files are wanted, and the other files.

    So a stage may depend on a file that it does not use, and an edit of it reruns the stage for
    nothing. Naming each file alone would be a thousand entries, which DVC takes seconds for.
    """
    found: list[str] = []

    def fold(folder: Path) -> None:
        for path in sorted(folder.iterdir()):
            if path in files:
                found.append(path.as_posix())
            elif path.is_dir() and (wanted := [file for file in files if path in file.parents]):
                if 2 * len(wanted) >= len(list(_files_below(path))):
                    found.append(path.as_posix())
                else:
                    fold(path)

    for root in ROOTS:
        fold(Path(root))
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            yield path


if __name__ == "__main__":
    paths.answer(main)
