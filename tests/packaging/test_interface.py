"""The page of the public names is that of their docstrings, and says everything."""

import inspect
import pydoc
import re

import calbench
import calbench.errors
import calbench.types
from tests.packaging.interface import (
    PAGE,
    _errors,
    _game,
    _values,
    fields_of,
    meanings,
    methods_of,
    page,
)
from tests.packaging.interface import about as text_of


def test_page_is_made_of_the_docstrings_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.packaging.interface"


def test_every_public_name_is_on_it_with_every_field() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [name for name in calbench.__all__ if name != "__version__"]
    for name in (*names, *calbench.types.__all__, *(name for name, _ in _errors())):
        assert f"<summary><code>{name}</code> " in text, name


def test_every_field_of_a_public_type_says_what_it_is() -> None:
    for name in calbench.types.__all__:
        kind = getattr(calbench.types, name)
        about = meanings(text_of(name, kind))
        lacking = [field for field in fields_of(kind) if not about.get(field)]
        assert not lacking, (name, lacking)
        unknown = [field for field in about if not hasattr(kind, field) and inspect.isclass(kind)]
        assert not [each for each in unknown if each not in fields_of(kind)], (name, unknown)


def test_every_method_of_a_public_type_says_what_it_does() -> None:
    methods = [
        each
        for name in calbench.types.__all__
        for each in methods_of(getattr(calbench.types, name))
    ]
    assert {"has_said", "equal", "table"} <= {title.partition("(")[0] for title, _ in methods}
    assert [title for title, said in methods if not said.endswith(".")] == []


def test_all_of_a_game_shows_itself_in_few_characters() -> None:
    talk = calbench.types.RoundTalk((), 16, [None] * 500)  # type: ignore[list-item]
    found = {**dict(_values(*_game())), "RoundTalk": talk}
    assert len(found) > 30
    assert {name: len(repr(each)) for name, each in found.items() if len(repr(each)) >= 2000} == {}


def test_help_reaches_every_public_name() -> None:
    for module in (calbench, calbench.types, calbench.errors):
        text = pydoc.plain(pydoc.render_doc(module))
        names = getattr(module, "__all__", [name for name, _ in _errors()])
        assert {name for name in names if name not in text} <= {"__version__"}


def test_fields_have_examples_of_a_game() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| <code>\w+</code> \|.*\| (.*) \|$", text, re.MULTILINE)
    shown = sum(bool(row.strip()) for row in rows)
    assert shown >= 0.8 * len(rows), (shown, len(rows))
