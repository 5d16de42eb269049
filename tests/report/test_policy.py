"""Every page says what it may load, and needs no more than that."""

import base64
import hashlib
import re

import pytest

from calbench.report.policy import protected
from tests.report.sample_site import SampleSite

HEAD = '<!doctype html>\n<head>\n<meta charset="utf-8">\n'


def scripts_of(page: str) -> list[str]:
    """Return what scripts a page may run."""
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (scripts,) = re.findall(r"script-src ([^;]*);", policy)
    assert policy.startswith("default-src 'none'; ")
    assert not re.search(r"https?:|\*", policy)
    return str(scripts).split()


def test_policy_names_each_inline_script_and_no_other() -> None:
    one, two = "a('<b>');", "\nb()\n"
    page = protected(
        f'{HEAD}<script>{one}</script><script src="c.js"></script><script type="module">{two}'
        f'</script><script>{one}</script><script type="application/json">{{}}</script>'
    )
    expected = [
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'"
        for each in (one, two)
    ]
    assert scripts_of(page) == ["'self'", *sorted(expected)]
    assert page.startswith(f"{HEAD}<meta http-equiv=")
    assert scripts_of(protected(HEAD)) == ["'self'"]
    with pytest.raises(ValueError, match="charset"):
        protected("<p>")


@pytest.mark.heavy
def test_every_page_has_a_policy_and_nothing_that_it_forbids(sample_site: SampleSite) -> None:
    pages = sorted(sample_site.built.rglob("*.html"))
    assert len(pages) > 20
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "'unsafe-inline'" not in scripts_of(text)
        tags = re.findall(r"<[a-zA-Z][^>]*>", text)
        assert not [tag for tag in tags if re.search(r"\son[a-z]+\s*=|=\s*[\"']?javascript:", tag)]
