"""Every pattern of a module stands below texts that it finds and texts that it does not.

``# e.g. "Agent 3, could you"; not "agents 3, 4"`` directly above the assignment: strings as
Python writes them, one or more before ``; not`` (or ``; but not``, to begin a line) and one or more
behind it. With ``e.g. whole`` the pattern is for whole texts. A table of patterns finds what any of
them does.
"""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

REPO = Path(__file__).parents[2]

TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
EXAMPLES = re.compile(
    rf"e\.g\. (whole )?({TEXT}(?:,? {TEXT})*); (?:but )?not ({TEXT}(?:,? {TEXT})*)"
)


class Told(NamedTuple):
    """Patterns under one name, and the comment directly above it."""

    place: str
    patterns: tuple[re.Pattern[str] | re.Pattern[bytes], ...]
    comment: str


def patterns_in(value: object) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from patterns_in(each)


def comment_above(lines: list[str], number: int) -> str:
    """Return the comment that ends directly above a line, counted from 1."""
    start = number - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return " ".join(line.removeprefix("#").strip() for line in lines[start : number - 1])


def told_in(name: str, source: str, module: ModuleType) -> Iterator[Told]:
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in [each for one in targets for each in ast.walk(one)]:
                found = (
                    tuple(patterns_in(getattr(module, target.id, None)))
                    if isinstance(target, ast.Name)
                    else ()
                )
                if found:
                    comment = comment_above(lines, statement.lineno)
                    yield Told(f"{name}:{statement.lineno}", found, comment)


def problems(told: Told) -> Iterator[str]:
    match = EXAMPLES.search(told.comment)
    if match is None:
        yield f"{told.place}: has no examples above it"
        return
    whole, examples, others = match.groups()
    for texts, should in ((examples, True), (others, False)):
        for text in ast.literal_eval(f"[{texts}]"):
            if any(finds(each, text, is_whole=bool(whole)) for each in told.patterns) != should:
                yield f"{told.place}: {'does not find' if should else 'finds'} {text!r}"


def finds(pattern: re.Pattern[str] | re.Pattern[bytes], text: str, *, is_whole: bool) -> bool:
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    return (pattern.fullmatch if is_whole else pattern.search)(subject) is not None  # type: ignore[arg-type]


def test_every_pattern_finds_its_examples_and_none_of_its_counter_examples() -> None:
    wrong = []
    for path in sorted([*REPO.glob("calbench/**/*.py"), *REPO.glob("stages/**/*.py")]):
        source = path.read_text()
        if "import re\n" in source:
            name = path.relative_to(REPO).as_posix()
            module = importlib.import_module(".".join(Path(name).with_suffix("").parts))
            wrong += [each for told in told_in(name, source, module) for each in problems(told)]
    assert wrong == []


def test_what_is_missing_or_wrong_is_named() -> None:
    source = (
        'A = re.compile("a")\n'
        '# e.g. "a"; not "b"\n\nB = [re.compile("a")]\n'
        '# e.g. "b", "a\\n";\n# not "c", "xa"\nC: P = {"c": (1, re.compile(b"a"))}\n'
        '# Why.\n# e.g. whole "a"; not "xa"\nD = re.compile("a")\n'
    )
    module = ModuleType("made")
    module.__dict__.update(A=re.compile("a"), B=[re.compile("a")], D=re.compile("a"))
    module.__dict__["C"] = {"c": (1, re.compile(b"a"))}
    assert [each for told in told_in("m", source, module) for each in problems(told)] == [
        "m:1: has no examples above it",
        "m:4: has no examples above it",
        "m:7: does not find 'b'",
        "m:7: finds 'xa'",
    ]
