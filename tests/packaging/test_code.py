"""Facts are kept as long as the code that measures is the same."""

from pathlib import Path

import grimp
import pytest

from calbench.code import MEASURING, PACKAGE, code_digest

SAYS_ONLY = ("bars", "code", "console", "endings", "errors", "pool", "version")
"""Modules and packages that show, report or run the work of others."""


def test_all_code_that_measures_counts() -> None:
    graph = grimp.build_graph("calbench")
    used = graph.find_upstream_modules("calbench.analysis.scoring")
    paths = {name.removeprefix("calbench.").replace(".", "/") for name in used}
    counted = {part.removesuffix(".py") for part in (*MEASURING, *SAYS_ONLY)}
    missing = {
        path
        for path in paths
        if path not in counted and not any(path.startswith(f"{part}/") for part in counted)
    }
    assert missing == set()


def test_whole_package_counts_unless_parts_are_named() -> None:
    assert len({code_digest(), code_digest(MEASURING), code_digest(["facts"])}) == 3
    assert code_digest(["facts"]) == code_digest(["facts", "facts/storage.py"])


@pytest.mark.parametrize("part", MEASURING)
def test_every_part_exists(part: str) -> None:
    assert (PACKAGE / part).exists()


def test_any_edit_and_any_name_counts(tmp_path: Path) -> None:
    files = (("a", "one.py", "x = 1"), ("b", "one.py", "x = 2"), ("c", "two.py", "x = 2"))
    for folder, name, text in files:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
        (tmp_path / folder / "one.pyc").write_text(folder)
    digests = [code_digest(package=tmp_path / folder) for folder, _, _ in files]
    assert len(set(digests)) == 3
    (tmp_path / "a" / "one.pyc").unlink()
    assert code_digest(package=tmp_path / "a") == digests[0]
