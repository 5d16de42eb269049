"""One page or one figure of the site is made alone, from tables."""

import re
from pathlib import Path

import pytest

from calbench.errors import ConfigError
from calbench.report.site import Site
from tests.browser.draw import draw_figure, draw_page
from tests.report.samples import PUBLISHED, make_results, site_of

pytestmark = pytest.mark.heavy


@pytest.fixture
def shown(tmp_path: Path) -> Site:
    """Return a small site."""
    results = make_results(tmp_path / "uniform", "uniform", ["imap"], num_scenarios=1)
    return site_of([results], tmp_path / "src", PUBLISHED)


@pytest.mark.parametrize("path", ["results/talk.md", "results/uniform.md", "players/imap.md"])
def test_one_page_is_drawn_alone(shown: Site, tmp_path: Path, path: str) -> None:
    page = draw_page(shown, path, tmp_path / "drawn")
    built = tmp_path / "drawn" / "site"
    assert [page] == [each for each in built.rglob("*.html") if each.name != "404.html"]
    text = page.read_text()
    keys = set(re.findall(r'data-figure="([^"]*)"', text))
    assert "</article>" in text
    assert keys or path.startswith("players/")
    assert all((built / "pagedata" / f"{key}.js").is_file() for key in keys)


def test_one_figure_is_drawn_alone(shown: Site, tmp_path: Path) -> None:
    path = draw_figure(shown, "fairness-uniform", tmp_path / "drawn")
    assert path.name == "fairness-uniform.html"
    assert "imap" in path.read_text()


def test_what_cannot_be_drawn_is_one_line(shown: Site, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no page 'results/tolk.md'; known are results/talk.md"):
        draw_page(shown, "results/tolk.md", tmp_path / "drawn")
    with pytest.raises(ConfigError, match="no figure 'fairness-x'; known are fairness-uniform"):
        draw_figure(shown, "fairness-x", tmp_path / "drawn")
    assert not (tmp_path / "drawn").exists()
