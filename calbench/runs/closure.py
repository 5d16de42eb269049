"""The files of the code that a module of the user's own runs, found without importing any of them.

A module's closure is what it imports, and what that imports, within its distribution. For a loose
file it is what lies below the folder in which it was found, and is of no distribution. Imports
inside functions count; data files, and modules that are imported by a name computed at run time,
do not.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import PathFinder, all_suffixes
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from calbench.code import PACKAGE

ENDINGS = (*(f"/__init__{suffix}" for suffix in all_suffixes()), *all_suffixes())
"""What a module's file may have behind the module's name."""


def closure(module: str) -> Mapping[str, Path]:
    """Return the files of a module and of all that it imports of its own, by the modules' names.

    Args:
        module: its dotted name; looked for as an import would be, then in the current folder.

    Returns:
        The files; none if the module cannot be found.
    """
    own = module.partition(".")[0]
    places = _places(own)
    found: dict[str, Path] = {}
    left, seen = [module], {""}
    while left:
        parts = left.pop().split(".")
        for name in (".".join(parts[: end + 1]) for end in range(len(parts))):
            if name in seen or not all(map(str.isidentifier, parts)):
                continue
            seen.add(name)
            file = _file(name, own, places)
            if file is not None and _is_own(parts[0], own):
                found[name] = file
                left += _imports(name, file)
    return found if module in found else {}


def _places(top: str) -> list[Path]:
    """Return where a top-level module is: its folder, several, or its file without the ending."""
    try:
        spec = find_spec(top) or PathFinder.find_spec(top, [str(Path.cwd())])
    except (ImportError, ValueError):  # ValueError: a module that has no place
        return []
    if spec is None or not (spec.submodule_search_locations or spec.has_location):
        return []
    folders = spec.submodule_search_locations
    return [Path(str(spec.origin)).parent / top] if folders is None else [*map(Path, folders)]


def _file(name: str, own: str, places: list[Path]) -> Path | None:
    """Return the file of a module: beside, or below, the top-level module it is looked for from."""
    top, *rest = name.split(".")
    for place in places:
        base = (place if top == own else place.parent / top).joinpath(*rest)
        for ending in ENDINGS:
            if (file := Path(f"{base}{ending}")).is_file():
                return file
    return None


def _is_own(top: str, own: str) -> bool:
    """Whether a module that was found is of the same distribution, or like it of none."""
    if top in {own, PACKAGE.name}:
        return top != PACKAGE.name
    return _distributions().get(top) == _distributions().get(own)


_distributions = cache(packages_distributions)
"""Returns the distributions of every top-level module, which takes a third of a second."""


def _imports(name: str, file: Path) -> Iterator[str]:
    """Yield what may be modules that a file imports; of a name in a module, nobody knows before."""
    if file.suffix != ".py":
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return  # it is no code of this Python, and cannot be imported
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            whole = ".".join([*above, *([node.module] if node.module else [])])
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)
