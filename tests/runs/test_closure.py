"""What counts as a module's own code: what it imports of its distribution, found by reading."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calbench.runs import seats
from calbench.runs.seats import closure
from tests.effort import examples

Write = Callable[[dict[str, str]], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write files of a folder that is searched for modules."""
    monkeypatch.syspath_prepend(str(tmp_path))
    seats._distributions.cache_clear()

    def put(files: dict[str, str]) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        importlib.invalidate_caches()

    yield put
    seats._distributions.cache_clear()


def test_every_way_to_import_is_followed_and_nothing_is_run(write: Write) -> None:
    fails = "raise AssertionError('imported')\n"
    write(
        {
            "own/__init__.py": fails + "from . import by_package",
            "own/by_package.py": "",
            "own/agent.py": fails
            + "import json, numpy\nfrom .talk.words import said\nimport loose",
            "own/talk/__init__.py": "from .. import sideways as there, no_module",
            "own/talk/words.py": "def said():\n    from own import inner\n    import own.as_name",
            "own/sideways.py": "import calbench.domain.ids\nfrom own.agent import *",
            "own/inner.py": "from own.spaced.deep import value",
            "own/spaced/deep.py": "value = 1",
            "own/as_name.py": "def broken(:",
            "loose.py": "",
            "own/beside.py": "",
            "own/words.txt": "",
            "json.py": "",
        }
    )
    names = ["by_package", "agent", "talk", "talk.words", "sideways", "inner", "spaced.deep"]
    expected = {"own", *(f"own.{name}" for name in [*names, "as_name"]), "loose", "json"}
    assert set(closure("own.agent")) == expected
    assert not {name for name in sys.modules if name.partition(".")[0] in {"own", "loose"}}


def test_installed_module_has_the_packages_of_its_distribution_alone(write: Write) -> None:
    for name, tops in {"one-1.0": "first\nsecond\n", "two-1.0": "third\n"}.items():
        write({f"{name}.dist-info/METADATA": f"Name: {name[:3]}\nVersion: 1.0\n"})
        write({f"{name}.dist-info/top_level.txt": tops})
    write(
        {
            "first/__init__.py": "import second, third, unowned",
            "second.py": "from first import part",
            "first/part.py": "",
            "third.py": "",
            "unowned.py": "import third, other",
            "other.py": "",
        }
    )
    assert set(closure("first")) == {"first", "first.part", "second"}
    assert set(closure("unowned")) == {"unowned", "other"}


@pytest.mark.parametrize("name", ["no_such", "own.no_such", "", ".own", "own..x", "../own", "sys"])
def test_what_is_not_there_or_no_module_has_no_files(write: Write, name: str) -> None:
    write({"own/__init__.py": "", "x.py": ""})
    assert closure(name) == {}


def test_current_folder_is_searched_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine_alone", "numpy"):
        (tmp_path / f"{name}.py").touch()
    monkeypatch.chdir(tmp_path)
    assert closure("mine_alone") == {"mine_alone": tmp_path / "mine_alone.py"}
    assert closure("numpy")["numpy"].parent.parent != tmp_path


WAYS = (
    "import drawn.{0}",
    "from drawn import {0}",
    "from .{0} import __name__",
    "from . import {0}",
)


@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    edges=st.dictionaries(
        st.integers(0, 5), st.lists(st.tuples(st.integers(0, 5), st.sampled_from(WAYS)), max_size=3)
    )
)
def test_it_is_what_python_imports(write: Write, edges: dict[int, list[tuple[int, str]]]) -> None:
    lines = {n: "\n".join(way.format(f"m{to}") for to, way in edges.get(n, [])) for n in range(6)}
    write({"drawn/__init__.py": "", **{f"drawn/m{n}.py": text for n, text in lines.items()}})
    found = set(closure("drawn.m0"))
    importlib.import_module("drawn.m0")
    loaded = {name for name in sys.modules if name.partition(".")[0] == "drawn"}
    for name in loaded:
        del sys.modules[name]
    assert found == loaded
