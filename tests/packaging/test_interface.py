"""The page of the public names is that of their docstrings, and says everything."""

import doctest
import inspect
import pydoc
import re
from pathlib import Path

import jinja2
import pytest

import calbench
import calbench.errors
import calbench.types
from tests.packaging.interface import (
    PAGE,
    _errors,
    _game,
    _values,
    constructor,
    fields_of,
    meanings,
    methods_of,
    page,
)
from tests.packaging.interface import about as text_of


def test_page_is_made_of_the_docstrings_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.packaging.interface"


def test_page_is_a_template_that_says_code_as_it_is_and_has_every_public_name() -> None:
    text = PAGE.read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, comment_start_string="{#-")
    shown = environment.from_string(text).render()
    assert """return f'{{"thinking": "I am {site.agent_id}", "actions": []}}'""" in shown
    for name in NAMES:
        assert f"<summary><code>{name}</code> " in text, name
    rows = re.findall(r"^\| <code>\w+</code> \|.*\| (.*) \|$", text, re.MULTILINE)
    examples = sum(bool(row.strip()) for row in rows)
    assert examples >= 0.8 * len(rows), "fields have examples of a game"


def test_every_field_of_a_public_type_says_what_it_is() -> None:
    for name in calbench.types.__all__:
        kind = getattr(calbench.types, name)
        about = meanings(text_of(name, kind))
        lacking = [field for field in fields_of(kind) if not about.get(field)]
        assert not lacking, (name, lacking)
        unknown = [field for field in about if not hasattr(kind, field) and inspect.isclass(kind)]
        assert not [each for each in unknown if each not in fields_of(kind)], (name, unknown)


def test_page_shows_how_every_type_is_made() -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = {
        name: constructor(name, each)
        for name, each in {**vars(calbench.types), **dict(_errors())}.items()
        if name[0].isupper() and inspect.isclass(each)
    }
    shown = {name: each for name, each in made.items() if each}
    assert len(shown) > 40
    assert shown["Schedule"] == "(meeting_id, slot, *, type='schedule')"
    assert shown["Told"] == "(agent, slots, held={})"
    assert [name for name, each in shown.items() if f"\n{name}{each}\n" not in text] == []
    assert {name for name, each in made.items() if not each} >= {"Phase", "Policy", "Results"}


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


FUNCTIONS = {name: getattr(calbench, name) for name in calbench.__all__ if name[0] != "_"}
TYPES = {name: getattr(calbench.types, name) for name in calbench.types.__all__}
ERRORS = dict(_errors())
NAMES = {**FUNCTIONS, **TYPES, **ERRORS}

SOURCE = re.compile(r"\[[PRFC]\]|\((?:paper, )?(?:sections?|appendix|Figure) ")
"""A section of the paper, or a mark of who says so."""


def test_every_public_name_says_its_source() -> None:
    own = {name: text_of(name, each) for name, each in (FUNCTIONS | TYPES).items()}
    assert [name for name, text in own.items() if not SOURCE.search(text)] == []
    assert SOURCE.search(calbench.errors.__doc__ or "")


def test_every_public_function_says_what_it_takes_and_raises() -> None:
    for name, function in FUNCTIONS.items():
        text = text_of(name, function)
        given = list(inspect.signature(function).parameters)
        listed = text.partition("Args:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^    (\w+): ", listed, re.MULTILINE) == given, name
        raised = text.partition("Raises:\n")[2].partition("\n\n")[0]
        kinds = re.findall(r"^    (\w+): ", raised, re.MULTILINE)
        assert bool(kinds) == bool(given), name
        assert set(kinds) <= ERRORS.keys(), name


@pytest.fixture(scope="module")
def played() -> dict[str, object]:
    """The names that the examples of all types start with."""
    names: dict[str, object] = {}
    assert ran(calbench.types.__doc__ or "", "calbench.types", names) == ""
    return {**names, **ERRORS}


def ran(text: str, name: str, names: dict[str, object]) -> str:
    """Run the examples in a text; return what is wrong with them, and keep their names."""
    test = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    test.globs = names
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
        test, out=said.append, clear_globs=False
    )
    return "".join(said)


LONG = {"evaluate", "rescore"}
"""What plays or measures a suite; the game of the examples has been through both."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.heavy if name in LONG else ()) for name in NAMES]
)
def test_every_public_name_has_an_example_that_runs(
    name: str, played: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = text_of(name, NAMES[name])
    if name in ERRORS and "only commands raise it" in text:
        return
    if name == "CalbenchError":  # all of them, so the module shows it
        text = calbench.errors.__doc__ or ""
    examples = doctest.DocTestParser().get_examples(text)
    assert name in "".join(each.source + each.want for each in examples)
    assert len(examples) <= 4
    assert ran(text, name, dict(played)) == ""


def test_example_that_says_something_else_is_found(played: dict[str, object]) -> None:
    assert "Expected:\n    4\nGot:\n    5\n" in ran(">>> len(scenario.meetings)\n4", "", played)
