"""Nothing from data is ever read as HTML, as Markdown or as a script."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.report.escape import data_script, html_text, markdown_text, script_json
from tests.report.samples import HALF_CHARACTERS, HOSTILE_TEXTS

ANY_TEXT = st.text(st.characters())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=10,
)


@given(JSON)
def test_script_json_means_the_same_and_is_plain_ascii(value: Any) -> None:
    text = script_json(value)

    assert json.loads(text) == value
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert all(" " <= character <= "~" for character in text)


@pytest.mark.parametrize("text", [*HOSTILE_TEXTS, HALF_CHARACTERS])
def test_data_script_cannot_be_left(text: str) -> None:
    script = data_script(text, {text: [text]}).decode("ascii")

    assert "</" not in script
    assert "<!--" not in script
    assert script.count("\n") == 1


def test_script_json_refuses_what_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))


@given(ANY_TEXT)
def test_html_text_never_holds_a_character_that_html_reads(text: str) -> None:
    shown = html_text(text)

    assert not set(shown) & set("<>\"'`{}\\")


def test_markdown_text_leaves_ids_readable() -> None:
    assert markdown_text("uniform-2.0: x") == "uniform-2.0: x"
    assert markdown_text("a_b*c[d](e)<f>") == "a&#95;b&#42;c&#91;d&#93;(e)&#60;f&#62;"
