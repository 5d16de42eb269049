"""Writes the page *The interface* from the docstrings of the public names.

``python -m tests.packaging.interface`` writes it; a test compares it, so that it is complete.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, get_args

from pydantic import BaseModel

import calbench
import calbench.errors
import calbench.types
from calbench.files import shorten

REPO = Path(__file__).parents[2]
PAGE = REPO / "site" / "docs" / "interface.md"

HEAD = """\
---
hide:
  - navigation
---

# The interface

Every public name, from its docstring; `python -m tests.packaging.interface` writes this page.
A field's unit is in its meaning; slots, rounds, sweeps and agents count from 0, costs that an agent
sees are *shown*, those of scores *accounting* costs. Behind a sentence is its source: a section of
the paper, or [C], our choice. Values in tables are of a game of `varied`; what it has not has none.
Lines with `>>>` run as they are, after those of [the game of the examples](#types).
[Python](python.md) shows how they work together.

An **observation** is all that a player may know; what it answers is a **turn**. An **update** says
what a message told of a calendar: its **evidence** is a number from 0 to 1 for each slot, and
`strength` weighs all of it.
"""

PLAYER = re.sub(r"\b(?:[a-z_]+\.)+", "", str(calbench.types.Player))
"""What Python shows for the name of this union."""

SHOWN = 70
"""Characters of an example."""


def page() -> str:
    """Return the page."""
    found = dict(_values(*_game()))
    parts = [HEAD, "## Functions: `calbench` {#functions}\n"]
    for name in calbench.__all__:
        value = getattr(calbench, name)
        if callable(value):
            parts.append(_entry(f"{name}{_signature(value)}", name, value, ()))
    parts.append("## Types: `calbench.types` {#types}\n")
    game = calbench.types.__doc__ or ""
    parts.append(_fold("The game of the examples", _code(game[game.index(">>>") :])))
    for name in calbench.types.__all__:
        value = getattr(calbench.types, name)
        rows = _rows(name, value, found.get(name))
        parts.append(_entry(name + constructor(name, value), name, value, rows))
    parts.append("## Errors: `calbench.errors` {#errors}\n")
    for name, value in _errors():
        parts.append(_entry(name + constructor(name, value), name, value, ()))
    return "\n".join(parts)


RETURNED = {"AgentGame", "Comparison", "GameScore", "Results", "Trace", "Verified"}
"""What only the package makes."""


def constructor(name: str, kind: object) -> str:
    """Return how an object of a type is made, without types, which its fields have, or nothing."""
    if not inspect.isclass(kind) or getattr(kind, "_is_protocol", False):
        return ""
    if name in RETURNED or issubclass(kind, Enum):
        return ""
    if issubclass(kind, Exception) and "__init__" not in vars(kind):
        return ""
    found = inspect.signature(kind)
    bare = [
        each.replace(annotation=each.empty)
        for each in found.parameters.values()
        if not each.name.startswith("_")
    ]
    shown = str(found.replace(parameters=bare, return_annotation=found.empty))
    return re.sub(r"mappingproxy\((\{\})\)", r"\1", shown).replace("=<factory>", "=...")


def _signature(function: Callable[..., object]) -> str:
    """Return a signature without places of this machine."""
    found = str(inspect.signature(function)).replace(f"{REPO}/", "")
    found = re.sub(r"-> '([\w.]+)'$", r"-> \1", found)
    return re.sub(r"\w*Path\(([^)]*)\)", r"\1", found)  # PosixPath('data') -> 'data'


def _errors() -> Iterator[tuple[str, type]]:
    for name, value in sorted(vars(calbench.errors).items()):
        if inspect.isclass(value) and value.__module__ == calbench.errors.__name__:
            yield name, value


def about(name: str, value: object) -> str:
    """Return a docstring; of what is no class or function, the text below its assignment."""
    if inspect.isclass(value) or inspect.isfunction(value):
        return inspect.getdoc(value) or ""
    imports = ast.parse(inspect.getsource(calbench.types)).body
    (module,) = [
        str(each.module)
        for each in imports
        if isinstance(each, ast.ImportFrom) and name in {alias.name for alias in each.names}
    ]
    (said,) = [
        below.value.value
        for each, below in pairwise(ast.parse(inspect.getsource(sys.modules[module])).body)
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    ]
    return inspect.cleandoc(str(said))


def fields_of(kind: object) -> list[str]:
    """Return the names of the fields of a type; of several, those of the first."""
    if isinstance(kind, UnionType) and all(map(is_dataclass, get_args(kind))):
        return fields_of(get_args(kind)[0])
    if isinstance(kind, type) and is_dataclass(kind):
        return [each.name for each in fields(kind) if not each.name.startswith("_")]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return list(kind.model_fields)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return []
    return list(getattr(kind, "_fields", ()))


def meanings(text: str) -> Mapping[str, str]:
    """Return what a docstring says of each field."""
    listed = re.search(r"^Attributes:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    found: dict[str, str] = {}
    name = ""
    for line in listed[1].splitlines() if listed else ():
        if entry := re.fullmatch(r"    (\w+): (.*)", line):
            name = entry[1]
            found[name] = entry[2]
        elif name and line.strip():
            found[name] += f" {line.strip()}"
    return found


def _rows(name: str, kind: object, example: object) -> list[tuple[str, str, str, str]]:
    said = meanings(about(name, kind))
    first = get_args(kind)[0] if isinstance(kind, UnionType) else kind
    hints = {
        field: hint
        for each in reversed(getattr(first, "__mro__", ()))
        for field, hint in getattr(each, "__annotations__", {}).items()
    }
    return [
        (name, _type(hints.get(name, "")), said.get(name, ""), _shown(example, name))
        for name in fields_of(kind)
    ]


def _type(hint: object) -> str:
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    text = re.sub(r"Annotated\[(.*?), (?:Field|FieldInfo)\(.*\]", r"\1", text)
    return shorten(re.sub(r"\b(?:[a-z_]+\.)+", "", text), SHOWN)


def _shown(example: object, name: str) -> str:
    if example is None or not hasattr(example, name):
        return ""
    value = getattr(example, name)
    text = f"frozenset({sorted(value)})" if isinstance(value, frozenset) else repr(value)
    return shorten(" ".join(text.split()), SHOWN)


def _entry(title: str, name: str, value: object, rows: Sequence[Sequence[str]]) -> str:
    """Return what is folded under a name: its docstring, and a table of its fields."""
    sentence, _, rest = about(name, value).partition("\n\nAttributes:")[0].partition("\n\n")
    lines = []
    signature = _bare(title).replace(PLAYER, "Player") if title != name else ""
    if told := "\n\n".join(each for each in (signature, rest) if each):
        lines += _code(re.sub(r":\w+:`~?(?:\w+\.)*([^`]*)`", r"``\1``", told))
    if rows:
        lines += ["| field | type | meaning, with its unit | example |", "|---|---|---|---|"]
        for field, kind, meaning, example in rows:
            cells = _cell(field), _cell(kind), _plain(meaning), _cell(example)
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    if methods := [*methods_of(value)]:
        lines += ["| method | what it is or does |", "|---|---|"]
        lines += [f"| {_cell(title)} | {_plain(said)} |" for title, said in methods]
        lines.append("")
    return _fold(f"<code>{name}</code> {_plain(' '.join(sentence.split()))}", lines)


def _fold(title: str, lines: Sequence[str]) -> str:
    head = '<details class="cb-more" markdown="1">', f"<summary>{title}</summary>", ""
    return "\n".join([*head, *lines, "</details>", ""])


def methods_of(kind: object) -> Iterator[tuple[str, str]]:
    """Yield the methods and properties of a type of ours, with a sentence on each."""
    bases = kind.__mro__ if inspect.isclass(kind) else ()
    ours = [each for each in reversed(bases) if each.__module__.startswith("calbench")]
    for name, value in {name: each for base in ours for name, each in vars(base).items()}.items():
        if name.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
            continue
        called = "" if isinstance(value, property) else _signature(value)
        said = (inspect.getdoc(value) or "").partition("\n\n")[0]
        title = _bare(re.sub(r"\(self(?:, )?", "(", called)).replace("'", "")
        yield name + shorten(title, 2 * SHOWN), " ".join(said.split())


def _bare(signature: str) -> str:
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", signature)


def _code(text: str) -> list[str]:
    lines = ["```python", *text.splitlines(), "```"]
    is_template = "{{" in text  # to the site, whose pages are templates
    return [*(["{% raw %}", *lines, "{% endraw %}"] if is_template else lines), ""]


def _plain(text: str) -> str:
    """Return a docstring's text as Markdown."""
    text = re.sub(r":\w+:`~?([^`<]*?)(?: ?<[^>]*>)?`", r"``\1``", text)
    text = text.replace("|", "\\|").replace("<", "&lt;").replace("{{", "{ {")
    return re.sub(r"``([^`]*)``", r"<code>\1</code>", text)


def _cell(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return f"<code>{text}</code>" if text else ""


def _game() -> tuple[object, ...]:
    """Return a game of a suite, and what else the types describe."""
    scenario = calbench.load_suite("varied")[0]
    agents = [Watching() for _ in range(scenario.num_agents)]
    trace = calbench.play_game(scenario, agents)
    usage = calbench.types.Usage(input_tokens=812, cached_tokens=640, output_tokens=35)
    told = calbench.types.Completion(text='{"thinking": "", "actions": []}', usage=usage)
    seen = [each for agent in agents for each in agent.seen]
    beliefs = calbench.types.Beliefs({"1": (0, 2, -1)}, None, {"1": (10, 90, 20)})
    message = next(each for one in seen for each in one.messages)
    update = calbench.types.Update(0, (1,), ((3, 1.0),), 1.0)  # type: ignore[arg-type]
    more = (
        calbench.types.Reply(agents[0].last, usage=usage),
        *(told, usage, beliefs, message, update),
        calbench.types.Own(name="bid", values=(3,)),
        calbench.types.TokenLogprob("Yes", -0.1, (("Yes", -0.1), ("No", -2.4))),
        calbench.types.Unreadable("not_json", "it begins with 'Sure'"),
        calbench.types.Told(0, MappingProxyType({3: (1.0, 0.0)})),  # type: ignore[arg-type, dict-item]
        calbench.types.Best((0,), 2, (0, 2), (0, 1, None)),  # type: ignore[arg-type]
        calbench.types.Total((0, 2), ((0, 3), (1, 10))),  # type: ignore[arg-type]
        calbench.types.HiddenMeeting(4, cost=1),  # type: ignore[arg-type]
        calbench.types.CostReport((0, 3), (1, None)),  # type: ignore[arg-type]
        calbench.verify(trace),
    )
    return (trace, calbench.score_game(trace), *agents[0].briefings, *seen, *more)


class Watching(calbench.types.Announcer):
    """Plays as the example does, and keeps what it is told and does."""

    def __init__(self) -> None:
        self.seen: list[calbench.types.Observation] = []
        self.briefings: list[calbench.types.Briefing] = []
        self.last = calbench.types.PASS

    def introduce(self, briefing: calbench.types.Briefing) -> None:
        """Keep it."""
        self.briefings.append(briefing)

    def act(self, observation: calbench.types.Observation) -> calbench.types.Turn:
        """Keep both."""
        self.seen.append(observation)
        turn = super().act(observation)
        self.last = turn if turn.actions else self.last
        return turn


def _values(*held: Any) -> Iterator[tuple[str, object]]:
    """Yield the values in some objects by the names of their types, the first ones last."""
    seen: dict[str, object] = {}
    left = list(held)
    for _ in range(200_000):
        if not left:
            break
        value = left.pop(0)
        if type(value).__name__ in calbench.types.__all__:
            seen.setdefault(type(value).__name__, value)
        if isinstance(value, Mapping):
            left += value.values()
        elif isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            left += value[:8] if len(value) > 200 else value
        else:
            left += [getattr(value, name, None) for name in fields_of(type(value))]
    yield from seen.items()


if __name__ == "__main__":
    Path(PAGE).write_text(page(), encoding="utf-8")
