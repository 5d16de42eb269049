"""Leaves out of the theme's files what no page of this site can use.

The theme brings styles for every extension it knows, and starts its search before anybody asks
for it. A style sheet keeps each rule whose classes appear on a page or in a script, so a page
that begins to use one gets it back with the next build.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

STYLES = "assets/stylesheets/*.css"
BUNDLE = "assets/javascripts/bundle.*.min.js"

OURS = ("board", "every", "figures", "home", "results", "traces")
"""Folders of our own scripts and style sheets below ``assets``."""

EAGER = 'location.protocol!=="file:"'
"""Where the theme's script starts its search at once; on ``file://`` it waits until somebody
opens it, and so it does everywhere once this is ``!1`` [C]."""

SOUGHT = re.compile(
    r"tabbed-|md-annotation|md-consent|md-feedback|md-version|md-source__|md-tag|mermaid"
)
"""Classes that the theme's script looks for and does not make: they count only if a page has
them [C]."""

VALUED = ("dir", "data-md-color-primary", "data-md-color-accent")
"""Attributes whose values are those in the pages: direction and palette."""

NAMED = re.compile(
    rf"""\s(class|{"|".join(VALUED)})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)
"""A name that a page has, ``class="a b"``. Text that looks like one counts, too: better a rule too
many than one that is missed."""

SPACE_OF_NAMES = ' xmlns="http://www.w3.org/2000/svg"'
"""What a picture needs in a file of its own, and not inside a page."""

LEAF = re.compile(
    r"""(?<= class="md-nav__link">)\n[<]span class="md-ellipsis">\n([^<]*)\n[<]/span>\n(?=[<]/a>)"""
)
"""Words that are all of a link of the navigation, with the frame that cuts long ones."""

IDLE = re.compile(r"""("[^"\n]*"|url\([^)\n]*\))|\s*;?\s*}\s*|\s*([{;,])\s*|(?<=\w): +""")
"""Texts of a style sheet, which are kept, and blanks that end a name or a value."""


DIAGRAMS = re.compile(r"--md-mermaid-[\w-]+:[^;}]*;?")
"""Variables that the theme's script reads where a page has a diagram of Mermaid."""


INDEX, SECOND_INDEX = 'return location.protocol==="file:"?', "search/search_index.json"
"""Where the theme's script chooses between two copies of the search's index, and the one that no
page then reads: on ``file://`` it loads the other as a script, and so it does everywhere [C]."""

UNREAD = ("assets/**/*.map", "assets/javascripts/lunr/**/*.js")
"""The theme's files for debuggers, and for searches in other languages."""

MAP = re.compile(r"\s*//# sourceMappingURL=\S+\s*$")
"""Where a script names its file for debuggers: ``//# sourceMappingURL=x.js.map``, at its end."""


def trim(site: Path) -> None:
    """Shorten the style sheets, scripts and page frames of a built site, in place."""
    for path in [path for pattern in UNREAD for path in site.glob(pattern)]:
        path.unlink()
    classes: set[str] = set()
    values: set[tuple[str, str]] = set()
    for path in sorted(site.rglob("*.html")):
        for name, *texts in set(NAMED.findall(_rewrite(path, lean))):
            value = "".join(texts)
            if name == "class":
                classes.update(value.split())
            else:
                values.add((name, value))
    for path in sorted(site.glob(BUNDLE)):
        text = _rewrite(path, patient)
        if INDEX in text:
            (site / SECOND_INDEX).unlink(missing_ok=True)
        classes.update(name for name in re.findall(r"[\w-]+", text) if not SOUGHT.match(name))
    for path in _ours(site, "js"):
        classes.update(re.findall(r"[\w-]+", _rewrite(path, bare)))
    others = [_rewrite(path, lambda sheet: tight(bare(sheet))) for path in _ours(site, "css")]
    sheets = sorted(site.glob(STYLES))
    kept = [trimmed(path.read_text(encoding="utf-8"), classes, values) for path in sheets]
    used = frozenset(
        name for text in (*kept, *others) for name in re.findall(r"var\((--[\w-]+)", text)
    )
    for path, text in zip(sheets, kept, strict=True):
        short = without_variables(text, used)
        path.write_text(short if "mermaid" in classes else DIAGRAMS.sub("", short), "utf-8")


def patient(script: str) -> str:
    """Return the theme's script with a search that waits, and without a file for debuggers."""
    waiting = script.replace(f"({EAGER})", "(!1)").replace(INDEX, "return !0?")
    return MAP.sub("", waiting)


