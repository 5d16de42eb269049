"""Style sheets without what nothing can match, and a search that waits."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from calbench.report.trimming import (
    EAGER,
    INDEX,
    SECOND_INDEX,
    bare,
    can_match,
    lean,
    rules,
    selectors,
    tight,
    trim,
    trimmed,
    without_variables,
)
from tests.report.samples import SOURCES

KNOWN = frozenset({"a", "b-c"})
VALUES = frozenset({("dir", "ltr")})


@pytest.mark.parametrize(
    ("selector", "is_kept"),
    [
        (".a", True),
        (".a .gone", False),
        (".a:not(.gone) > .b-c::before", True),
        (":is(.gone, .a)", True),
        ("html", True),
        ("[dir=ltr] .a", True),
        ("[dir=rtl] .a", False),
        ('[data-x="y.gone"] .a', True),
        (".a:hover", True),
        ("50%", True),
    ],
)
def test_rules_stay_if_a_page_can_match_them(selector: str, is_kept: bool) -> None:
    assert can_match(selector, KNOWN, VALUES) is is_kept


def test_sheet_keeps_its_statements_frames_and_strings() -> None:
    sheet = (
        '@charset "utf-8";.a,.gone{color:red}.gone{color:blue}'
        '@media print{.gone{x:y}}@media (x){.a{b:url("data:;},{")}.gone{c:d}}'
        "@keyframes k{0%{top:0}to{top:1px}}"
    )

    assert trimmed(sheet, KNOWN, VALUES) == (
        '@charset "utf-8";.a{color:red}@media (x){.a{b:url("data:;},{")}}'
        "@keyframes k{0%{top:0}to{top:1px}}"
    )
    assert trimmed(sheet, {*KNOWN, "gone"}, VALUES) == sheet
    assert selectors(":is(a,b),c[x=','],d") == [":is(a,b)", "c[x=',']", "d"]
    assert list(rules("a{b:c}")) == [("a", "b:c")]


def test_icons_nobody_reads_are_left_out() -> None:
    sheet = ":root{--one:url('data:a;b');--two:url('data:c');--three:1px}"

    assert without_variables(sheet, frozenset({"--two"})) == (
        ":root{--two:url('data:c');--three:1px}"
    )


def test_articles_keep_their_blanks() -> None:
    page = "<body>\n\n  <nav>\n    x</nav>\n<article>\n\n  <pre>\n  y\n</pre></article>\n\n</body>"

    assert lean(page) == (
        "<body>\n<nav>\nx</nav>\n<article>\n\n  <pre>\n  y\n</pre></article>\n</body>"
    )


def test_frames_lose_markup_that_does_nothing() -> None:
    link = '<a href="x.html" class="md-nav__link">'
    words = '<span class="md-ellipsis">\nWords\n</span>'
    section = f'<label class="md-nav__link">\n{words}\n<span class="md-nav__icon"></span></label>'
    picture = '<svg xmlns="http://www.w3.org/2000/svg"><path/></svg>'
    article = f"<article>{picture}</article>"
    page = f"<li>\n{link}\n{words}\n</a>\n</li>{section}{picture}{article}"

    assert lean(page) == f"<li>\n{link}Words</a>\n</li>{section}<svg><path/></svg>{article}"


def test_sheets_of_ours_have_a_line_for_each_rule() -> None:
    sheet = """.a > b,
    .c:hover {
      d: calc(1px + 2px);
      content: "x; { y: z";
      e: url(data:x; y);
    }
    @media (min-width: 3em) { .f { g: h; } }
    """

    assert tight(sheet) == (
        '.a > b,.c:hover{d:calc(1px + 2px);content:"x; { y: z";e:url(data:x; y)}\n'
        "@media (min-width:3em){.f{g:h}\n}\n"
    )


def test_theme_waits_with_its_search_until_somebody_opens_it_and_has_one_index() -> None:
    theme = find_spec("material")
    assert theme is not None
    assert theme.origin is not None
    bundles = list(Path(theme.origin).parent.rglob("assets/javascripts/bundle.*.min.js"))

    assert [path.read_text().count(f"({EAGER})") for path in bundles] == [1]
    assert [path.read_text().count(INDEX) for path in bundles] == [1]


def test_site_is_trimmed_in_place(tmp_path: Path) -> None:
    styles = tmp_path / "assets" / "stylesheets"
    styles.mkdir(parents=True)
    (styles / "main.css").write_text(
        ".a{x:y}.made{x:y}.gone{x:y}.tabbed-set{x:y}:root{--i:url('z');--md-mermaid-x:y}"
    )
    (tmp_path / "assets" / "traces").mkdir()
    (tmp_path / "assets" / "traces" / "ours.js").write_text('element("p", { "class": "made" })')
    scripts = tmp_path / "assets" / "javascripts"
    scripts.mkdir()
    (scripts / "bundle.1.min.js").write_text(
        f'of({EAGER});find(".tabbed-set .tabbed-label");{INDEX}1:2\n//# sourceMappingURL=b.js.map\n'
    )
    unread = [scripts / "b.js.map", scripts / "lunr" / "min" / "th.js", tmp_path / SECOND_INDEX]
    for path in unread:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "index.html").write_text('<p class="a">\n\n</p>')

    trim(tmp_path)

    assert (styles / "main.css").read_text() == ".a{x:y}.made{x:y}:root{}"
    assert (scripts / "bundle.1.min.js").read_text() == (
        'of(!1);find(".tabbed-set .tabbed-label");return !0?1:2'
    )
    assert [path for path in unread if path.exists()] == []


def test_lines_begin_without_blanks_and_stay_lines() -> None:
    assert bare("a {\n  b: c;\n\t}\n\n  d  e\n") == "a {\nb: c;\n}\n\nd  e\n"


def test_comments_on_lines_of_their_own_are_left_out() -> None:
    assert bare("/* one\n * two */\n  f(); /* three */\n  /* four */\ng();\n") == (
        "f(); /* three */\ng();\n"
    )


def test_no_text_of_our_scripts_goes_on_over_lines() -> None:
    for path in (SOURCES / "assets").glob("[!v]*/*.js"):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        assert "`" not in code, path
        assert "\\\n" not in code, path
