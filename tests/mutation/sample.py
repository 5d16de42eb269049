"""How many of a sample of mutants the tests of a part of the package notice.

Cosmic Ray makes each mutant, a single change to a copy of the tree, and runs the tests on it; here
stands which mutants. A mutant that no test fails on survives: either a test is missing, or it is
no change (a wider buffer, say). Run it with ``make mutants``; CONTRIBUTING says what to install.
"""

import argparse
import ast
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import groupby
from multiprocessing import current_process
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkResult

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants"
"""Copies of the tree, one a process: mutants are written over the code."""

COPIED = (
    *("calbench", "tests", "conf", "site", "stages", "pyproject.toml", "dvc.yaml"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *("data/audit_sample", "data/label_banks", "data/published", "data/release", "data/suites"),
)


class Part(NamedTuple):
    """A part of the package, and the tests that must notice its mutants.

    Attributes:
        tests_by_folder: folders of tests, by the folder of the package that they test.
        marks: which of their tests run, as pytest selects them.
    """

    tests_by_folder: Mapping[str, Sequence[str]]
    marks: str = "not heavy and not slow and not local_llm"


_TABLES = ("tests/facts", "tests/stats", "tests/analysis")

PARTS = {
    "tables": Part(
        dict.fromkeys(("calbench/facts", "calbench/stats", "calbench/analysis/tables"), _TABLES)
    ),
    "pages": Part(
        {"calbench/report": ("tests/report",), "calbench/cli": ("tests/cli",)}, "not slow"
    ),
}
"""By name. The name is the seed of its sample: places of the code are ranked by it [C]."""

TIMEOUT = 600.0
"""Seconds after which a mutant counts as noticed: it never ends [C]."""

LEFT_OUT = ("core/RemoveDecorator", "core/NoOp")
"""Operators: without its decorator a function is no table, or computes once more."""


class Place(NamedTuple):
    """Where in the code something can be changed."""

    module: str
    start: tuple[int, int]
    end: tuple[int, int]


def place_of(mutation: MutationSpec) -> Place:
    return Place(str(mutation.module_path), mutation.start_pos, mutation.end_pos)


def modules(part: str) -> list[Path]:
    found = (path for folder in PARTS[part].tests_by_folder for path in Path(folder).rglob("*.py"))
    return sorted(path for path in found if path.name != "__init__.py")


def inert(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield from where to where stands what no test can notice.

    Types, how values are kept, and that two lists are of one length.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        found += [each for each in getattr(node, "decorator_list", []) if is_keeping(each)]
        if isinstance(node, ast.keyword) and node.arg == "strict":
            found.append(node.value)
        for each in found:
            if isinstance(each, ast.expr):
                end = (each.end_lineno or each.lineno, each.end_col_offset or each.col_offset)
                yield (each.lineno, each.col_offset), end


def is_keeping(decorator: ast.expr) -> bool:
    """Whether a decorator freezes values or remembers them."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(named, ast.Name) and named.id in {"dataclass", "lru_cache", "cached_property"}


def mutations(part: str) -> Iterator[MutationSpec]:
    """Yield every mutation of a part of the code."""
    for path in modules(part):
        left_out = list(inert(path))
        for item in _all_work_items([path], {}):
            (mutation,) = item.mutations
            is_inert = any(low <= mutation.start_pos < high for low, high in left_out)
            if not is_inert and mutation.operator_name not in LEFT_OUT:
                yield mutation


def rank(part: str, *names: object) -> str:
    return sha256(repr((part, *names)).encode()).hexdigest()


def sample(part: str, size: int) -> list[MutationSpec]:
    """Return one mutation at each of so many places of a part.

    Places are ranked by what stands there, so that a change elsewhere leaves them in the sample.
    """
    by_place = {
        place: sorted(found, key=lambda m: rank(part, m.operator_name, m.definition_name))
        for place, found in groupby(sorted(mutations(part), key=place_of), key=place_of)
    }
    lines = {str(path): path.read_text().splitlines() for path in modules(part)}

    def order(place: Place) -> tuple[str, Place]:
        text = lines[place.module][place.start[0] - 1].strip()
        return rank(part, place.module, text, place.start[1]), place

    chosen = sorted(by_place, key=order)[:size]
    return [by_place[place][0] for place in sorted(chosen)]


def tests_of(part: str, module: Path) -> list[str]:
    """Return the files of tests, those first that are most likely to notice."""
    folders = next(
        tests
        for folder, tests in PARTS[part].tests_by_folder.items()
        if module.is_relative_to(folder)
    )
    found = sorted(path for folder in folders for path in Path(folder).rglob("test_*.py"))
    parts = set(module.with_suffix("").parts) - {"calbench"}

    def distance(path: Path) -> tuple[int, bool]:
        is_own = path.stem.removeprefix("test_") in {module.stem, module.stem.rstrip("s")}
        return -len(parts & set(path.parts)), not is_own

    return [str(path) for path in sorted(found, key=lambda p: (distance(p)[1], distance(p)[0]))]


def prepare() -> None:
    """Make a copy of the tree for this process and go there."""
    own = TREE / current_process().name
    shutil.rmtree(own, ignore_errors=True)
    for name in COPIED:
        source, target = ROOT / name, own / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    os.chdir(own)


def command(part: str, module: Path) -> str:
    tests = " ".join(tests_of(part, module))
    marks = PARTS[part].marks
    return f"{sys.executable} -m pytest -x -q -n 0 -p no:cacheprovider -m '{marks}' {tests}"


def tried(part: str, mutation: MutationSpec) -> WorkResult:
    """Run the tests on a mutant."""
    return mutate_and_test([mutation], command(part, mutation.module_path), TIMEOUT)


def unchanged(part: str) -> str | None:
    """Run the tests on the code as it is; return what they say if one fails."""
    outcome, output = run_tests(command(part, modules(part)[0]), TIMEOUT)
    return None if outcome is TestOutcome.SURVIVED else str(output)


def report(mutation: MutationSpec, result: WorkResult) -> str:
    line, _ = mutation.start_pos
    name = mutation.operator_name.removeprefix("core/")
    outcome = "none" if result.test_outcome is None else result.test_outcome.value
    return f"{outcome:11} {mutation.module_path}:{line} {name} {mutation.occurrence}"


def changed(diff: str | None) -> Iterable[str]:
    lines = (diff or "").splitlines()
    return [line for line in lines if line[:1] in "+-" and line[:3] not in {"+++", "---"}]


def main(arguments: Sequence[str] | None = None) -> None:
    """Try a sample of mutants and print which survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", choices=PARTS, default="tables", help="part of the package")
    parser.add_argument("--size", type=int, default=100, help="mutants; 100 unless given")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="only name the mutants")
    given = parser.parse_args(arguments)
    os.chdir(ROOT)
    chosen = sample(given.of, given.size)
    if given.list:
        for mutation in chosen:
            print(report(mutation, WorkResult("no-test")))
        return
    survivors = 0
    with ProcessPoolExecutor(given.processes, initializer=prepare) as executor:
        if problem := executor.submit(unchanged, given.of).result():
            sys.exit(f"the tests fail without any mutant:\n{problem}")
        for mutation, result in zip(
            chosen, executor.map(partial(tried, given.of), chosen), strict=True
        ):
            print(report(mutation, result), flush=True)
            if result.test_outcome is not TestOutcome.KILLED:
                survivors += 1
                print(*changed(result.diff), sep="\n", flush=True)
    print(f"killed {len(chosen) - survivors} of {len(chosen)}, survived {survivors}")


if __name__ == "__main__":
    main()