def _rewrite(path: Path, change: Callable[[str], str]) -> str:
    """Change a file; return what was in it."""
    text = path.read_text(encoding="utf-8")
    path.write_text(change(text), encoding="utf-8")
    return text


def _ours(site: Path, suffix: str) -> list[Path]:
    return [
        path for folder in OURS for path in sorted((site / "assets" / folder).glob(f"*.{suffix}"))
    ]


def lean(page: str) -> str:
    """Return a page whose frame has no blank line and indent, and no markup that does nothing.

    What does nothing is the name space of pictures inside HTML, and the frame of links of the
    navigation that have nothing beside their words. The article stays as it is.
    """
    parts = re.split(r"(<article.*</article>)", page, flags=re.DOTALL)
    return "".join(part if part.startswith("<article") else _lean(part) for part in parts)


def _lean(frame: str) -> str:
    flush = re.sub(r"\n\s+", "\n", frame).replace(SPACE_OF_NAMES, "")
    return LEAF.sub(r"\1", flush)


def bare(text: str) -> str:
    """Return a script or sheet of ours without indents and comments that have lines of their own.

    None of them holds a text of several lines; a test checks it.
    """
    flush = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
    return re.sub(r"^/\*.*?\*/\n", "", flush, flags=re.MULTILINE | re.DOTALL)


def tight(sheet: str) -> str:
    """Return a style sheet of ours with one line for each rule."""
    return IDLE.sub(_tight, sheet)


def _tight(found: re.Match[str]) -> str:
    text, sign = found.groups()
    return text or sign or ("}\n" if "}" in found[0] else ":")


def trimmed(sheet: str, classes: Iterable[str], values: Iterable[tuple[str, str]]) -> str:
    """Return a style sheet without rules that nothing can match.

    Args:
        sheet: minified CSS.
        classes: names that may stand in a ``class``.
        values: attributes of :data:`VALUED` with values that pages have.
    """
    known = frozenset(classes), frozenset(values)
    parts = []
    for head, body in rules(sheet):
        if body is None:
            parts.append(head)
        elif head.startswith(("@media", "@supports")):
            inner = trimmed(body, *known)
            if inner:
                parts.append(f"{head}{{{inner}}}")
        elif head.startswith("@"):
            parts.append(f"{head}{{{body}}}")
        else:
            kept = [each for each in selectors(head) if can_match(each, *known)]
            if kept:
                parts.append(f"{','.join(kept)}{{{body}}}")
    return "".join(parts)


def rules(sheet: str) -> Iterator[tuple[str, str | None]]:
    """Yield head and body of each rule at the outermost level; a statement has no body."""
    depth, start, opened = 0, 0, 0
    for match in re.finditer(
        r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|[{};]', sheet, re.DOTALL
    ):
        mark = match[0]
        if mark == "{":
            depth += 1
            if depth == 1:
                opened = match.start()
        elif mark == "}":
            depth -= 1
            if depth == 0:
                head = re.sub(r"/\*.*?\*/", "", sheet[start:opened], flags=re.DOTALL).strip()
                yield head, sheet[opened + 1 : match.start()]
                start = match.end()
        elif mark == ";" and depth == 0:
            yield sheet[start : match.end()], None
            start = match.end()


def selectors(head: str) -> list[str]:
    """Split a list of selectors at its outermost commas."""
    parts, depth, start = [], 0, 0
    for place, mark in enumerate(head):
        if mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(head[start:place])
            start = place + 1
    return [*parts, head[start:]]


def can_match(selector: str, classes: frozenset[str], values: frozenset[tuple[str, str]]) -> bool:
    """Return whether some page can hold what a selector asks for, as far as names say.

    Text in parentheses is not read: ``:not(.a)`` matches where ``a`` is unknown.
    """
    plain = re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", selector)
    for name, value in re.findall(r"\[([\w-]+)=\"?([\w-]+)\"?\]", plain):
        if name in VALUED and (name, value) not in values:
            return False
    without = re.sub(r"\[[^\]]*\]", "", plain)
    return all(name in classes for name in re.findall(r"\.(-?[A-Za-z_][\w-]*)", without))


def without_variables(sheet: str, used: frozenset[str]) -> str:
    """Return a style sheet without definitions of variables that no sheet reads.

    Only those that hold an icon go: they are long, and no script reads them.
    """
    pattern = r"(--[\w-]+):(url\((?:\"[^\"]*\"|'[^']*'|[^)\"']*)\))(;|(?=\}))"
    return re.sub(pattern, lambda found: found[0] if found[1] in used else "", sheet)
